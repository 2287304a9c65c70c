"""Bloom filters as base file footers hold them: SIMPLE and DYNAMIC_V0, the reference that faster code is compared with.

Rules: `SimpleBloomFilter`, `HoodieDynamicBoundedBloomFilter`, and the Hadoop filters below them. The text form is base64 of big-endian
numbers and bits; a dynamic filter is a row of simple ones, each for so many keys, and stops growing at its maximum.
"""

from __future__ import annotations

import base64
import binascii
import enum
import math
import struct
from dataclasses import dataclass

from pyhudi.codec.murmur import murmur
from pyhudi.errors import CorruptTableError

_VERSION = -1
_MURMUR_TYPE = 1
_HEADER = struct.Struct(">iibi")
_DYNAMIC_HEADER = struct.Struct(">iii")
_MAX_BITS = 1 << 31


class BloomType(enum.StrEnum):
    """Kinds as `hoodie_bloom_filter_type_code` names them."""

    SIMPLE = "SIMPLE"
    DYNAMIC_V0 = "DYNAMIC_V0"


def sizing(entries: int, fpp: float) -> tuple[int, int]:
    """Return bits and number of hashes for so many keys at a share `fpp` of false answers.

    Example:
        >>> sizing(60000, 1e-9)
        (2587966, 30)
    """
    bits = math.ceil(entries * -math.log(fpp) / math.log(2) ** 2)
    return bits, math.ceil(math.log(2) * bits / entries)


def positions(key: bytes, bits: int, hashes: int) -> list[int]:
    """Return the bits of a key: each hash is the seed of the next."""
    found = []
    seed = 0
    for _ in range(hashes):
        seed = murmur(key, seed)
        signed = seed - (1 << 32) if seed >> 31 else seed
        found.append(abs(signed) % bits)
    return found


@dataclass(slots=True)
class BloomFilter:
    """A filter that grows by `add`. One row and `row_entries` None make the SIMPLE kind.

    Example:
        >>> bloom = BloomFilter.empty(BloomType.SIMPLE, entries=10, fpp=0.01)
        >>> bloom.add("a")
        >>> bloom.might_contain("a"), BloomFilter.decode(bloom.encode(), BloomType.SIMPLE).might_contain("b")
        (True, False)
    """

    bits: int
    hashes: int
    rows: list[bytearray]
    row_entries: int | None = None
    max_entries: int = 0
    last_row_entries: int = 0
    #: Set once the filter is full: how many keys have gone to its rows in turn since.
    _turn: int | None = None

    @classmethod
    def empty(cls, kind: BloomType, *, entries: int = 60000, fpp: float = 1e-9, max_entries: int = 100000) -> BloomFilter:
        """Return a filter without keys; `max_entries` is where a dynamic one stops growing."""
        bits, hashes = sizing(entries, fpp)
        row_entries = entries if kind is BloomType.DYNAMIC_V0 else None
        return cls(bits, hashes, [_row(bits)], row_entries, max_entries)

    def add(self, key: str) -> None:
        """Add a record key.

        Raises:
            ValueError: the key is empty.
        """
        if not key:
            raise ValueError("an empty key has no place in a bloom filter")
        row = self._row_to_fill()
        for position in positions(key.encode(), self.bits, self.hashes):
            row[position >> 3] |= 1 << (position & 7)
        self.last_row_entries += 1

    def might_contain(self, key: str) -> bool:
        """Return False when the key was certainly not added."""
        found = positions(key.encode(), self.bits, self.hashes)
        return any(all(row[at >> 3] >> (at & 7) & 1 for at in found) for row in self.rows)

    def encode(self) -> str:
        """Return the text of the footer."""
        rows = b"".join(self._header() + bytes(row) for row in self.rows)
        if self.row_entries is None:
            return base64.b64encode(rows).decode()
        dynamic = _DYNAMIC_HEADER.pack(self.row_entries, self.last_row_entries, len(self.rows))
        return base64.b64encode(self._header() + dynamic + rows).decode()

    @classmethod
    def decode(cls, text: str, kind: BloomType = BloomType.SIMPLE, *, max_entries: int = 100000) -> BloomFilter:
        """Return the filter of a footer.

        Raises:
            CorruptTableError: the text is no filter of this kind.
        """
        try:
            data = base64.b64decode(text, validate=True)
            if kind is BloomType.SIMPLE:
                hashes, bits = _parse_header(data, 0)
                return cls(bits, hashes, _parse_rows(data, 0, 1, hashes, bits))
            hashes, bits = _parse_header(data, 0)
            row_entries, last, count = _DYNAMIC_HEADER.unpack_from(data, _HEADER.size)
        except (binascii.Error, ValueError, struct.error) as error:
            raise CorruptTableError(f"the bloom filter of a base file is damaged ({error})") from None
        if row_entries <= 0 or last < 0 or count <= 0:
            raise CorruptTableError(f"the bloom filter of a base file has {count} rows of {row_entries} keys: it is damaged")
        rows = _parse_rows(data, _HEADER.size + _DYNAMIC_HEADER.size, count, hashes, bits)
        return cls(bits, hashes, rows, row_entries, max_entries, last)

    def _header(self) -> bytes:
        return _HEADER.pack(_VERSION, self.hashes, _MURMUR_TYPE, self.bits)

    def _row_to_fill(self) -> bytearray:
        """Return the row for the next key: the last one, a new one, or, when the filter is full, each in turn."""
        if self.row_entries is None:
            return self.rows[0]
        if self._turn is None:
            if self.last_row_entries < self.row_entries:
                return self.rows[-1]
            if len(self.rows) * self.row_entries < self.max_entries:
                self.rows.append(_row(self.bits))
                self.last_row_entries = 0
                return self.rows[-1]
            # The key that finds the filter full goes to row 0 out of turn.
            self._turn = 0
            return self.rows[0]
        row = self.rows[self._turn % len(self.rows)]
        self._turn += 1
        return row


def _row(bits: int) -> bytearray:
    return bytearray((bits + 7) // 8)


def _parse_header(data: bytes, at: int) -> tuple[int, int]:
    version, hashes, hash_type, bits = _HEADER.unpack_from(data, at)
    if version != _VERSION or hash_type != _MURMUR_TYPE or hashes <= 0 or not 0 < bits < _MAX_BITS:
        raise CorruptTableError("the bloom filter of a base file has a header that Hudi does not write")
    return hashes, bits


def _parse_rows(data: bytes, at: int, count: int, hashes: int, bits: int) -> list[bytearray]:
    size = _HEADER.size + (bits + 7) // 8
    if len(data) - at != count * size:
        raise CorruptTableError(f"the bloom filter of a base file has {len(data) - at} bytes, {count} rows need {count * size}")
    rows = []
    for start in range(at, len(data), size):
        if _parse_header(data, start) != (hashes, bits):
            raise CorruptTableError("the rows of the bloom filter of a base file differ in size")
        rows.append(bytearray(data[start + _HEADER.size : start + size]))
    return rows
