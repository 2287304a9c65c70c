"""Bloom filters as base file footers hold them: SIMPLE and DYNAMIC_V0, the reference that faster code is compared with.

Rules: `SimpleBloomFilter`, `HoodieDynamicBoundedBloomFilter`, and the Hadoop filters below them. The text form is base64 of big-endian
numbers and bits; a dynamic filter is a row of simple ones, each for so many keys, and stops growing at its maximum.
"""

from __future__ import annotations

import base64
import binascii
import enum
import math
import re
import struct
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError
from pyhudi.javacompat.murmur import murmur

_VERSION = -1
_MURMUR_TYPE = 1
_HEADER = struct.Struct(">iibi")
_DYNAMIC_HEADER = struct.Struct(">iii")
_MAX_BITS = 1 << 31
#: Above the number for the smallest share of false answers that a double can state; a damaged number would keep a look-up busy for hours.
_MOST_HASHES = 1100
_BASE64 = re.compile("[A-Za-z0-9+/]*={0,2}")


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
    result = []
    seed = 0
    for _ in range(hashes):
        seed = murmur(key, seed)
        signed = seed - (1 << 32) if seed >> 31 else seed
        result.append(abs(signed) % bits)
    return result


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
        bits = positions(key.encode(), self.bits, self.hashes)
        return any(all(row[at >> 3] >> (at & 7) & 1 for at in bits) for row in self.rows)

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
        stored = _layout(text, kind, max_entries)
        data = _decode(text)
        at, size = len(data) - stored.count * stored.row_size, stored.row_size
        rows = [bytearray(data[start + _HEADER.size : start + size]) for start in range(at, len(data), size)]
        return cls(stored.bits, stored.hashes, rows, stored.row_entries, max_entries, stored.last_row_entries)

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
    try:
        version, hashes, hash_type, bits = _HEADER.unpack_from(data, at)
    except struct.error as error:
        raise CorruptTableError(f"the bloom filter of a base file is damaged ({error})") from None
    if version != _VERSION or hash_type != _MURMUR_TYPE or not 0 < hashes <= _MOST_HASHES or not 0 < bits < _MAX_BITS:
        raise CorruptTableError("the bloom filter of a base file has a header that Hudi does not write")
    return hashes, bits


@dataclass(frozen=True, slots=True)
class StoredFilter:
    """A filter as its footer holds it, of which only the layout was looked at: most rewrites of a file add no key to it."""

    text: str
    kind: BloomType
    bits: int
    hashes: int
    row_entries: int | None
    max_entries: int
    last_row_entries: int
    #: Number of rows.
    count: int

    @classmethod
    def of(cls, text: str, kind: BloomType, *, max_entries: int) -> StoredFilter:
        """Return the filter of a footer.

        Raises:
            CorruptTableError: the text is no filter of this kind.
        """
        if len(text) % 4 or _BASE64.fullmatch(text) is None:
            raise CorruptTableError("the bloom filter of a base file is damaged (it is no base64)")
        return _layout(text, kind, max_entries)

    @property
    def row_size(self) -> int:
        """Bytes of a row with its header."""
        return _HEADER.size + (self.bits + 7) // 8

    def decode(self) -> BloomFilter:
        """Return the filter with its bits."""
        return BloomFilter.decode(self.text, self.kind, max_entries=self.max_entries)


def _layout(text: str, kind: BloomType, max_entries: int) -> StoredFilter:
    """Return what is around the bits of a filter; only that is decoded."""
    size, row_entries, last, count, at = len(text) // 4 * 3 - text[-2:].count("="), None, 0, 1, 0
    try:
        hashes, bits = _parse_header(_part(text, 0, _HEADER.size), 0)
        if kind is not BloomType.SIMPLE:
            row_entries, last, count = _DYNAMIC_HEADER.unpack(_part(text, _HEADER.size, _DYNAMIC_HEADER.size))
            at = _HEADER.size + _DYNAMIC_HEADER.size
    except struct.error as error:
        raise CorruptTableError(f"the bloom filter of a base file is damaged ({error})") from None
    if (row_entries is not None and row_entries <= 0) or last < 0 or count <= 0:
        raise CorruptTableError(f"the bloom filter of a base file has {count} rows of {row_entries} keys: it is damaged")
    stored = StoredFilter(text, kind, bits, hashes, row_entries, max_entries, last, count)
    if size - at != count * stored.row_size:
        raise CorruptTableError(f"the bloom filter of a base file has {size - at} bytes, {count} rows need {count * stored.row_size}")
    if any(_parse_header(_part(text, start, _HEADER.size), 0) != (hashes, bits) for start in range(at, size, stored.row_size)):
        raise CorruptTableError("the rows of the bloom filter of a base file differ in size")
    return stored


def _part(text: str, start: int, length: int) -> bytes:
    """Return some of the bytes that are in base64."""
    first, last = start // 3, -(-(start + length) // 3)
    return _decode(text[4 * first : 4 * last])[start - 3 * first :][:length]


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise CorruptTableError(f"the bloom filter of a base file is damaged ({error})") from None
