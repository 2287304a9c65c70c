"""Internal schemas from and to Arrow: numbers for new columns, and the types' names.

Rules: `AvroInternalSchemaConverter`, `InternalSchemaBuilder`: the fields of a struct are numbered before what is inside them. The meta
columns have the first five numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.schema.avro_types import COMMENT
from pyhudi.schema.internal.internal_schema import Field, FieldType, InternalSchema, ListType, MapType, RecordType
from pyhudi.schema.meta_columns import META_FIELDS, is_meta_column

_NAMES: dict[pa.DataType, str] = {
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.time32("ms"): "time-millis",
    pa.time64("us"): "time",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.timestamp("ms", "UTC"): "timestamp-millis",
    pa.timestamp("us"): "local-timestamp-micros",
    pa.timestamp("ms"): "local-timestamp-millis",
}
_TYPES = {name: arrow for arrow, name in _NAMES.items()} | {"uuid": pa.string()}
_DECIMAL = re.compile(r"decimal(?:_fixed|_bytes)?\((\d+),\s*(\d+)\)(?:\[\d+\])?")
_FIXED = re.compile(r"fixed\[\d+\]")


def first_version(columns: pa.Schema, version: int = 0) -> InternalSchema:
    """Return the schema of a table whose columns had no numbers so far; `columns` are its data columns."""
    numbers = count()
    record = RecordType(_number_fields([*(_meta_field(field) for field in META_FIELDS), *columns], numbers))
    return InternalSchema(version, next(numbers) - 1, record)


def new_type(arrow: pa.DataType, numbers: count[int]) -> FieldType:
    """Return a type whose parts get new numbers."""
    if pt.is_struct(arrow):
        return RecordType(_number_fields(arrow, numbers))
    if pt.is_list(arrow):
        element = arrow.value_field
        number = next(numbers)
        return ListType(Field(number, "element", new_type(element.type, numbers), element.nullable))
    if pt.is_map(arrow):
        key, value = next(numbers), next(numbers)
        key_field = Field(key, "key", new_type(arrow.key_type, numbers), optional=False)
        return MapType(key_field, Field(value, "value", new_type(arrow.item_type, numbers), arrow.item_field.nullable))
    return type_name(arrow)


def type_name(arrow: pa.DataType) -> str:
    """Return what an internal schema calls a type without parts.

    Raises:
        SchemaError: it cannot be stored.
    """
    if pt.is_decimal(arrow):
        size = _fixed_bytes(arrow.precision)
        return f"decimal_fixed({arrow.precision}, {arrow.scale})[{size}]"
    if arrow not in _NAMES:
        raise SchemaError(f"A column of type {arrow} cannot be stored in a Hudi table.")
    return _NAMES[arrow]


def arrow_type(kind: FieldType) -> pa.DataType:
    """Return the Arrow type of a column.

    Raises:
        CorruptTableError: the type is unknown.
    """
    if isinstance(kind, RecordType):
        return pa.struct([arrow_field(field) for field in kind.fields])
    if isinstance(kind, ListType):
        return pa.list_(arrow_field(kind.element))
    if isinstance(kind, MapType):
        return pa.map_(arrow_type(kind.key.type), arrow_field(kind.value))
    if kind in _TYPES:
        return _TYPES[kind]
    if (decimal := _DECIMAL.fullmatch(kind)) is not None:
        return pa.decimal128(int(decimal.group(1)), int(decimal.group(2)))
    if _FIXED.fullmatch(kind):
        return pa.binary()
    raise CorruptTableError(f"The internal schema of the table has the type '{kind}', which nobody knows.")


def arrow_field(field: Field) -> pa.Field:
    """Return a column with its comment."""
    comment = {COMMENT: field.doc.encode()} if field.doc else None
    return pa.field(field.name, arrow_type(field.type), nullable=field.optional, metadata=comment)


def data_columns(schema: InternalSchema) -> pa.Schema:
    """Return the data columns."""
    return pa.schema([arrow_field(field) for field in schema.record.fields if not is_meta_column(field.name)])


def _number_fields(fields: Iterable[pa.Field], numbers: count[int]) -> tuple[Field, ...]:
    """Return fields with new numbers: first theirs, then those of their parts."""
    given = [(next(numbers), field) for field in fields]
    made = (Field(number, field.name, "", field.nullable, _doc(field)) for number, field in given)
    return tuple(replace(made_field, type=new_type(field.type, numbers)) for made_field, (_, field) in zip(made, given, strict=True))


def _meta_field(field: pa.Field) -> pa.Field:
    return field.with_nullable(True).with_metadata({COMMENT: b""})


def _doc(field: pa.Field) -> str | None:
    match = (field.metadata or {}).get(COMMENT)
    return None if match is None else match.decode()


def _fixed_bytes(precision: int) -> int:
    """Return how many bytes hold a decimal of so many digits, as Spark stores it."""
    return next(size for size in range(1, 17) if 10**precision - 1 < 1 << (8 * size - 1))
