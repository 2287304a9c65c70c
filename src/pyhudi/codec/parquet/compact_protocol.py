"""Structs of Thrift's compact protocol, read and written without their definition: what is not understood is written as it was read.

A footer has some hundred fields, and a clustering reads hundreds of footers: readers return the next offset, writers append to one
buffer, and numbers of one byte, which most are, are read in place.

Rules: Apache Thrift, specification of the compact protocol.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, Union

from pyhudi.codec.varint import Buffer, read_unsigned, read_varint
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
WHOLE: Final = (I16, I32, I64)
_DOUBLE_FORMAT: Final = struct.Struct("<d")
#: Structs within structs: Parquet's own metadata has less than ten levels.
DEPTH_MAX: Final = 32
_UNSIGNED: Final = 0xFFFFFFFFFFFFFFFF

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


def read_struct(data: Buffer, what: str, at: int = 0, *, after: int = 0) -> tuple[ThriftStruct, int]:
    """Return the struct at an offset of some bytes, and how many bytes it takes.

    Args:
        data: the bytes; more may follow the struct.
        what: names them in errors.
        at: the offset.
        after: the number of the field that ends there, if the first fields have been read.

    Raises:
        CorruptTableError: the bytes are no struct of the compact protocol.

    Example:
        >>> read_struct(bytes.fromhex("15022c00"), "an example")
        Traceback (most recent call last):
        pyhudi.errors.CorruptTableError: an example ends within a struct of Thrift that begins at byte 0
        >>> read_struct(bytes.fromhex("150200"), "an example")
        ({1: (5, 1)}, 3)
    """
    try:
        fields, end = read_fields(data, at, 0, after)
    except IndexError:
        raise CorruptTableError(f"{what} ends within a struct of Thrift that begins at byte {at}") from None
    except ValueError as error:
        raise CorruptTableError(f"{what} holds {error}") from None
    return fields, end - at


def write_struct(fields: ThriftStruct, *, after: int = 0) -> bytes:
    """Return a struct as bytes, or those of its fields behind the field `after`. A struct within may be given as its bytes.

    Example:
        >>> write_struct({1: (I32, 1)}).hex()
        '150200'
    """
    out = bytearray()
    _write_struct(out, fields, after)
    return bytes(out)


def read_fields(data: Buffer, at: int, depth: int, number: int = 0) -> tuple[ThriftStruct, int]:
    """Return a struct, and the offset after it; all readers raise IndexError at the end of the bytes, ValueError says what is wrong."""
    if depth > DEPTH_MAX:
        raise ValueError(f"structs more than {DEPTH_MAX} levels deep at {at}")
    fields: ThriftStruct = {}
    while data[at]:
        kind, number, at = field_header(data, at, number)
        if kind in WHOLE:
            value = data[at]
            if value < 0x80:
                fields[number] = kind, (value >> 1) ^ -(value & 1)
                at += 1
            else:
                whole, at = read_varint(data, at)
                fields[number] = kind, whole
        elif kind in (TRUE, FALSE):
            fields[number] = TRUE, kind == TRUE
        else:
            other, at = read_value(data, at, kind, depth)
            fields[number] = kind, other
    return fields, at + 1


def field_header(data: Buffer, at: int, number: int) -> tuple[int, int, int]:
    """Return type and number of the field at an offset, behind the field `number`, and its value's offset; errors as in `read_fields`."""
    header = data[at]
    if header > 0x0F:
        return header & 0x0F, number + (header >> 4), at + 1
    number, at = read_varint(data, at + 1)
    return header, number, at


def read_value(data: Buffer, at: int, kind: int, depth: int) -> tuple[Value, int]:
    """Return the value of a type at an offset, and the offset after it; errors as in `read_fields`."""
    if kind == BINARY:
        length, at = read_unsigned(data, at)
        return _taken(data, at, length), at + length
    if kind == STRUCT:
        return read_fields(data, at, depth + 1)
    if kind in (LIST, SET):
        return _read_list(data, at, depth + 1)
    if kind in WHOLE:
        return read_varint(data, at)
    if kind == MAP:
        return _read_map(data, at, depth + 1)
    if kind == DOUBLE:
        return float(_DOUBLE_FORMAT.unpack(_taken(data, at, _DOUBLE_FORMAT.size))[0]), at + _DOUBLE_FORMAT.size
    return _read_byte(data, at, kind), at + 1


