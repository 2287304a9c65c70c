"""CRC-32C (Castagnoli), the checksum of HFile blocks that HBase wrote. The standard library has only CRC-32.

Four bytes a step by two tables of 65,536 entries: plain Python needs about 25 ns a byte.
"""

from __future__ import annotations

import functools
import struct

_POLYNOMIAL = 0x82F63B78  # reflected
_ALL_ONES = 0xFFFFFFFF


def crc32c(data: bytes | memoryview) -> int:
    """Return the checksum of some bytes.

    Example:
        >>> hex(crc32c(b"123456789"))
        '0xe3069283'
    """
    low, high = _tables()
    crc = _ALL_ONES
    whole = len(data) & ~3
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        crc ^= word
        crc = low[crc & 0xFFFF] ^ high[crc >> 16]
    for byte in data[whole:]:
        crc ^= byte
        crc = (crc >> 8) ^ high[(crc & 0xFF) << 8]
    return crc ^ _ALL_ONES


@functools.cache
def _tables() -> tuple[list[int], list[int]]:
    """Return what four steps make of the low 16 bits of the register, and what they make of the high 16 bits.

    The high half moves down two bytes before it is used, so its table is that of two steps, and four steps of the low
    half are those two steps taken twice.
    """
    one = [_step(byte) for byte in range(256)]
    high = []
    for half in range(1 << 16):
        once = (half >> 8) ^ one[half & 0xFF]
        high.append((once >> 8) ^ one[once & 0xFF])
    low = [(value >> 16) ^ high[value & 0xFFFF] for value in high]
    return low, high


def _step(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte
