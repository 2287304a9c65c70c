"""Columns of keys as matrices of bytes, for arithmetic on all of them at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pyhudi.kernels.arrays.array_types import Bytes, Indices

#: Keys of one matrix: what is computed of them stays in the processor's cache.
_BLOCK = 16384
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


def equal_length_blocks(keys: pa.StringArray) -> Iterator[tuple[Indices | slice, Bytes]]:
    """Yield which keys, and their UTF-8 bytes as a matrix of one key a row; the keys of a matrix have one length."""
    if not len(keys):
        return
    offsets = np.frombuffer(keys.buffers()[1], np.int32)[keys.offset : keys.offset + len(keys) + 1]
    data = np.frombuffer(keys.buffers()[2] or b"", np.uint8)
    lengths = np.diff(offsets)
    if lengths.min() == lengths.max():
        matrix = data[offsets[0] : offsets[-1]].reshape(len(keys), int(lengths[0]))
        for start in range(0, len(keys), _BLOCK):
            yield slice(start, start + _BLOCK), matrix[start : start + _BLOCK]
        return
    order = np.argsort(lengths, kind="stable")
    borders = np.flatnonzero(np.diff(lengths[order])) + 1
    for group in np.split(order, borders):
        length = int(lengths[group[0]])
        for start in range(0, len(group), _BLOCK):
            indices = group[start : start + _BLOCK]
            yield indices, data[offsets[indices][:, None] + np.arange(length)]


def sharing_a_hash(keys: pa.StringArray) -> Indices:
    """Return the places, in order, of all keys that are there more than once, and maybe of a few others.

    A hash of 64 bits tells keys apart a tenth as expensively as a table of all keys; equal keys have equal hashes.
    """
    hashes = _hashes(keys)
    ordered = np.sort(hashes)
    doubled = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.flatnonzero(np.isin(hashes, doubled)) if len(doubled) else np.empty(0, np.int64)


def parts_of(keys: pa.StringArray, count: int) -> Indices:
    """Return for each key the number of its part, of `count` parts alike in size."""
    return (_hashes(keys) % np.uint64(count)).astype(np.int64)


def _hashes(keys: pa.StringArray) -> npt.NDArray[np.uint64]:
    hashes = np.empty(len(keys), np.uint64)
    for indices, block in equal_length_blocks(keys):
        count, length = block.shape
        padded = np.zeros((count, -(-length // 8) * 8), np.uint8)
        padded[:, :length] = block
        value = np.full(count, length, np.uint64)
        for word in np.ascontiguousarray(padded.view(np.uint64).T):
            value ^= word
            value *= _MULTIPLIER
            value ^= value >> _HALF
        hashes[indices] = value
    return hashes
