"""Structs of Thrift's compact protocol, read and written without their definition: what is not understood is written as it was read.

Rules: Apache Thrift, specification of the compact protocol.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, Union

from pyhudi.codec.cursor import Cursor
from pyhudi.codec.varint import write_unsigned, write_varint
from pyhudi.errors import CorruptTableError

TRUE: Final = 1
FALSE: Final = 2
I8: Final = 3
I16: Final = 4
I32: Final = 5
I64: Final = 6
DOUBLE: Final = 7
BINARY: Final = 8
LIST: Final = 9
SET: Final = 10
MAP: Final = 11
STRUCT: Final = 12
_WHOLE: Final = (I16, I32, I64)
_DOUBLE_FORMAT: Final = struct.Struct("<d")
#: Structs within structs: Parquet's own metadata has less than ten levels.
_DEPTH_MAX: Final = 32

Value: TypeAlias = Union[bool, int, float, bytes, "ThriftList", "ThriftMap", "ThriftStruct"]
#: The fields of a struct by their numbers: type and value. The type of a boolean is TRUE, whichever it is.
ThriftStruct: TypeAlias = dict[int, tuple[int, Value]]


@dataclass(slots=True)
class ThriftList:
    """A list or set: the type of its items, and they."""

    item_type: int
    items: list[Value]


@dataclass(slots=True)
class ThriftMap:
    """A map: the types of keys and values, and its entries."""

    key_type: int
    value_type: int
    entries: list[tuple[Value, Value]]


def read_struct(data: bytes, what: str, at: int = 0) -> tuple[ThriftStruct, int]:
    """Return the struct at an offset of some bytes, and how many bytes it takes.

    Args:
        data: the bytes; more may follow the struct.
        what: names them in errors.
        at: the offset.

    Raises:
        CorruptTableError: the bytes are no struct of the compact protocol.

    Example:
        >>> read_struct(bytes.fromhex("15022c00"), "an example")
        Traceback (most recent call last):
        pyhudi.errors.CorruptTableError: an example asks for 1 bytes at 4, 0 are left
        >>> read_struct(bytes.fromhex("150200"), "an example")
        ({1: (5, 1)}, 3)
    """
    cursor = Cursor(data, what, at)
    return _read_struct(cursor, 0), cursor.at - at


def write_struct(fields: ThriftStruct) -> bytes:
    """Return a struct as bytes.

    Example:
        >>> write_struct({1: (I32, 1)}).hex()
        '150200'
    """
    out, last = bytearray(), 0
    for number, (kind, value) in sorted(fields.items()):
        header = (TRUE if value else FALSE) if kind == TRUE else kind
        if 0 < number - last <= 15:
            out.append((number - last) << 4 | header)
        else:
            out.append(header)
            out += write_varint(number)
        if kind != TRUE:
            out += _write_value(kind, value)
        last = number
    out.append(0)
    return bytes(out)


def _read_struct(cursor: Cursor, depth: int) -> ThriftStruct:
    if depth > _DEPTH_MAX:
        raise CorruptTableError(f"{cursor.what} nests structs more than {_DEPTH_MAX} levels deep at {cursor.at}")
    fields: ThriftStruct = {}
    number = 0
    while header := cursor.take(1)[0]:
        number = number + (header >> 4) if header >> 4 else cursor.read_varint()
        kind = header & 0x0F
        if kind in (TRUE, FALSE):
            fields[number] = TRUE, kind == TRUE
        else:
            fields[number] = kind, _read_value(cursor, kind, depth)
    return fields


def _read_value(cursor: Cursor, kind: int, depth: int) -> Value:
    if kind in _WHOLE:
        return cursor.read_varint()
    if kind == BINARY:
        return cursor.take(cursor.read_unsigned())
    if kind == STRUCT:
        return _read_struct(cursor, depth + 1)
    if kind in (LIST, SET):
        return _read_list(cursor, depth + 1)
    if kind == MAP:
        return _read_map(cursor, depth + 1)
    if kind == DOUBLE:
        return float(_DOUBLE_FORMAT.unpack(cursor.take(_DOUBLE_FORMAT.size))[0])
    if kind in (TRUE, FALSE):  # of a list: a byte each
        return cursor.take(1)[0] == TRUE
    if kind == I8:
        return int.from_bytes(cursor.take(1), "big", signed=True)
    raise CorruptTableError(f"{cursor.what} has a value of the unknown type {kind} at {cursor.at}")


def _read_list(cursor: Cursor, depth: int) -> ThriftList:
    header = cursor.take(1)[0]
    count = header >> 4 if header >> 4 < 15 else cursor.read_unsigned()
    _check_count(cursor, count)
    kind = header & 0x0F
    return ThriftList(kind, [_read_value(cursor, kind, depth) for _ in range(count)])


def _read_map(cursor: Cursor, depth: int) -> ThriftMap:
    count = cursor.read_unsigned()
    if not count:
        return ThriftMap(BINARY, BINARY, [])
    _check_count(cursor, count)
    kinds = cursor.take(1)[0]
    key, value = kinds >> 4, kinds & 0x0F
    return ThriftMap(key, value, [(_read_value(cursor, key, depth), _read_value(cursor, value, depth)) for _ in range(count)])


def _check_count(cursor: Cursor, count: int) -> None:
    """Refuse more items than bytes: each takes one at least."""
    if count > cursor.left:
        raise CorruptTableError(f"{cursor.what} says {count} items at {cursor.at}, {cursor.left} bytes are left")


def _write_value(kind: int, value: Value) -> bytes:
    if isinstance(value, bool):
        return bytes([TRUE if value else FALSE])
    if isinstance(value, int):
        return write_varint(value) if kind in _WHOLE else value.to_bytes(1, "big", signed=True)
    if isinstance(value, float):
        return _DOUBLE_FORMAT.pack(value)
    if isinstance(value, bytes):
        return write_unsigned(len(value)) + value
    if isinstance(value, ThriftList):
        return _write_list(value.item_type, value.items)
    if isinstance(value, ThriftMap):
        if not value.entries:
            return write_unsigned(0)
        entries = (_write_value(value.key_type, key) + _write_value(value.value_type, one) for key, one in value.entries)
        return write_unsigned(len(value.entries)) + bytes([value.key_type << 4 | value.value_type]) + b"".join(entries)
    return write_struct(value)


def _write_list(kind: int, items: Sequence[Value]) -> bytes:
    count = bytes([len(items) << 4 | kind]) if len(items) < 15 else bytes([0xF0 | kind]) + write_unsigned(len(items))
    return count + b"".join(_write_value(kind, item) for item in items)
