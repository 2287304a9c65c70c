"""The type that holds both the values of a table and those of new data, where all readers can still read the files
written before.

Rules: the widenings that Hudi allows, cut down to those that Hudi, Spark's vectorised scan and hudi-rs all read from
old files.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.schema.storable import is_all_null

#: Types of a table's columns that grow when data of the wider type comes. Not inside lists, maps and structs: Apache
#: Hudi 1.2 does not read a file whose nested types differ from the table's. Not from float to double: Hudi and hudi-rs
#: read a stored 0.1 as 0.1 then, Spark as 0.10000000149011612.
_GROWS = {
    (pa.int32(), pa.int64()): pa.int64(),
    (pa.int32(), pa.float64()): pa.float64(),
}
#: Data of the second type is stored in columns of the first, value by value checked.
_TAKES = frozenset(
    {
        (pa.int64(), pa.int32()),
        (pa.float32(), pa.int32()),
        (pa.float64(), pa.int32()),
        (pa.float64(), pa.int64()),
        (pa.float64(), pa.float32()),
    }
)
_INTEGER_DIGITS = {pa.int32(): 10, pa.int64(): 19}


def widen_type(table: pa.DataType, data: pa.DataType, column: str) -> pa.DataType:
    """Return the type of a table's column after data of type `data` comes; `column` is its dotted path, for messages.

    Raises:
        SchemaError: there is no such type; names the column and both types.
    """
    return _GROWS.get((table, data)) or _widen_nested(table, data, column)


def _widen_nested(table: pa.DataType, data: pa.DataType, column: str) -> pa.DataType:
    """The table's type, with fields added to its structs: below the top of a column no type may grow."""
    if table == data or pt.is_null(data) or (table, data) in _TAKES:
        return table
    if pt.is_timestamp(table) and pt.is_timestamp(data) and (table.tz is not None or data.tz is None):
        return table
    if pt.is_decimal128(table) and _fits_decimal(table, data):
        return table
    if pt.is_struct(table) and pt.is_struct(data):
        return _widen_struct(table, data, column)
    if pt.is_list(table) and pt.is_list(data):
        element = table.value_field
        return pa.list_(element.with_type(_widen_nested(element.type, data.value_type, f"{column}.element")))
    if pt.is_map(table) and pt.is_map(data):
        value = table.item_field
        return pa.map_(table.key_type, value.with_type(_widen_nested(value.type, data.item_type, f"{column}.value")))
    raise SchemaError(
        f"Column '{column}' has type {data} in the data and {table} in the table; files written before could not be "
        f"read under a type that holds both. Cast the data to {table}."
    )


def new_field(field: pa.Field, column: str) -> pa.Field:
    """Return a field that the table does not have yet, once it is sure that it has a type.

    Raises:
        SchemaError: all its values are null.
    """
    if is_all_null(field.type):
        raise SchemaError(f"Column '{column}' holds only nulls and has no type. Cast it to the type it shall have, or drop it.")
    return field


def _fits_decimal(table: pa.Decimal128Type, data: pa.DataType) -> bool:
    whole_digits = table.precision - table.scale
    if pt.is_decimal128(data):
        return bool(data.scale <= table.scale and data.precision - data.scale <= whole_digits)
    return data in _INTEGER_DIGITS and _INTEGER_DIGITS[data] <= whole_digits


def _widen_struct(table: pa.StructType, data: pa.StructType, column: str) -> pa.DataType:
    by_name = {field.name: field for field in data}
    fields = []
    for field in table:
        path = f"{column}.{field.name}"
        match = by_name.pop(field.name, None)
        if match is None and not field.nullable:
            raise SchemaError(f"Column '{path}' is missing in the data, and the table does not allow nulls in it.")
        fields.append(field if match is None else field.with_type(_widen_nested(field.type, match.type, path)))
    known = {field.name.lower(): field.name for field in table}
    for field in by_name.values():
        if field.name.lower() in known:
            raise SchemaError(
                f"Column '{column}' has a field '{field.name}' in the data and '{known[field.name.lower()]}' in the "
                "table; fields of a struct are matched with their case. Rename it."
            )
        fields.append(new_field(field, f"{column}.{field.name}").with_nullable(True))
    return pa.struct(fields)
