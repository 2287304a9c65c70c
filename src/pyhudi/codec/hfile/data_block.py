"""Data blocks: cells of a row and a value, in order of their rows.

Rules: see `cells`, which finds them, and `cell_arrays`, which does so for large blocks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pyhudi.codec.hfile.cell_arrays import cell_arrays
from pyhudi.codec.hfile.cells import CELL_END, HEAD, KEY_TAIL, ROW, Cells, ListedCells

MAX_ROW_BYTES = 0x7FFF
#: Bytes of a cell besides its row and its value.
CELL_OVERHEAD = ROW + len(KEY_TAIL) + len(CELL_END)


@dataclass(frozen=True, slots=True)
class CellBlock:
    """Cells that are a block together: where each begins, and how many bytes their rows and values have."""

    payload: bytes
    starts: Sequence[int]
    row_bytes: int
    value_bytes: int

    @property
    def first_row(self) -> bytes:
        """The row of the first cell."""
        return row_at(self.payload, self.starts[0])

    @property
    def last_row(self) -> bytes:
        """The row of the last cell."""
        return row_at(self.payload, self.starts[-1])


@dataclass(frozen=True, slots=True)
class CellPart:
    """Some cells that lie one behind the other: their rows, and where in `payload` each value begins and ends."""

    payload: bytes
    rows: Sequence[bytes]
    value_starts: Sequence[int]
    value_ends: Sequence[int]

    @classmethod
    def of(cls, cells: Sequence[tuple[bytes, bytes]]) -> CellPart:
        """Put cells of a row and a value together."""
        ends = list(accumulate(len(value) for _, value in cells))
        return cls(b"".join(value for _, value in cells), [row for row, _ in cells], [0, *ends[:-1]] if ends else [], ends)

    def cells(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield (row, value)."""
        for row, start, end in zip(self.rows, self.value_starts, self.value_ends, strict=True):
            yield row, self.payload[start:end]

    def value(self, index: int) -> bytes:
        """Return the value of one cell."""
        return self.payload[self.value_starts[index] : self.value_ends[index]]

    def take(self, indices: Sequence[int]) -> CellPart:
        """Return the cells at some places."""
        return CellPart(
            self.payload,
            [self.rows[index] for index in indices],
            [self.value_starts[index] for index in indices],
            [self.value_ends[index] for index in indices],
        )


class DataBlock:
    """The cells of one block, found when they are first asked for. `suffix` is the number of bytes behind each value."""

    __slots__ = ("_loaded_cells", "_payload", "_suffix", "_what")

    def __init__(self, payload: bytes, suffix: int, what: str) -> None:
        self._payload = payload
        self._suffix = suffix
        self._what = what
        self._loaded_cells: Cells | None = None

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self._cells)

    @property
    def payload(self) -> bytes:
        """The bytes of all cells."""
        return self._payload

    @property
    def size(self) -> int:
        """Bytes of the payload."""
        return len(self._payload)

    def cells(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yield (row, value) of the rows from `start` on, to before `end`.

        Raises:
            CorruptTableError: the cells do not fill the payload exactly, or a part was asked for and the rows do not
                ascend.
        """
        return self.part(start, end).cells()

    def part(self, start: bytes = b"", end: bytes | None = None) -> CellPart:
        """Return the same cells together, for who decodes many values at once."""
        indices = self._cells.between(start, end)
        return CellPart(self._payload, self._cells.rows[indices.start : indices.stop], *self._cells.values(indices))

    @property
    def rows(self) -> Sequence[bytes]:
        """The rows, which ascend; errors as in `find`."""
        self._cells.check_order()
        return self._cells.rows

    @property
    def starts(self) -> Sequence[int]:
        """Where each cell begins."""
        return self._cells.starts

    @property
    def is_laid_out_as_written(self) -> bool:
        """True when its cells are laid out as they are written here."""
        starts = self._cells.starts
        is_ours = not starts or self._payload.startswith(KEY_TAIL, ROW + len(self._cells.rows[0]))
        return is_ours and self._suffix == len(CELL_END)

    def whole(self) -> CellBlock:
        """Return the block to be written again as it is; its cells must be laid out as they are written here."""
        rows, starts = self._cells.rows, self._cells.starts
        row_bytes = sum(map(len, rows))
        return CellBlock(self._payload, starts, row_bytes, len(self._payload) - row_bytes - len(starts) * CELL_OVERHEAD)

    def find(self, rows: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield (row, value) for those of the sorted rows that are here, each once; of equal rows in the block the first.

        Raises:
            CorruptTableError: the rows of the block do not ascend, so that a search could miss some, or it is damaged.
        """
        return self._cells.find(rows)

    @property
    def _cells(self) -> Cells:
        if self._loaded_cells is None:
            self._loaded_cells = cell_arrays(self._payload, self._suffix, self._what) or ListedCells(
                self._payload, self._suffix, self._what
            )
        return self._loaded_cells


def row_at(payload: bytes, start: int) -> bytes:
    """Return the row of the cell that begins at `start` of a payload of our own making."""
    size: int = HEAD.unpack_from(payload, start)[2]
    return payload[start + ROW : start + ROW + size]


def encode_key(row: bytes) -> bytes:
    """Return a row as the key of a cell or of an index entry."""
    return len(row).to_bytes(2, "big") + row + KEY_TAIL


def encode_cell(row: bytes, value: bytes) -> bytes:
    """Return a cell."""
    key = encode_key(row)
    return b"".join((struct.pack(">II", len(key), len(value)), key, value, CELL_END))
