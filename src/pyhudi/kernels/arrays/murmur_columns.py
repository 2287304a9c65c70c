"""The hash of Hudi's bloom filters, on columns of keys.

Rules: Hadoop's `MurmurHash` as Hudi uses it (32 bits; the tail's bytes are signed and taken from the end). Hash `i`
of a key takes hash `i - 1` as its seed. What the words of a key contribute does not depend on the seed, so it is
computed once for all hashes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pyhudi.kernels.arrays.array_types import Indices, Words
from pyhudi.kernels.arrays.key_bytes import equal_length_blocks

_M = np.uint32(0x5BD1E995)
_R = np.uint32(24)
_FINAL_FIRST = np.uint32(13)
_FINAL_SECOND = np.uint32(15)


def bit_positions(keys: pa.Array, bits: int, hashes: int) -> Iterator[Words]:
    """Yield arrays that together hold, for every key, its `hashes` bit positions below `bits`; the order is that of
    no key.

    An array is only valid until the next one is taken.
    """
    for _, positions in positions_by_key(keys, bits, hashes):
        yield from positions


def positions_by_key(keys: pa.Array, bits: int, hashes: int) -> Iterator[tuple[Indices | slice, Iterator[Words]]]:
    """Yield which keys, and for each hash in turn the bit positions of these keys, valid until the next are taken."""
    for indices, block in equal_length_blocks(keys):
        yield indices, _positions(block, np.uint32(bits), hashes)


def _positions(block: npt.NDArray[np.uint8], bits: np.uint32, hashes: int) -> Iterator[Words]:
    count, length = block.shape
    words = _seedless_words(block)
    tail = _tail(block)
    seed_mix = np.uint32(length)
    value = np.zeros(count, np.uint32)
    scratch = np.empty(count, np.uint32)
    positions = np.empty(count, np.uint32)
    for _ in range(hashes):
        np.bitwise_xor(value, seed_mix, out=value)
        for word in words:
            np.multiply(value, _M, out=value)
            np.bitwise_xor(value, word, out=value)
        if tail is not None:
            np.bitwise_xor(value, tail, out=value)
            np.multiply(value, _M, out=value)
        np.right_shift(value, _FINAL_FIRST, out=scratch)
        np.bitwise_xor(value, scratch, out=value)
        np.multiply(value, _M, out=value)
        np.right_shift(value, _FINAL_SECOND, out=scratch)
        np.bitwise_xor(value, scratch, out=value)
        _absolute_remainder(value, bits, scratch, positions)
        yield positions


def _absolute_remainder(value: Words, bits: np.uint32, scratch: Words, out: Words) -> None:
    """Compute `abs(int32(value) % bits)` with Java's remainder, which takes the dividend's sign."""
    np.absolute(value.view(np.int32), out=out.view(np.int32))
    # numpy divides by a scalar fast, but has no fast remainder.
    np.floor_divide(out, bits, out=scratch)
    np.multiply(scratch, bits, out=scratch)
    np.subtract(out, scratch, out=out)


def _seedless_words(block: npt.NDArray[np.uint8]) -> list[Words]:
    """The whole words of the keys, mixed as far as the seed has no part in it."""
    whole = block.shape[1] // 4 * 4
    if not whole:
        return []
    words = np.ascontiguousarray(np.ascontiguousarray(block[:, :whole]).view("<u4").astype(np.uint32).T)
    words *= _M
    words ^= words >> _R
    words *= _M
    return list(words)


def _tail(block: npt.NDArray[np.uint8]) -> Words | None:
    """What the one to three bytes behind the whole words contribute: signed, and counted from the key's end."""
    length = block.shape[1]
    signed = block.view(np.int8)
    left = length % 4
    if not left:
        return None
    tail = signed[:, length - 1].astype(np.int32)
    if left >= 2:
        tail ^= signed[:, length - 2].astype(np.int32) << 8
    if left == 3:
        tail ^= signed[:, length - 3].astype(np.int32) << 16
    return tail.view(np.uint32)
