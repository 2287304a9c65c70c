"""The little of Protocol Buffers that HFile needs: messages of numbers and byte strings, after their length.

Rules: Protocol Buffers encoding guide. Unknown fields are kept by their number, those of fixed width as their bytes.
"""

from __future__ import annotations

from pyhudi.codec.cursor import Cursor
from pyhudi.errors import CorruptTableError

_MAX_VARINT_BYTES = 10
_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


def read_varint(cursor: Cursor) -> int:
    """Return a number, seven bits a byte, least significant first; never negative."""
    value = 0
    for shift in range(0, 7 * _MAX_VARINT_BYTES, 7):
        byte = cursor.take(1)[0]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value
    raise CorruptTableError(f"{cursor.what} holds an overlong number before {cursor.at}")


def write_varint(value: int) -> bytes:
    """Encode a number; a negative one takes ten bytes, as its two's complement."""
    rest = value & 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def read_fields(data: bytes, what: str) -> list[tuple[int, int | bytes]]:
    """Return the fields of a message in their order, as (number, value).

    Raises:
        CorruptTableError: the bytes are cut off or no message.
    """
    cursor = Cursor(data, what)
    fields: list[tuple[int, int | bytes]] = []
    while cursor.left:
        number, kind = divmod(read_varint(cursor), 8)
        if kind == _VARINT:
            fields.append((number, read_varint(cursor)))
        elif kind == _BYTES:
            fields.append((number, cursor.take(read_varint(cursor))))
        elif kind in (_FIXED_32, _FIXED_64):
            fields.append((number, cursor.take(4 if kind == _FIXED_32 else 8)))
        else:
            raise CorruptTableError(f"{what} holds a field of unknown kind {kind}")
    return fields


def write_field(number: int, value: int | bytes) -> bytes:
    """Encode one field of a message."""
    if isinstance(value, int):
        return write_varint(number << 3 | _VARINT) + write_varint(value)
    return write_varint(number << 3 | _BYTES) + prefix_length(value)


def prefix_length(data: bytes) -> bytes:
    """Return bytes after their length."""
    return write_varint(len(data)) + data
