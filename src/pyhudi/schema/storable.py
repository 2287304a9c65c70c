"""Which Arrow types a Hudi table can hold, and the plain type that stands for each.

Rules: what Hudi's Spark writers store (`HoodieSparkSchemaConverters`): small integers become int, there are no
unsigned integers, times of day, durations or fixed-size types. Encodings of Arrow (dictionary, large, view) are not
types of a table.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.schema.avro_types import COMMENT
from pyhudi.schema.meta_columns import without_meta_columns

_MAX_DECIMAL_PRECISION = 38

_PLAIN: dict[pa.DataType, pa.DataType] = {
    pa.bool_(): pa.bool_(),
    pa.int8(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.int32(): pa.int32(),
    pa.int64(): pa.int64(),
    pa.uint8(): pa.int32(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.float16(): pa.float32(),
    pa.float32(): pa.float32(),
    pa.float64(): pa.float64(),
    pa.string(): pa.string(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.binary(): pa.binary(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.date32(): pa.date32(),
    pa.date64(): pa.date32(),
    pa.null(): pa.null(),
}


def storable_schema(data: pa.Schema) -> pa.Schema:
    """Return the schema under which data is stored: without meta columns, every type plain; of the metadata of fields their comments stay.

    Null types are kept: they fit any column of a table, but cannot be the type of a new one.

    Raises:
        SchemaError: two columns differ in nothing but case, or a type cannot be stored.
    """
    columns = without_meta_columns(data)
    _check_names([field.name for field in columns], "The data")
    return pa.schema([_field(field, field.name) for field in columns])


def storable_type(arrow: pa.DataType, column: str) -> pa.DataType:
    """Return the plain type of one column; `column` is its dotted path, for messages.

    Raises:
        SchemaError: the type cannot be stored.
    """
    if arrow in _PLAIN:
        return _PLAIN[arrow]
    if pt.is_dictionary(arrow):
        return storable_type(arrow.value_type, column)
    if pt.is_timestamp(arrow):
        return pa.timestamp("us", "UTC" if arrow.tz else None)
    if pt.is_fixed_size_binary(arrow):
        return pa.binary()
    if pt.is_decimal(arrow):
        return _decimal(arrow, column)
    return _nested_fields(arrow, column)


def is_all_null(arrow: pa.DataType) -> bool:
    """True when no value of the type can be anything but null, at any depth that would need a type of its own."""
    if pt.is_null(arrow):
        return True
    if pt.is_nested(arrow):
        return any(is_all_null(arrow.field(index).type) for index in range(arrow.num_fields))
    return False


def _field(field: pa.Field, column: str) -> pa.Field:
    comment = (field.metadata or {}).get(COMMENT)
    metadata = {COMMENT: comment} if comment else None
    return pa.field(field.name, storable_type(field.type, column), nullable=field.nullable, metadata=metadata)


def _nested_fields(arrow: pa.DataType, column: str) -> pa.DataType:
    if pt.is_struct(arrow):
        if arrow.num_fields == 0:
            raise SchemaError(f"Column '{column}' is a struct without fields, which Parquet cannot store. Drop it.")
        _check_names([field.name for field in arrow], f"Column '{column}'")
        return pa.struct([_field(field, f"{column}.{field.name}") for field in arrow])
    if _is_list(arrow):
        item = arrow.value_field
        return pa.list_(pa.field("element", storable_type(item.type, f"{column}.element"), nullable=item.nullable))
    if pt.is_map(arrow):
        if storable_type(arrow.key_type, f"{column}.key") != pa.string():
            raise SchemaError(f"Column '{column}' is a map with keys of type {arrow.key_type}; Hudi stores only text as keys.")
        value = arrow.item_field
        return pa.map_(pa.string(), pa.field("value", storable_type(value.type, f"{column}.value"), nullable=value.nullable))
    raise SchemaError(f"Column '{column}' has type {arrow}, which a Hudi table cannot store. Cast it before writing.")


def _decimal(arrow: pa.DataType, column: str) -> pa.DataType:
    if arrow.precision > _MAX_DECIMAL_PRECISION or not 0 <= arrow.scale <= arrow.precision:
        raise SchemaError(
            f"Column '{column}' has type {arrow}; a Hudi table stores decimals of at most "
            f"{_MAX_DECIMAL_PRECISION} digits, with a scale between 0 and the precision. Cast it before writing."
        )
    return pa.decimal128(arrow.precision, arrow.scale)


def _is_list(arrow: pa.DataType) -> bool:
    return bool(
        pt.is_list(arrow)
        or pt.is_large_list(arrow)
        or pt.is_fixed_size_list(arrow)
        or pt.is_list_view(arrow)
        or pt.is_large_list_view(arrow)
    )


def _check_names(names: list[str], owner: str) -> None:
    name_by_lower: dict[str, str] = {}
    for name in names:
        if name.lower() in name_by_lower:
            other = name_by_lower[name.lower()]
            raise SchemaError(f"{owner} has two columns named '{other}' and '{name}'; names must differ in more than case.")
        name_by_lower[name.lower()] = name
