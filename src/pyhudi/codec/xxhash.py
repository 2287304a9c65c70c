"""XXH64, the hash of names in keys of the metadata table.

Rules: the xxHash specification. Plain Python: names are short and are hashed once.
"""

from __future__ import annotations

import struct

_MASK = (1 << 64) - 1
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_STRIPE = 32


def xxh64(data: bytes, seed: int = 0) -> int:
    """Return the 64-bit hash of some bytes.

    Example:
        >>> hex(xxh64(b"abc"))
        '0x44bc2cf5ad770999'
    """
    whole = len(data) - len(data) % _STRIPE
    state = (seed + _P5) & _MASK
    if whole:
        lanes = [(seed + offset) & _MASK for offset in (_P1 + _P2, _P2, 0, -_P1)]
        for stripe in struct.iter_unpack("<4Q", data[:whole]):
            lanes = [_round(lane, word) for lane, word in zip(lanes, stripe, strict=True)]
        state = sum(_rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
        for lane in lanes:
            state = ((state ^ _round(0, lane)) * _P1 + _P4) & _MASK
    return _avalanche(_tail((state + len(data)) & _MASK, data[whole:]))


def _tail(state: int, rest: bytes) -> int:
    at = 0
    while at + 8 <= len(rest):
        word = int.from_bytes(rest[at : at + 8], "little")
        state = (_rotate(state ^ _round(0, word), 27) * _P1 + _P4) & _MASK
        at += 8
    if at + 4 <= len(rest):
        word = int.from_bytes(rest[at : at + 4], "little")
        state = (_rotate(state ^ (word * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
        at += 4
    for byte in rest[at:]:
        state = _rotate(state ^ (byte * _P5 & _MASK), 11) * _P1 & _MASK
    return state


def _avalanche(state: int) -> int:
    state = (state ^ state >> 33) * _P2 & _MASK
    state = (state ^ state >> 29) * _P3 & _MASK
    return state ^ state >> 32


def _round(lane: int, word: int) -> int:
    return _rotate((lane + word * _P2) & _MASK, 31) * _P1 & _MASK


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK
