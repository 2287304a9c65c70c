"""The cells of a large data block, found all at once.

Each cell says where the next one begins, so a loop has to visit them in turn. But every key ends with the same ten bytes, which numpy
finds quickly, and the length of its row, of which a block has few, leads back to where its cell begins. What was found so counts only if
the cells then follow on each other from the first byte of the block to the last, just as the loop would have seen them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from pyhudi.cache import cached_property
from pyhudi.codec.hfile.cells import KEY_TAIL, LENGTHS, ROW, Cells

Numbers: TypeAlias = npt.NDArray[np.int64]
#: Rows laid side by side, all in the room of the longest, with zeros behind the shorter ones.
_Table: TypeAlias = npt.NDArray[np.bytes_]

#: For fewer bytes the loop is faster.
_SMALL: Final = 1 << 15
#: Rows of more lengths than that are for the loop.
_MOST_LENGTHS: Final = 32
#: The table of rows takes at most so many bytes for each byte of the block.
_MOST_ROOM: Final = 2
_KEY_WITHOUT_ROW: Final = 2 + len(KEY_TAIL)
_WORD: Final = 8


def cell_arrays(payload: bytes, suffix: int, what: str) -> CellArrays | None:
    """Return the cells of a block with `suffix` bytes behind each value; None when they must be visited one by one."""
    if len(payload) < _SMALL:
        return None
    tails = _tails(payload)
    sizes = _row_sizes(payload, tails, suffix)
    if sizes is None:
        return None
    starts, value_starts = tails - sizes - ROW, tails + len(KEY_TAIL)
    value_ends = value_starts + _numbers_at(payload, ">u4", starts + 4)
    if not np.array_equal(np.append(starts, len(payload)), np.append(0, value_ends + suffix)):
        return None
    return CellArrays(payload, starts, sizes, value_starts, value_ends, what)


class CellArrays(Cells):
    """Cells by arrays of their places. Many rows are looked up in one step."""

    def __init__(self, payload: bytes, starts: Numbers, row_sizes: Numbers, value_starts: Numbers, value_ends: Numbers, what: str) -> None:
        super().__init__(payload, what)
        self._cell_starts = starts
        self._row_sizes = row_sizes
        self._value_starts = value_starts
        self._value_ends = value_ends
        self._rows: list[bytes] | None = None

    def __len__(self) -> int:
        return len(self._cell_starts)

    @property
    def rows(self) -> Sequence[bytes]:
        """The row of each cell, in the order of the block."""
        if self._rows is None:
            starts = self._cell_starts + ROW
            ends = starts + self._row_sizes
            self._rows = [self._payload[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        return self._rows

    @property
    def starts(self) -> Sequence[int]:
        """The offset of each cell in the payload."""
        starts: list[int] = self._cell_starts.tolist()
        return starts

    def values(self, indices: range) -> tuple[list[int], list[int]]:
        """Return the offsets at which the values of a range of cells begin and end."""
        part = slice(indices.start, indices.stop)
        return self._value_starts[part].tolist(), self._value_ends[part].tolist()

    def find(self, rows: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield each row that is in the block with its first value; `rows` are in ascending order."""
        table = self._table
        if table is None:
            yield from super().find(rows)
            return
        self.check_order()
        comparable_rows = self._comparable(rows, table.itemsize)
        requested_array = np.array(comparable_rows, table.dtype)
        indices = np.minimum(np.searchsorted(table, requested_array), len(table) - 1)
        hits = np.flatnonzero(table[indices] == requested_array)
        starts, ends = self._value_starts[indices[hits]].tolist(), self._value_ends[indices[hits]].tolist()
        last = None
        for number, start, end in zip(hits.tolist(), starts, ends, strict=True):
            row = comparable_rows[number]
            if row != last:
                yield row, self._payload[start:end]
                last = row

    def _ascends(self) -> bool:
        table = self._table
        return super()._ascends() if table is None else bool((table[:-1] <= table[1:]).all())

    @cached_property
    def _is_even(self) -> bool:
        """True when all rows have one length."""
        return bool((self._row_sizes == self._row_sizes[0]).all())

    @cached_property
    def _table(self) -> _Table | None:
        """The rows to be compared; None when that took too much room, or when zeros at their ends would be lost."""
        width = int(self._row_sizes.max())
        if not width or width * len(self._row_sizes) > _MOST_ROOM * len(self._payload):
            return None
        starts = self._cell_starts + ROW
        buffer = self._payload if self._is_even else self._payload + bytes(width)
        table: _Table = np.ndarray((len(buffer) - width + 1,), f"S{width}", buffer, 0, (1,))[starts]
        if not self._is_even:
            last = np.frombuffer(self._payload, np.uint8)[starts + np.maximum(self._row_sizes, 1) - 1]
            if not last.all():
                return None
            letters = table.view(np.uint8).reshape(-1, width)
            letters[np.arange(width) >= self._row_sizes[:, None]] = 0
        return table

    def _comparable(self, rows: Sequence[bytes], width: int) -> list[bytes]:
        """Return those of the rows that the table can hold; to numpy a text and the same with zeros behind it are equal."""
        if self._is_even:
            return [row for row in rows if len(row) == width]
        return [row for row in rows if len(row) <= width and not row.endswith(b"\0")]


def _tails(payload: bytes) -> Numbers:
    """Return where the ends of keys are, and perhaps what looks like one."""
    offsets = np.flatnonzero(np.frombuffer(payload, np.uint8) == KEY_TAIL[1]) - 1
    offsets = offsets[(offsets >= ROW) & (offsets <= len(payload) - len(KEY_TAIL))]
    offsets = offsets[_numbers_at(payload, ">u8", offsets) == int.from_bytes(KEY_TAIL[:_WORD], "big")]
    tails: Numbers = offsets[_numbers_at(payload, ">u2", offsets + _WORD) == int.from_bytes(KEY_TAIL[_WORD:], "big")]
    return tails


def _row_sizes(payload: bytes, tails: Numbers, suffix: int) -> Numbers | None:
    """Return the sizes of the rows before the tails; None when they have too many, or what is found contradicts itself.

    The first tail whose row is not known tells one more size, by the end of the cell before; the same size is looked for at all others.
    """
    sizes = np.full(len(tails), -1)
    unknown = np.arange(len(tails))
    for _ in range(_MOST_LENGTHS):
        if not len(unknown):
            return sizes
        first, start = int(unknown[0]), 0
        if first:
            before = int(tails[first - 1])
            value_size = int.from_bytes(payload[before - int(sizes[first - 1]) - ROW + 4 :][:4], "big")
            start = before + len(KEY_TAIL) + value_size + suffix
        size = int(tails[first]) - start - ROW
        if size < 0:
            return None
        starts = np.maximum(tails[unknown] - size - ROW, 0)
        fits = (_numbers_at(payload, ">u2", starts + LENGTHS) == size) & (_numbers_at(payload, ">u4", starts) == size + _KEY_WITHOUT_ROW)
        if not fits[0]:
            return None
        sizes[unknown[fits]] = size
        unknown = unknown[~fits]
    return None


def _numbers_at(payload: bytes, kind: str, indices: Numbers) -> Numbers:
    """Return the numbers that begin at some bytes of a block."""
    size = np.dtype(kind).itemsize
    every = np.ndarray((len(payload) - size + 1,), kind, payload, 0, (1,))
    numbers: Numbers = every[indices].astype(np.int64)
    return numbers
