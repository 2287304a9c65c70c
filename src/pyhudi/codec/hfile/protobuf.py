"""The little of Protocol Buffers that HFile needs: messages of numbers and byte strings, after their length.

Rules: Protocol Buffers encoding guide. Unknown fields are kept by their number, those of fixed width as their bytes.
"""

from __future__ import annotations

from pyhudi.codec.cursor import Cursor
from pyhudi.codec.varint import write_unsigned
from pyhudi.errors import CorruptTableError

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


def read_fields(data: bytes, what: str) -> list[tuple[int, int | bytes]]:
    """Return the fields of a message in their order, as (number, value).

    Raises:
        CorruptTableError: the bytes are cut off or no message.
    """
    cursor = Cursor(data, what)
    fields: list[tuple[int, int | bytes]] = []
    while cursor.left:
        number, kind = divmod(cursor.read_unsigned(), 8)
        if kind == _VARINT:
            fields.append((number, cursor.read_unsigned()))
        elif kind == _BYTES:
            fields.append((number, cursor.take(cursor.read_unsigned())))
        elif kind in (_FIXED_32, _FIXED_64):
            fields.append((number, cursor.take(4 if kind == _FIXED_32 else 8)))
        else:
            raise CorruptTableError(f"{what} holds a field of unknown kind {kind}")
    return fields


def write_field(number: int, value: int | bytes) -> bytes:
    """Encode one field of a message."""
    if isinstance(value, int):
        return write_unsigned(number << 3 | _VARINT) + write_unsigned(value)
    return write_unsigned(number << 3 | _BYTES) + prefix_length(value)


def prefix_length(data: bytes) -> bytes:
    """Return bytes after their length."""
    return write_unsigned(len(data)) + data
