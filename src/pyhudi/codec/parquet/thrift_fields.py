"""Where the fields of structs of Thrift's compact protocol are, for metadata that is copied but for some of its numbers.

To find fields takes a fraction of the time that decoding them takes. What `compact_protocol` refuses is refused here, too: readers raise
IndexError at the end of the bytes, and ValueError says what is wrong.

Rules: Apache Thrift, specification of the compact protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from pyhudi.codec.parquet.compact_protocol import (
    BINARY,
    DEPTH_MAX,
    FALSE,
    I16,
    I64,
    LIST,
    SET,
    STRUCT,
    TRUE,
    ThriftStruct,
    Value,
    field_header,
    list_header,
    read_value,
)
from pyhudi.codec.varint import Buffer, read_unsigned
from pyhudi.errors import CorruptTableError

#: The fields of a struct by their numbers: type, offset of the value, offset after it, and the value of a whole number, 0 for others.
Fields: TypeAlias = dict[int, tuple[int, int, int, int]]
Item = TypeVar("Item")


def find_fields(data: Buffer, at: int, number: int = 0) -> tuple[Fields, int]:
    """Return where the fields of the struct at an offset are, and the offset after it; `number` is that of a field that ends there.

    Example:
        >>> find_fields(bytes.fromhex("150218016100"), 0)
        ({1: (5, 1, 2, 1), 2: (8, 3, 5, 0)}, 6)
    """
    fields: Fields = {}
    while data[at]:
        kind, number, at = field_header(data, at, number)
        begin, value = at, 0
        if I16 <= kind <= I64:
            value = data[at]
            if value < 0x80:
                at += 1
            else:
                value, at = read_unsigned(data, at)
            value = (value >> 1) ^ -(value & 1)
        elif kind not in (TRUE, FALSE):
            at = skip_value(data, at, kind, 0)
        fields[number] = kind, begin, at, value
    return fields, at + 1


def skip_value(data: Buffer, at: int, kind: int, depth: int) -> int:
    """Return the offset after a value, which may be an item of a list."""
    if kind == BINARY:
        length, at = read_unsigned(data, at)
        return at + length
    if kind == STRUCT:
        return _skip_struct(data, at, depth + 1)
    if kind in (LIST, SET):
        count, kind, at = list_header(data, at)
        for _ in range(count):
            if kind == STRUCT:
                at = _skip_struct(data, at, depth + 1)
            else:
                at = at + 1 if I16 <= kind <= I64 and data[at] < 0x80 else skip_value(data, at, kind, depth + 1)
        return at
    if I16 <= kind <= I64:
        return read_unsigned(data, at)[1]
    return read_value(data, at, kind, depth)[1]  # what Parquet's metadata has few of


def _skip_struct(data: Buffer, at: int, depth: int) -> int:
    if depth > DEPTH_MAX:
        raise ValueError(f"structs more than {DEPTH_MAX} levels deep at {at}")
    while header := data[at]:
        at += 1
        kind = header & 0x0F
        if header <= 0x0F:
            _, at = read_unsigned(data, at)  # its number
        if I16 <= kind <= I64:
            at = at + 1 if data[at] < 0x80 else read_unsigned(data, at)[1]
        elif kind == BINARY and data[at] < 0x80:
            at += data[at] + 1
        elif kind not in (TRUE, FALSE):
            at = skip_value(data, at, kind, depth)
    return at + 1


def read_until(
    data: Buffer, at: int, last: int, read_item: Callable[[Buffer, int], tuple[Item, int]], number: int = 0
) -> tuple[ThriftStruct, list[Item], int]:
    """Return the fields of a struct in front of the field `last`, the items of this field, a list of structs, and the offset after it.

    Args:
        data: the bytes.
        at: the offset of the struct.
        last: the number of the field.
        read_item: returns what is made of the struct at an offset, and the offset after it.
        number: of the field that ends at the offset, if the first fields have been read.
    """
    fields: ThriftStruct = {}
    while data[at]:
        kind, number, at = field_header(data, at, number)
        if number == last and kind == LIST:
            items, at = read_items(data, at, read_item)
            return fields, items, at
        fields[number], at = read_field(data, at, kind)
    raise ValueError(f"a struct that ends at {at} without its list {last}")


def read_items(data: Buffer, at: int, read_item: Callable[[Buffer, int], tuple[Item, int]]) -> tuple[list[Item], int]:
    """Return what `read_item` makes of each struct of the list at an offset, and the offset after the list."""
    count, kind, at = list_header(data, at)
    if kind != STRUCT:
        raise ValueError(f"a list of the type {kind} at {at}, where structs belong")
    items: list[Item] = []
    for _ in range(count):
        item, at = read_item(data, at)
        items.append(item)
    return items, at


def read_field(data: Buffer, at: int, kind: int) -> tuple[tuple[int, Value], int]:
    """Return type and value of a field as `ThriftStruct` has them, and the offset after it."""
    if kind in (TRUE, FALSE):
        return (TRUE, kind == TRUE), at
    value, at = read_value(data, at, kind, 0)
    return (kind, value), at


def number_in(fields: Fields, number: int) -> int:
    """Return a number of a struct, 0 where it is not given.

    Raises:
        CorruptTableError: the value is no number.
    """
    if number not in fields:
        return 0
    kind, _, _, value = fields[number]
    if not I16 <= kind <= I64:
        raise CorruptTableError(f"metadata of a Parquet file has a value of the type {kind} where a number belongs")
    return value
