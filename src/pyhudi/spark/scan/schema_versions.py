"""A scan of files that were written with several versions of the table's schema: one native scan for each form of the columns.

Spark's Parquet scan has one schema for all its files. Columns that are called alike and typed otherwise are read as today's where Spark's
reader does it, or are converted inside of it (`converted_numbers`). Other files get a scan of their own, with their own columns, and a
projection to today's; the union of all is the table. Filters and columns are pushed through both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.types as pt
from pyspark.sql.types import StructType

from pyhudi.kernels.base_file.schema_projection import alignment_with
from pyhudi.schema.internal.as_arrow import arrow_field, arrow_type
from pyhudi.schema.internal.internal_schema import Field, FieldType, InternalSchema, ListType, MapType, RecordType
from pyhudi.schema.internal.schema_history import SchemaHistory, history_of
from pyhudi.schema.meta_columns import is_meta_column
from pyhudi.spark.jvm.spark_types import spark_type
from pyhudi.spark.scan.converted_numbers import NATIVE, is_converted, structs_of_forms
from pyhudi.spark.scan.float_sql import double_of_text, exact_double
from pyhudi.spark.scan.promoted_files import quote_name
from pyhudi.spec.files.file_group import BaseFile


@dataclass(frozen=True, slots=True)
class VersionPart:
    """The files of some versions of the schema, whose columns have the same form.

    `columns` are the data columns as those files have them, `values` SQL for each of the table's columns, which needs `with_powers` for
    `floats`. Rows merged from log files are with the part that `is_today`. `forms` tells by version what the column `FORM` holds where
    the reader converts columns: the number of a struct of `narrower`, from 1 on; 0 elsewhere.
    """

    history: SchemaHistory
    versions: frozenset[int]
    columns: pa.Schema
    values: tuple[tuple[str, str], ...]
    is_today: bool
    floats: tuple[str, ...] = ()
    narrower: StructType = field(default_factory=StructType)
    forms: Mapping[int, int] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """A text that differs between the parts of a table."""
        return f"schema {sorted(self.versions)}"

    def holds(self, file: BaseFile) -> bool:
        """Tell whether a file belongs to the part."""
        return self.history.at(file.name.instant).version in self.versions

    def form_of(self, file: BaseFile) -> int:
        """Return what `FORM` is for a file of the part."""
        return self.forms.get(self.history.at(file.name.instant).version, 0)


def version_parts(columns: pa.Schema) -> list[VersionPart]:
    """Return the parts in which a table with these data columns is scanned; none when all its files have today's columns.

    The part of today comes last.
    """
    history = history_of(columns)
    if history is None:
        return []
    today = history.current
    scans: dict[str, list[InternalSchema]] = {}
    readers: dict[tuple[pa.DataType, ...], list[int]] = {}
    others = [schema for schema in history.versions if alignment_with(history, schema) is not None]
    for schema in others:
        types = _read_types(schema.record, today.record)
        if types is None:
            scans.setdefault(repr(_as_stored(schema, today)), []).append(schema)
        else:
            readers.setdefault(types, []).append(schema.version)
    readers.pop(tuple(columns.types), None)
    if not scans and not readers:
        return []
    apart = {schema.version for versions in scans.values() for schema in versions}
    parts = [_part(history, versions, columns) for versions in scans.values()]
    names = tuple((name, quote_name(name)) for name in columns.names)
    same = frozenset(schema.version for schema in history.versions) - apart
    forms = {version: number for number, versions in enumerate(readers.values(), 1) for version in versions}
    narrower = structs_of_forms(list(readers), columns)
    return [*parts, VersionPart(history, same, columns.remove_metadata(), names, is_today=True, narrower=narrower, forms=forms)]


def _read_types(file: RecordType, today: RecordType) -> tuple[pa.DataType, ...] | None:
    """Return the types as which Spark's reader reads the data columns, or the fields of a struct; None when it does not read them right."""
    types = [_read_field(file, field) for field in today.fields if not is_meta_column(field.name)]
    return None if None in types else tuple(types)


def _read_field(file: RecordType, field: Field) -> pa.DataType | None:
    stored, namesake = file.by_id(field.id), file.find(field.name)
    if stored is None and namesake is None:
        return arrow_type(field.type)
    if stored is None or stored is not namesake or stored.name != field.name:
        return None  # a name in the file means another column
    return _read_as(stored.type, field.type)