def _read_byte(data: Buffer, at: int, kind: int) -> Value:
    if kind in (TRUE, FALSE):  # of a list: a byte each
        return data[at] == TRUE
    if kind == I8:
        return (data[at] ^ 0x80) - 0x80
    raise ValueError(f"a value of the unknown type {kind} at {at}")


def _taken(data: Buffer, at: int, length: int) -> bytes:
    if at + length > len(data):
        raise IndexError
    return bytes(data[at : at + length])


def list_header(data: Buffer, at: int) -> tuple[int, int, int]:
    """Return how many items the list at an offset has, their type, and the offset of the first; errors as in `read_fields`."""
    header, at = data[at], at + 1
    count = header >> 4
    if count == 15:
        count, at = read_unsigned(data, at)
        _check_count(data, at, count)
    return count, header & 0x0F, at


def _read_list(data: Buffer, at: int, depth: int) -> tuple[ThriftList, int]:
    count, kind, at = list_header(data, at)
    items: list[Value] = []
    for _ in range(count):
        item, at = read_value(data, at, kind, depth)
        items.append(item)
    return ThriftList(kind, items), at


def _read_map(data: Buffer, at: int, depth: int) -> tuple[ThriftMap, int]:
    count, at = read_unsigned(data, at)
    if not count:
        return ThriftMap(BINARY, BINARY, []), at
    _check_count(data, at, count)
    kinds, at = data[at], at + 1
    entries: list[tuple[Value, Value]] = []
    for _ in range(count):
        key, at = read_value(data, at, kinds >> 4, depth)
        value, at = read_value(data, at, kinds & 0x0F, depth)
        entries.append((key, value))
    return ThriftMap(kinds >> 4, kinds & 0x0F, entries), at


def _check_count(data: Buffer, at: int, count: int) -> None:
    """Refuse more items than bytes: each takes one at least."""
    if count > len(data) - at:
        raise ValueError(f"{count} items at {at}, where {len(data) - at} bytes are left")


def _write_struct(out: bytearray, fields: ThriftStruct, last: int = 0) -> None:
    for number in sorted(fields):
        kind, value = fields[number]
        header = (TRUE if value else FALSE) if kind == TRUE else kind
        if 0 < number - last <= 15:
            out.append((number - last) << 4 | header)
        else:
            out.append(header)
            _write_number(out, number)
        if kind != TRUE:
            _write_value(out, kind, value)
        last = number
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Value) -> None:
    if isinstance(value, bool):
        out.append(TRUE if value else FALSE)
    elif isinstance(value, int):
        if kind in WHOLE:
            _write_number(out, value)
        else:
            out.append(value & 0xFF)
    elif isinstance(value, bytes):
        if kind != STRUCT:
            _write_unsigned(out, len(value))
        out += value
    elif isinstance(value, dict):
        _write_struct(out, value)
    elif isinstance(value, ThriftList):
        _write_list(out, value.item_type, value.items)
    elif isinstance(value, ThriftMap):
        _write_map(out, value)
    else:
        out += _DOUBLE_FORMAT.pack(value)


def _write_number(out: bytearray, value: int) -> None:
    _write_unsigned(out, value << 1 if value >= 0 else (-value << 1) - 1)


def _write_unsigned(out: bytearray, value: int) -> None:
    rest = value & _UNSIGNED
    while rest >= 0x80:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)


def _write_list(out: bytearray, kind: int, items: Sequence[Value]) -> None:
    if len(items) < 15:
        out.append(len(items) << 4 | kind)
    else:
        out.append(0xF0 | kind)
        _write_unsigned(out, len(items))
    for item in items:
        _write_value(out, kind, item)


def _write_map(out: bytearray, value: ThriftMap) -> None:
    _write_unsigned(out, len(value.entries))
    if value.entries:
        out.append(value.key_type << 4 | value.value_type)
    for key, one in value.entries:
        _write_value(out, value.key_type, key)
        _write_value(out, value.value_type, one)
