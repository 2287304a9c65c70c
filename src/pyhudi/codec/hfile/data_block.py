"""Data blocks: cells of a row and a value, in order of their rows.

Rules: format notes (metadata table) 1.3. A cell is `int32 key length | int32 value length | key | value | version`;
the key begins with the row after its length in two bytes, and ends with what HBase wants: no family, the latest
timestamp, type Put. Rows compare as unsigned bytes.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError

_HEAD = struct.Struct(">IIH")
_LENGTHS = 8
_ROW = _HEAD.size
#: What follows the row in a cell's key, and the value in a cell.
KEY_TAIL = bytes.fromhex("007fffffffffffffff04")
CELL_END = b"\0"
MAX_ROW_BYTES = 0x7FFF


@dataclass(frozen=True, slots=True)
class CellBlock:
    """Cells that are a block together: where each begins, and how many bytes their rows and values have."""

    payload: bytes
    starts: Sequence[int]
    row_bytes: int
    value_bytes: int


class DataBlock:
    """The cells of one block. `suffix` is the number of bytes behind each value.

    The first look-up passes over the cells, which costs least for a block that is needed once. From the second one on
    they are taken apart and searched.
    """

    __slots__ = ("_cells", "_payload", "_suffix", "_was_searched", "_what")

    def __init__(self, payload: bytes, suffix: int, what: str) -> None:
        self._payload = payload
        self._suffix = suffix
        self._what = what
        self._cells: _Cells | None = None
        self._was_searched = False

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self._taken_apart().rows)

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
        cells = self._taken_apart()
        first, last = 0, len(cells.rows)
        if start or end is not None:
            cells.check_order(self._what)
            first = bisect_left(cells.rows, start)
            last = last if end is None else bisect_left(cells.rows, end)
        for place in range(first, last):
            yield cells.rows[place], self._value(cells, place)

    @property
    def rows(self) -> Sequence[bytes]:
        """The rows, which ascend; errors as of `find`."""
        cells = self._taken_apart()
        cells.check_order(self._what)
        return cells.rows

    def whole(self) -> CellBlock | None:
        """Return the block to be written again as it is; None when its cells are not laid out as they are written here."""
        cells = self._taken_apart()
        starts, row_bytes = cells.starts[:-1], sum(map(len, cells.rows))
        value_bytes = len(self._payload) - row_bytes - len(starts) * (_ROW + len(KEY_TAIL) + len(CELL_END))
        is_ours = not starts or self._payload.startswith(KEY_TAIL, _ROW + len(cells.rows[0]))
        if self._suffix != len(CELL_END) or not is_ours:
            return None
        return CellBlock(self._payload, starts, row_bytes, value_bytes)

    def find(self, rows: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield (row, value) for those of the sorted rows that are here, each once; of equal rows in the block the first.

        Raises:
            CorruptTableError: the rows of the block do not ascend, so that a search could miss some, or it is damaged.
        """
        if not self._was_searched:
            self._was_searched = True
            yield from _pass_over(self._payload, self._suffix, self._what, set(rows))
            return
        cells = self._taken_apart()
        cells.check_order(self._what)
        place, count, last = 0, len(cells.rows), None
        for row in rows:
            place = bisect_left(cells.rows, row, place)
            if place == count:
                return
            if cells.rows[place] == row and row != last:
                yield row, self._value(cells, place)
                last = row

    def _taken_apart(self) -> _Cells:
        if self._cells is None:
            self._cells = _Cells(*_parse(self._payload, self._suffix, self._what))
        return self._cells

    def _value(self, cells: _Cells, place: int) -> bytes:
        start = cells.starts[place]
        key_size: int = _HEAD.unpack_from(self._payload, start)[0]
        return self._payload[start + _LENGTHS + key_size : cells.starts[place + 1] - self._suffix]


class _Cells:
    """The rows of a block and where each cell begins, with the end of the last one."""

    __slots__ = ("_is_ordered", "rows", "starts")

    def __init__(self, rows: list[bytes], starts: list[int]) -> None:
        self.rows = rows
        self.starts = starts
        self._is_ordered = False  # not yet looked at

    def check_order(self, what: str) -> None:
        if not self._is_ordered and self.rows != sorted(self.rows):
            raise _out_of_order(what)
        self._is_ordered = True


def _parse(payload: bytes, suffix: int, what: str) -> tuple[list[bytes], list[int]]:
    """Return the rows, and where each cell begins, with the end of the last one."""
    unpack, fixed, end = _HEAD.unpack_from, _LENGTHS + suffix, len(payload)
    rows: list[bytes] = []
    starts: list[int] = []
    at = 0
    try:
        while at < end:
            key_size, value_size, row_size = unpack(payload, at)
            if row_size + 2 > key_size:
                raise _cut_row(what)
            rows.append(payload[at + _ROW : at + _ROW + row_size])
            starts.append(at)
            at += fixed + key_size + value_size
    except struct.error:
        raise _cut_cell(what) from None
    if at != end:
        raise _cut_cell(what)
    starts.append(end)
    return rows, starts


def _pass_over(payload: bytes, suffix: int, what: str, wanted: set[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the cells of the wanted rows until all are found.

    This loop is what a look-up of many keys costs; it does as little as it can for a cell.
    """
    unpack, fixed, end = _HEAD.unpack_from, _LENGTHS + suffix, len(payload)
    at, before = 0, b""
    try:
        while at < end and wanted:
            key_size, value_size, row_size = unpack(payload, at)
            row = payload[at + _ROW : at + _ROW + row_size]
            if row < before:
                raise _out_of_order(what)
            if row_size + 2 > key_size:
                raise _cut_row(what)
            if row in wanted:
                value_start = at + _LENGTHS + key_size
                if value_start + value_size + suffix > end:
                    raise _cut_cell(what)
                yield row, payload[value_start : value_start + value_size]
                wanted.remove(row)
            before = row
            at += fixed + key_size + value_size
    except struct.error:
        raise _cut_cell(what) from None
    if at > end:
        raise _cut_cell(what)


def _out_of_order(what: str) -> CorruptTableError:
    return CorruptTableError(f"the rows of {what} are not in the order of their bytes, so they cannot be looked up")


def _cut_row(what: str) -> CorruptTableError:
    return CorruptTableError(f"{what} holds a row that is longer than its key")


def _cut_cell(what: str) -> CorruptTableError:
    return CorruptTableError(f"{what} ends within a cell")


def row_at(payload: bytes, start: int) -> bytes:
    """Return the row of the cell that begins at `start` of a payload of our own making."""
    size: int = _HEAD.unpack_from(payload, start)[2]
    return payload[start + _ROW : start + _ROW + size]


def encode_key(row: bytes) -> bytes:
    """Return a row as the key of a cell or of an index entry."""
    return len(row).to_bytes(2, "big") + row + KEY_TAIL


def encode_cell(row: bytes, value: bytes) -> bytes:
    """Return a cell."""
    key = encode_key(row)
    return b"".join((struct.pack(">II", len(key), len(value)), key, value, CELL_END))