def _read_as(file: FieldType, today: FieldType) -> pa.DataType | None:
    """Return today's type with the types in it that the reader converts; None when it is neither read nor converted by it."""
    if isinstance(file, RecordType) and isinstance(today, RecordType):
        types = _read_types(file, today)
        if types is None:
            return None
        return pa.struct([arrow_field(field).with_type(kind) for field, kind in zip(today.fields, types, strict=True)])
    if isinstance(file, ListType) and isinstance(today, ListType):
        element = _read_as(file.element.type, today.element.type)
        return None if element is None else pa.list_(arrow_field(today.element).with_type(element))
    if isinstance(file, MapType) and isinstance(today, MapType):
        value = _read_as(file.value.type, today.value.type)
        is_same = file.key.type == today.key.type
        return None if value is None or not is_same else pa.map_(arrow_type(today.key.type), arrow_field(today.value).with_type(value))
    if not isinstance(file, str) or not isinstance(today, str):
        return None
    stored, table = arrow_type(file), arrow_type(today)
    if (stored, table) in NATIVE or _is_wider_decimal(stored, table):
        return table
    return stored if is_converted(stored, table) else None


def _is_wider_decimal(stored: pa.DataType, table: pa.DataType) -> bool:
    are_decimals = pt.is_decimal(stored) and pt.is_decimal(table)
    return bool(are_decimals and stored.scale == table.scale and stored.precision <= table.precision)


def _part(history: SchemaHistory, versions: Sequence[InternalSchema], columns: pa.Schema) -> VersionPart:
    pairs = _as_stored(versions[0], history.current)
    stored = pa.schema([arrow_field(file).with_nullable(True) for _, file in pairs if file is not None])
    floats: list[str] = []
    values = tuple((field.name, _value(file, field, floats)) for field, file in pairs)
    known = {name for name, _ in values}
    assert known == set(columns.names), "the history's current version has the table's columns"
    return VersionPart(history, frozenset(schema.version for schema in versions), stored, values, is_today=False, floats=tuple(floats))


def _as_stored(file: InternalSchema, today: InternalSchema) -> list[tuple[Field, Field | None]]:
    """Return each data column of today with the one that the file has for it."""
    return [(field, file.record.by_id(field.id)) for field in today.record.fields if not is_meta_column(field.name)]


def _value(file: Field | None, today: Field, floats: list[str]) -> str:
    if file is None:
        return _null(today)
    return _convert_column(quote_name(file.name), file.type, today.type, floats)


def _null(field: Field) -> str:
    return f"CAST(NULL AS {_ddl(field.type)})"


def _convert_column(value: str, file: FieldType, today: FieldType, floats: list[str], depth: int = 0) -> str:
    """Return SQL that turns a value of a file's type into today's, and add the floats that it computes doubles of."""
    if file == today:
        return value
    if isinstance(file, RecordType) and isinstance(today, RecordType):
        parts = []
        for field in today.fields:
            stored = file.by_id(field.id)
            inner = f"{value}.{quote_name(stored.name)}" if stored is not None else ""
            part = _null(field) if stored is None else _convert_column(inner, stored.type, field.type, floats, depth)
            parts.append(f"'{field.name}', {part}")
        return f"IF({value} IS NULL, NULL, named_struct({', '.join(parts)}))"
    item = f"_x{depth}"
    if isinstance(file, ListType) and isinstance(today, ListType):
        return f"transform({value}, {item} -> {_convert_column(item, file.element.type, today.element.type, floats, depth + 1)})"
    if isinstance(file, MapType) and isinstance(today, MapType):
        inner = _convert_column(item, file.value.type, today.value.type, floats, depth + 1)
        return f"transform_values({value}, (_k{depth}, {item}) -> {inner})"
    if file == "float" and today == "double":
        return double_of_text(value) if depth else exact_double(value, floats)
    text = f"CAST({value} AS STRING)" if file == "float" else value  # so that a decimal has the digits of the text
    return f"CAST({text} AS {_ddl(today)})"


def _ddl(kind: FieldType) -> str:
    return spark_type(arrow_type(kind), "").simpleString()
