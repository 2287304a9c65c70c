"""The 32-bit Murmur hash of Hudi's bloom filters.

Rules: Hadoop's `MurmurHash`. It is Murmur2 but for the last one to three bytes, which are taken as signed and from the end.
"""

from __future__ import annotations

_MULTIPLIER = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur(data: bytes, seed: int) -> int:
    """Return the hash as an unsigned 32-bit number.

    Example:
        >>> murmur(b"", 0)
        0
    """
    length = len(data)
    state = (seed ^ length) & _MASK
    whole = length - length % 4
    for at in range(0, whole, 4):
        block = int.from_bytes(data[at : at + 4], "little") * _MULTIPLIER & _MASK
        block = (block ^ block >> 24) * _MULTIPLIER & _MASK
        state = (state * _MULTIPLIER & _MASK) ^ block
    if whole != length:
        for back in range(length - whole, 0, -1):
            byte = data[length - back]
            state ^= ((byte - 256 if byte > 127 else byte) << 8 * (back - 1)) & _MASK
        state = state * _MULTIPLIER & _MASK
    state = (state ^ state >> 13) * _MULTIPLIER & _MASK
    return state ^ state >> 15
