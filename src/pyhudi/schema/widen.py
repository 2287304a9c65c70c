"""The type that holds both the values of a table and those of new data.

Rules: Hudi's promotions (`SchemaCompatibility`, `AvroSchemaEvolutionUtils.reconcileSchemaRequirements`, observed with 1.2.0), in columns,
structs, lists and maps: int, long, float, double, string in this order, date and decimal to string, decimals with more digits. The table
takes the wider of two types; narrower data are cast.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.schema.promoted_rows import is_promotion, takes_exactly
from pyhudi.schema.storable import is_all_null


def widen_type(table: pa.DataType, data: pa.DataType, column: str, *, are_cast: bool = True) -> pa.DataType:
    """Return the type of a table's column after data of type `data` comes; `column` is its dotted path, for messages.

    Data are rows that a writer casts; files that stay as they are, such as sources of a bootstrap, are not (`are_cast=False`).

    Raises:
        SchemaError: there is no such type; names the column and both types.

    Example:
        >>> widen_type(pa.int64(), pa.float32(), "price")
        DataType(float)
    """
    if not are_cast and (wider := _type_of_files(table, data)) is not None:
        return wider
    if table == data or pt.is_null(data) or is_promotion(data, table) or _takes(table, data, are_cast):
        return table
    if is_promotion(table, data):
        return data
    if pt.is_struct(table) and pt.is_struct(data):
        return _widen_struct(table, data, column, are_cast)
    if pt.is_list(table) and pt.is_list(data):
        element = table.value_field
        return pa.list_(element.with_type(widen_type(element.type, data.value_type, f"{column}.element", are_cast=are_cast)))
    if pt.is_map(table) and pt.is_map(data):
        value = table.item_field
        return pa.map_(table.key_type, value.with_type(widen_type(value.type, data.item_type, f"{column}.value", are_cast=are_cast)))
    raise SchemaError(
        f"Column '{column}' has type {data} in the data and {table} in the table, and neither holds both. Cast the data to {table}."
    )


def _type_of_files(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return the type under which files of two types are read as they are, whichever is first: of text the bytes, of wall-clock times those
    of UTC; None for other types.
    """
    if {one, other} == {pa.string(), pa.binary()}:
        return pa.binary()
    if pt.is_timestamp(one) and pt.is_timestamp(other):
        return other if one.tz is None else one
    return None


def _takes(table: pa.DataType, data: pa.DataType, are_cast: bool) -> bool:
    """Tell whether a column takes data of another type that Hudi does not promote, as far as their values are the same."""
    if pt.is_timestamp(table) and pt.is_timestamp(data):
        return bool(table.tz is not None or data.tz is None)
    return are_cast and takes_exactly(data, table)


def new_field(field: pa.Field, column: str) -> pa.Field:
    """Return a field that the table does not have yet, once it is sure that it has a type.

    Raises:
        SchemaError: all its values are null.
    """
    if is_all_null(field.type):
        raise SchemaError(f"Column '{column}' holds only nulls and has no type. Cast it to the type it shall have, or drop it.")
    return field


def _widen_struct(table: pa.StructType, data: pa.StructType, column: str, are_cast: bool) -> pa.DataType:
    by_name = {field.name: field for field in data}
    fields = []
    for field in table:
        path = f"{column}.{field.name}"
        match = by_name.pop(field.name, None)
        if match is None and not field.nullable:
            raise SchemaError(f"Column '{path}' is missing in the data, and the table does not allow nulls in it.")
        fields.append(field if match is None else field.with_type(widen_type(field.type, match.type, path, are_cast=are_cast)))
    known = {field.name.lower(): field.name for field in table}
    for field in by_name.values():
        if field.name.lower() in known:
            raise SchemaError(
                f"Column '{column}' has a field '{field.name}' in the data and '{known[field.name.lower()]}' in the "
                "table; fields of a struct are matched with their case. Rename it."
            )
        fields.append(new_field(field, f"{column}.{field.name}").with_nullable(True))
    return pa.struct(fields)
