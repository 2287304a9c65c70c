"""Values of files that were written before a column was widened, as values of the type that the table has today.

Rules: `SchemaCompatibility` and `HoodieAvroUtils.rewritePrimaryType` (which types become which), `HoodieParquetFileFormatHelper` (a float
becomes a double through its text, so that 0.1 stays 0.1). The same holds in columns, structs, lists and the values of maps. What is not a
promotion is left as it is: `conform` says whether it fits.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.kernels.arrays.float_columns import as_doubles, float_strings


def promoted_type(stored: pa.DataType, table: pa.DataType) -> pa.DataType:
    """Return the type that values of a file have after promotion to the table's type; the file's own where nothing is promoted.

    Fields of structs are matched by name; those that only one side has stay.

    Example:
        >>> promoted_type(pa.list_(pa.int64()), pa.list_(pa.float32()))
        ListType(list<item: float>)
    """
    if stored.equals(table):
        return stored
    if pt.is_struct(stored) and pt.is_struct(table):
        return pa.struct([_promoted_field(field, table) for field in stored])
    if pt.is_list(stored) and pt.is_list(table):
        element = stored.value_field
        return pa.list_(element.with_type(promoted_type(element.type, table.value_type)))
    if pt.is_map(stored) and pt.is_map(table):
        value = stored.item_field
        return pa.map_(stored.key_field, value.with_type(promoted_type(value.type, table.item_type)))
    return table if _is_promotion(stored, table) else stored


def promoted_rows(rows: pa.Table, columns: pa.Schema) -> pa.Table:
    """Return rows of a file with the values of widened columns in the types of today; names, order and other columns stay.

    Raises:
        SchemaError: a value cannot be read as its column's type.
    """
    for position, field in enumerate(rows.schema):
        index = columns.get_field_index(field.name)
        if index < 0 or field.type.equals(columns.field(index).type):
            continue
        target = promoted_type(field.type, columns.field(index).type)
        if not target.equals(field.type):
            chunks = [promote_column(chunk, target, field.name) for chunk in rows.column(position).chunks]
            rows = rows.set_column(position, field.with_type(target), pa.chunked_array(chunks, target))
    return rows


def promote_column(column: pa.Array, target: pa.DataType, name: str) -> pa.Array:
    """Return values as those of a `promoted_type`; `name` is for messages.

    Raises:
        SchemaError: a value cannot be read as the type.
    """
    if column.type.equals(target):
        return column
    if pt.is_struct(target):
        parts = [promote_column(part, field.type, f"{name}.{field.name}") for part, field in zip(column.flatten(), target, strict=True)]
        optional = [field.with_nullable(True) for field in target]  # nulls of the struct are nulls of its fields
        return pa.StructArray.from_arrays(parts, fields=optional, mask=pc.is_null(column)).cast(target)
    if pt.is_list(target):
        values = promote_column(column.values, target.value_type, f"{name}.element")
        return pa.ListArray.from_arrays(copy_offsets(column), values, type=target, mask=null_mask(column))
    if pt.is_map(target):
        items = promote_column(column.items, target.item_type, f"{name}.value")
        return pa.MapArray.from_arrays(copy_offsets(column), column.keys, items, type=target, mask=null_mask(column))
    try:
        return convert_column(column, target)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ArithmeticError, ValueError) as error:
        raise SchemaError(f"Column '{name}' has a value of type {column.type} that cannot be read as {target}: {error}") from error


def convert_column(column: pa.Array, table: pa.DataType) -> pa.Array:
    """Return plain values as those of another plain type, as Apache Hudi converts them.

    Raises:
        ValueError, ArithmeticError, ArrowInvalid, ArrowNotImplementedError: a value has no such form.
    """
    old = column.type
    if pt.is_floating(old) and pt.is_string(table):
        return float_strings(column)
    if pt.is_float32(old) and pt.is_float64(table):
        return as_doubles(column)
    if pt.is_decimal(old) and pt.is_string(table):
        return _each(column, lambda value: format(value, "f"), table)
    if pt.is_decimal(table) and (pt.is_floating(old) or pt.is_string(old)):
        unit = Decimal(1).scaleb(-table.scale)
        strings = float_strings(column) if pt.is_floating(old) else column
        return _each(strings, lambda value: Decimal(value).quantize(unit, rounding=ROUND_HALF_UP), table)
    if pt.is_integer(old) and pt.is_decimal(table):
        return column.cast(pa.decimal128(38, 0)).cast(table)
    if pt.is_integer(old) and pt.is_floating(table):
        return column.cast(table, safe=False)
    return column.cast(table)


def copy_offsets(column: pa.Array) -> pa.Array:
    """Return the offsets of a list or map as an array of their own: a slice's cannot take a mask."""
    return pa.array(np.array(column.offsets), pa.int32())


def null_mask(column: pa.Array) -> pa.Array | None:
    """Return where a list or map is null; None where none is."""
    return pc.is_null(column) if column.null_count else None


def _promoted_field(field: pa.Field, table: pa.StructType) -> pa.Field:
    index = table.get_field_index(field.name)
    return field if index < 0 else field.with_type(promoted_type(field.type, table.field(index).type))


def _is_promotion(stored: pa.DataType, table: pa.DataType) -> bool:
    if pt.is_string(table):
        return bool(pt.is_integer(stored) or pt.is_floating(stored) or pt.is_date(stored) or pt.is_decimal(stored) or pt.is_binary(stored))
    if pt.is_floating(table):
        return bool(pt.is_integer(stored) or (pt.is_float32(stored) and pt.is_float64(table)))
    if pt.is_decimal(table) and pt.is_decimal(stored):
        return bool(stored.scale <= table.scale and stored.precision - stored.scale <= table.precision - table.scale)
    return bool((pt.is_int32(stored) and pt.is_int64(table)) or (pt.is_string(stored) and pt.is_binary(table)))


def _each(column: pa.Array, change: Callable[[Any], object], table: pa.DataType) -> pa.Array:
    return pa.array([None if value is None else change(value) for value in column.to_pylist()], table)
