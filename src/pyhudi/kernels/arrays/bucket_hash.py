"""The hashes that say which bucket a record key belongs to, on columns of keys.

Rules: `BucketIdentifier` (Java's hash of a list of strings), `ConsistentBucketIdentifier` (XXH32 of the joined strings),
`KeyGenUtils.extractRecordKeysByFields`; docs/format/keys.md#simple-bucket-index, #consistent-hashing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Words
from pyhudi.kernels.arrays.key_bytes import equal_length_blocks
from pyhudi.keygen.key_generator_protocol import EMPTY_PART, NULL_PART

_NOT_NEGATIVE = np.uint32(0x7FFFFFFF)
_FACTOR = 31
_P1, _P2, _P3, _P4, _P5 = (np.uint32(prime) for prime in (2654435761, 2246822519, 3266489917, 668265263, 374761393))
#: Sums and negatives of the primes, as the four lanes of a long text begin.
_LANES = tuple(np.uint32(seed % (1 << 32)) for seed in (2654435761 + 2246822519, 2246822519, 0, -2654435761))
_STRIPE = 16


def list_hashes(keys: pa.StringArray, fields: Collection[str]) -> npt.NDArray[np.int64]:
    """Return, for each record key, Java's hash of the list of its hash fields' values, without the sign."""
    if not pc.any(_composite(keys)).as_py():
        return ((np.uint32(_FACTOR) + string_hashes(keys)) & _NOT_NEGATIVE).astype(np.int64)
    values = [hash_values(key, fields) for key in keys.to_pylist()]
    hashed = np.ones(len(values), np.uint32)
    for index in range(max(map(len, values))):
        having = np.flatnonzero([len(parts) > index for parts in values])
        strings = [values[row][index] for row in having]
        hashes = string_hashes(pa.array(strings, pa.string()).fill_null(""))
        hashed[having] = hashed[having] * np.uint32(_FACTOR) + hashes
    return (hashed & _NOT_NEGATIVE).astype(np.int64)


def consistent_hashes(keys: pa.StringArray, fields: Collection[str]) -> npt.NDArray[np.int64]:
    """Return, for each record key, its hash for consistent hashing."""
    if pc.any(_composite(keys)).as_py():
        joined = ("".join("null" if value is None else value for value in hash_values(key, fields)) for key in keys.to_pylist())
        keys = pa.array(joined, pa.string())
    hashed = np.empty(len(keys), np.uint32)
    for indices, block in equal_length_blocks(keys):
        hashed[indices] = _xxh32(block)
    return (hashed & _NOT_NEGATIVE).astype(np.int64)


def bucket_indices(ends: Sequence[int], hashes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the index of the hash range of each hash: the first that ends at it or behind it, else the first of all.

    Example:
        >>> bucket_indices([10, 20], np.array([10, 11, 21])).tolist()
        [0, 1, 0]
    """
    return np.searchsorted(np.array(ends), hashes) % len(ends)


def hash_values(key: str, fields: Collection[str]) -> tuple[str | None, ...]:
    """Return the values of the hash fields in a record key, in the key's order; the whole key when it names none of them.

    Example:
        >>> hash_values("id:7,at:10:30,note:__null__", ["at", "note"])
        ('10:30', None)
    """
    if "," not in key or ":" not in key:
        return (key,)
    values: list[str | None] = []
    for name, value in _named_values(key):
        if not fields or name in fields:
            values.append(None if value == NULL_PART else "" if value == EMPTY_PART else value)
    return tuple(values) or (key,)


def _named_values(key: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of a composite key; a value may hold commas and colons, and ends at the last comma before the next name."""
    at = 0
    while at < len(key) and (colon := key.find(":", at)) >= 0:
        comma, following = -1, key.find(":", colon + 1)
        while following >= 0 and (comma := key.rfind(",", 0, following)) < colon:
            following = key.find(":", following + 1)
        end = comma if following >= 0 else len(key)
        yield key[at:colon], key[colon + 1 : end]
        at = end + 1


def string_hashes(strings: pa.StringArray) -> Words:
    """Return Java's `String.hashCode` of each text: a polynomial of its UTF-16 units with factor 31, in 32 bits."""
    hashed = np.zeros(len(strings), np.uint32)
    is_ascii = pc.all(pc.string_is_ascii(strings), min_count=0).as_py()
    for indices, block in equal_length_blocks(strings if is_ascii else _utf_16(strings)):
        units = block if is_ascii else block.view("<u2")
        hashes = np.zeros(len(block), np.uint32)
        for unit in range(units.shape[1]):
            hashes *= np.uint32(_FACTOR)
            hashes += units[:, unit]
        hashed[indices] = hashes
    return hashed


def _utf_16(strings: pa.StringArray) -> pa.BinaryArray:
    return pa.array([text.encode("utf-16-le") for text in strings.to_pylist()], pa.binary())


def _composite(keys: pa.StringArray) -> pa.BooleanArray:
    return pc.and_(pc.match_substring(keys, ","), pc.match_substring(keys, ":"))


def _xxh32(block: npt.NDArray[np.uint8]) -> Words:
    """Return XXH32 with seed 0 of strings of one length."""
    count, length = block.shape
    stripes = length // _STRIPE * _STRIPE
    words = np.ascontiguousarray(block[:, : length // 4 * 4]).view("<u4").astype(np.uint32)
    if stripes:
        lanes = [np.full(count, seed, np.uint32) for seed in _LANES]
        for index in range(stripes // 4):
            lanes[index % 4] = _rotate(lanes[index % 4] + words[:, index] * _P2, 13) * _P1
        state = sum((_rotate(lane, turn) for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True)), np.zeros(count, np.uint32))
    else:
        state = np.full(count, _P5, np.uint32)
    state = state + np.uint32(length)
    for index in range(stripes // 4, words.shape[1]):
        state = _rotate(state + words[:, index] * _P3, 17) * _P4
    for index in range(length // 4 * 4, length):
        state = _rotate(state + block[:, index].astype(np.uint32) * _P5, 11) * _P1
    for shift, prime in ((15, _P2), (13, _P3)):
        state = (state ^ (state >> np.uint32(shift))) * prime
    return state ^ (state >> np.uint32(16))


def _rotate(words: Words, bits: int) -> Words:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))
