"""Whole numbers of variable length: seven bits a byte, the lowest first, the highest bit of a byte set where more follow.

Protocol Buffers writes them plain, Avro with the sign in the lowest bit (zig-zag). Rules: Protocol Buffers encoding guide; Avro 1.11
specification, binary encoding. For columns of them: `pyhudi.kernels.arrays.varint_columns`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

Buffer: TypeAlias = "bytes | memoryview"
#: More than a number of 64 bits takes.
MAX_BYTES: Final = 10
_UNSIGNED: Final = 0xFFFFFFFFFFFFFFFF


def write_unsigned(value: int) -> bytes:
    """Return a number as Protocol Buffers writes it; a negative one takes ten bytes, as its two's complement.

    Example:
        >>> write_unsigned(300).hex()
        'ac02'
    """
    rest = value & _UNSIGNED
    out = bytearray()
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def read_unsigned(data: Buffer, at: int) -> tuple[int, int]:
    """Return the plain number that begins at a byte, and the offset of the byte after it.

    Raises:
        IndexError: the bytes end within.
        ValueError: the number has more bytes than any can have.
    """
    value, at = data[at], at + 1
    if value < 0x80:
        return value, at
    value &= 0x7F
    for shift in range(7, 7 * MAX_BYTES, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError(f"an overlong number before byte {at}")


def write_varint(value: int) -> bytes:
    """Return a number as Avro writes it.

    Example:
        >>> write_varint(-2).hex(), write_varint(64).hex()
        ('03', '8001')
    """
    return write_unsigned(value << 1 if value >= 0 else (-value << 1) - 1)


def read_varint(data: Buffer, at: int) -> tuple[int, int]:
    """Return the number of Avro that begins at a byte, and the offset of the byte after it; errors as in `read_unsigned`."""
    value = data[at]
    if value < 0x80:
        return (value >> 1) ^ -(value & 1), at + 1
    value, at = read_unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at


def prefix_length(data: bytes) -> bytes:
    """Return bytes after their length, as Avro writes strings and bytes."""
    return write_varint(len(data)) + data


def prefix_lengths(strings: Iterable[str]) -> list[bytes]:
    """Return strings as Avro writes them; those of one length, as names of files are, cost little more than their own bytes.

    Example:
        >>> [one.hex() for one in prefix_lengths(["a", "bc"])]
        ['0261', '046263']
    """
    lengths: dict[int, bytes] = {}
    result = []
    for data in map(str.encode, strings):
        length = lengths.get(len(data))
        if length is None:
            length = lengths[len(data)] = write_varint(len(data))
        result.append(length + data)
    return result
