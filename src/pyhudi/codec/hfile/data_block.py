"""Data blocks: cells of a row and a value, in order of their rows.

Rules: format notes (metadata table) 1.3. A cell is `int32 key length | int32 value length | key | value | version`;
the key begins with the row after its length in two bytes, and ends with what HBase wants: no family, the latest
timestamp, type Put. Rows compare as unsigned bytes.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from pyhudi.errors import CorruptTableError

_HEAD = struct.Struct(">IIH")
_LENGTHS = 8
_ROW = _HEAD.size
_KEY_TAIL = bytes.fromhex("007fffffffffffffff04")
_VERSION = b"\0"
MAX_ROW_BYTES = 0x7FFF


class DataBlock:
    """The cells of one block, taken apart once. `suffix` is the number of bytes behind each value."""

    __slots__ = ("_is_ordered", "_payload", "_rows", "_starts", "_suffix", "_what")

    def __init__(self, payload: bytes, suffix: int, what: str) -> None:
        """Find the cells.

        Raises:
            CorruptTableError: they do not fill the payload exactly.
        """
        self._payload = payload
        self._suffix = suffix
        self._what = what
        self._rows, self._starts = _parse(payload, suffix, what)
        self._is_ordered = False  # not yet looked at

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self._rows)

    @property
    def size(self) -> int:
        """Bytes of the payload."""
        return len(self._payload)

    def cells(self, start: bytes = b"", end: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yield (row, value) of the rows from `start` on, to before `end`."""
        first, last = 0, len(self._rows)
        if start or end is not None:
            self._check_order()
            first = bisect_left(self._rows, start)
            last = last if end is None else bisect_left(self._rows, end)
        for place in range(first, last):
            yield self._rows[place], self._value(place)

    def find(self, rows: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield (row, value) for those of the sorted rows that are here; of equal rows in the block the first."""
        self._check_order()
        place, count = 0, len(self._rows)
        for row in rows:
            place = bisect_left(self._rows, row, place)
            if place == count:
                return
            if self._rows[place] == row:
                yield row, self._value(place)

    def _check_order(self) -> None:
        """Refuse rows out of order: a search would miss some of them in silence.

        Raises:
            CorruptTableError: the rows do not ascend.
        """
        if not self._is_ordered and self._rows != sorted(self._rows):
            raise CorruptTableError(f"the rows of {self._what} are not in the order of their bytes, so they cannot be looked up")
        self._is_ordered = True

    def _value(self, place: int) -> bytes:
        start = self._starts[place]
        key_size: int = _HEAD.unpack_from(self._payload, start)[0]
        return self._payload[start + _LENGTHS + key_size : self._starts[place + 1] - self._suffix]


def _parse(payload: bytes, suffix: int, what: str) -> tuple[list[bytes], list[int]]:
    """Return the rows, and where each cell begins, with the end of the last one.

    This loop is what a lookup of many keys costs; it does as little as it can for a cell.
    """
    unpack, fixed, end = _HEAD.unpack_from, _LENGTHS + suffix, len(payload)
    rows: list[bytes] = []
    starts: list[int] = []
    at = 0
    try:
        while at < end:
            key_size, value_size, row_size = unpack(payload, at)
            if row_size + 2 > key_size:
                raise CorruptTableError(f"{what} holds a row of {row_size} bytes in a key of {key_size}")
            rows.append(payload[at + _ROW : at + _ROW + row_size])
            starts.append(at)
            at += fixed + key_size + value_size
    except struct.error:
        raise CorruptTableError(f"{what} ends within a cell") from None
    if at != end:
        raise CorruptTableError(f"{what} ends within a cell")
    starts.append(end)
    return rows, starts


def encode_key(row: bytes) -> bytes:
    """Return a row as the key of a cell or of an index entry."""
    return len(row).to_bytes(2, "big") + row + _KEY_TAIL


def encode_cell(row: bytes, value: bytes) -> bytes:
    """Return a cell."""
    key = encode_key(row)
    return b"".join((struct.pack(">II", len(key), len(value)), key, value, _VERSION))
