"""Values of a narrower type as values of a wider one: of files that were written before a column was widened, and of data.

Rules: `SchemaCompatibility` and `HoodieAvroUtils.rewritePrimaryType` (which types become which), `HoodieParquetFileFormatHelper` (a float
becomes a double through its text, so that 0.1 stays 0.1). The same holds in columns, structs, lists and the values of maps. What is not a
promotion is left as it is: `conform` says whether it fits.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.schema.float_columns import as_doubles, float_strings

#: More digits than any decimal of a table has.
_DIGITS: Final = Context(prec=76)


def promoted_type(stored: pa.DataType, table: pa.DataType, *, exact: bool = False) -> pa.DataType:
    """Return the type that values have after promotion to the table's type; their own where nothing is promoted.

    Fields of structs are matched by name; those that only one side has stay. With `exact`, values of data are meant, of which a column
    takes some more types (`takes_exactly`).

    Example:
        >>> promoted_type(pa.list_(pa.int64()), pa.list_(pa.float32()))
        ListType(list<item: float>)
    """
    if stored.equals(table):
        return stored
    if pt.is_struct(stored) and pt.is_struct(table):
        return pa.struct([_promoted_field(field, table, exact=exact) for field in stored])
    if pt.is_list(stored) and pt.is_list(table):
        element = stored.value_field
        return pa.list_(element.with_type(promoted_type(element.type, table.value_type, exact=exact)))
    if pt.is_map(stored) and pt.is_map(table):
        value = stored.item_field
        return pa.map_(stored.key_field, value.with_type(promoted_type(value.type, table.item_type, exact=exact)))
    return table if is_promotion(stored, table) or (exact and takes_exactly(stored, table)) else stored


def is_promotion(stored: pa.DataType, table: pa.DataType) -> bool:
    """Tell whether Hudi reads values of a plain type as another plain type that is wider.

    Example:
        >>> is_promotion(pa.int32(), pa.string()), is_promotion(pa.string(), pa.int32())
        (True, False)
    """
    if pt.is_string(table):
        return bool(pt.is_integer(stored) or pt.is_floating(stored) or pt.is_date(stored) or pt.is_decimal(stored) or pt.is_binary(stored))
    if pt.is_floating(table):
        return bool(pt.is_integer(stored) or (pt.is_float32(stored) and pt.is_float64(table)))
    if pt.is_decimal(table) and pt.is_decimal(stored):
        return bool(stored.scale <= table.scale and stored.precision - stored.scale <= table.precision - table.scale)
    return bool((pt.is_int32(stored) and pt.is_int64(table)) or (pt.is_string(stored) and pt.is_binary(table)))


def takes_exactly(data: pa.DataType, table: pa.DataType) -> bool:
    """Tell whether a column takes data of a type that Hudi casts to the column's, as far as no value changes: numbers and text as decimals,
    text as dates.
    """
    if pt.is_decimal(table):
        return bool(pt.is_integer(data) or pt.is_floating(data) or pt.is_string(data))
    return bool(pt.is_date(table) and pt.is_string(data))


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


def promote_column(column: pa.Array, target: pa.DataType, name: str, *, exact: bool = False) -> pa.Array:
    """Return values as those of a `promoted_type`; `name` is for messages.

    Args:
        column: the values.
        target: their type after promotion.
        name: the dotted path of the column.
        exact: refuse whole numbers that a floating point type cannot hold, which files are read with rounded.

    Raises:
        SchemaError: a value cannot be read as the type.
    """
    if column.type.equals(target):
        return column
    if pt.is_struct(target):
        parts = [
            promote_column(part, field.type, f"{name}.{field.name}", exact=exact)
            for part, field in zip(column.flatten(), target, strict=True)
        ]
        optional = [field.with_nullable(True) for field in target]  # nulls of the struct are nulls of its fields
        return pa.StructArray.from_arrays(parts, fields=optional, mask=pc.is_null(column)).cast(target)
    if pt.is_list(target):
        values = promote_column(column.values, target.value_type, f"{name}.element", exact=exact)
        return pa.ListArray.from_arrays(copy_offsets(column), values, type=target, mask=null_mask(column))
    if pt.is_map(target):
        items = promote_column(column.items, target.item_type, f"{name}.value", exact=exact)
        return pa.MapArray.from_arrays(copy_offsets(column), column.keys, items, type=target, mask=null_mask(column))
    try:
        return convert_column(column, target, exact=exact)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ArithmeticError, ValueError) as error:
        raise SchemaError(f"Column '{name}' has a value of type {column.type} that cannot be read as {target}: {error}") from error


def convert_column(column: pa.Array, table: pa.DataType, *, exact: bool = False) -> pa.Array:
    """Return plain values as those of another plain type, as Apache Hudi converts them; `exact` as for `promote_column`.

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
        strings = float_strings(column) if pt.is_floating(old) else column
        return _each(strings, partial(_decimal, unit=Decimal(1).scaleb(-table.scale), exact=exact), table)
    if pt.is_integer(old) and pt.is_decimal(table):
        return column.cast(pa.decimal128(38, 0)).cast(table)
    if pt.is_integer(old) and pt.is_floating(table):
        return column.cast(table, safe=exact)
    return column.cast(table)


def copy_offsets(column: pa.Array) -> pa.Array:
    """Return the offsets of a list or map as an array of their own: a slice's cannot take a mask."""
    return pa.array(np.array(column.offsets), pa.int32())


def null_mask(column: pa.Array) -> pa.Array | None:
    """Return where a list or map is null; None where none is."""
    return pc.is_null(column) if column.null_count else None


def _promoted_field(field: pa.Field, table: pa.StructType, *, exact: bool) -> pa.Field:
    index = table.get_field_index(field.name)
    return field if index < 0 else field.with_type(promoted_type(field.type, table.field(index).type, exact=exact))


def _decimal(text: str, *, unit: Decimal, exact: bool) -> Decimal:
    value = Decimal(text)
    result = value.quantize(unit, rounding=ROUND_HALF_UP, context=_DIGITS)
    if exact and result != value:
        raise ValueError(f"{text} has more than {-int(unit.as_tuple().exponent)} digits behind its point")
    return result


def _each(column: pa.Array, change: Callable[[Any], object], table: pa.DataType) -> pa.Array:
    return pa.array([None if value is None else change(value) for value in column.to_pylist()], table)
