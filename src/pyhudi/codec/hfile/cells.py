"""Where the cells of a data block are. Here they are found one after the other, which serves any block; `cell_arrays` finds many at once.

Rules: docs/format/hfile.md#cells. A cell is `int32 key length | int32 value length | key | value | version`; the key begins with
the row after its length in two bytes, and ends with what HBase wants: no family, the latest timestamp, type Put.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from pyhudi.errors import CorruptTableError

HEAD = struct.Struct(">IIH")
LENGTHS = 8
ROW = HEAD.size
#: What follows the row in a cell's key, and the value in a cell.
KEY_TAIL = bytes.fromhex("007fffffffffffffff04")
CELL_END = b"\0"


class Cells(ABC):
    """The cells of one block; `what` names it in errors."""

    def __init__(self, payload: bytes, what: str) -> None:
        self._payload = payload
        self._what = what
        self._is_ordered = False  # not yet looked at

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.starts)

    @property
    @abstractmethod
    def rows(self) -> Sequence[bytes]:
        """The rows, in the order of the block."""

    @property
    @abstractmethod
    def starts(self) -> Sequence[int]:
        """Where each cell begins."""

    @abstractmethod
    def values(self, indices: range) -> tuple[list[int], list[int]]:
        """Return where the values at some places begin, and where they end."""

    def between(self, start: bytes, end: bytes | None) -> range:
        """Return the places of the rows from `start` on, to before `end`; errors as in `find`, when only a part is wanted."""
        if not start and end is None:
            return range(len(self.rows))
        self.check_order()
        return range(bisect_left(self.rows, start), len(self.rows) if end is None else bisect_left(self.rows, end))

    def find(self, rows: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield (row, value) for those of the sorted rows that are here, each once; of equal rows in the block the first.

        Raises:
            CorruptTableError: the rows of the block do not ascend, so that a search could miss some.
        """
        self.check_order()
        index, count, last = 0, len(self.rows), None
        for row in rows:
            index = bisect_left(self.rows, row, index)
            if index == count:
                return
            if self.rows[index] == row and row != last:
                (start,), (end,) = self.values(range(index, index + 1))
                yield row, self._payload[start:end]
                last = row

    def check_order(self) -> None:
        """Refuse rows that do not ascend."""
        if not self._is_ordered and not self._ascends():
            raise CorruptTableError(f"the rows of {self._what} are not in the order of their bytes, so they cannot be looked up")
        self._is_ordered = True

    def _ascends(self) -> bool:
        return all(map(bytes.__le__, self.rows, self.rows[1:]))


class ListedCells(Cells):
    """Cells found by visiting each one; `suffix` is the number of bytes behind each value.

    Raises:
        CorruptTableError: they do not fill the payload exactly.
    """

    def __init__(self, payload: bytes, suffix: int, what: str) -> None:
        super().__init__(payload, what)
        self._rows, self._starts, self._value_starts, self._value_ends = _visit(payload, suffix, what)

    @property
    def rows(self) -> Sequence[bytes]:
        """The row of each cell, in the order of the block."""
        return self._rows

    @property
    def starts(self) -> Sequence[int]:
        """The offset of each cell in the payload."""
        return self._starts

    def values(self, indices: range) -> tuple[list[int], list[int]]:
        """Return the offsets at which the values of a range of cells begin and end."""
        return self._value_starts[indices.start : indices.stop], self._value_ends[indices.start : indices.stop]


def _visit(payload: bytes, suffix: int, what: str) -> tuple[list[bytes], list[int], list[int], list[int]]:
    """Return the rows, where each cell begins, and where its value begins and ends."""
    rows: list[bytes] = []
    starts: list[int] = []
    value_starts: list[int] = []
    value_ends: list[int] = []
    unpack, end = HEAD.unpack_from, len(payload)
    at = 0
    try:
        while at < end:
            key_size, value_size, row_size = unpack(payload, at)
            if row_size + 2 > key_size:
                raise CorruptTableError(f"{what} holds a row that is longer than its key")
            rows.append(payload[at + ROW : at + ROW + row_size])
            starts.append(at)
            value = at + LENGTHS + key_size
            value_starts.append(value)
            value_ends.append(value + value_size)
            at = value + value_size + suffix
    except struct.error:
        at = -1
    if at != end:
        raise CorruptTableError(f"{what} ends within a cell")
    return rows, starts, value_starts, value_ends
