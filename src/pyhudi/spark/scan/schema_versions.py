"""A scan of files that were written with several versions of the table's schema: one native scan for each form of the columns.

Spark's Parquet scan has one schema for all its files. Files whose columns are called or typed otherwise get a scan of their own, with
their own columns, and a projection to today's; the union of all is the table. Filters and columns are pushed through both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.kernels.base_file.schema_projection import alignment_with
from pyhudi.schema.internal.as_arrow import arrow_field, arrow_type
from pyhudi.schema.internal.internal_schema import Field, FieldType, InternalSchema, ListType, MapType, RecordType
from pyhudi.schema.internal.schema_history import SchemaHistory, history_of
from pyhudi.schema.meta_columns import is_meta_column
from pyhudi.spark.jvm.spark_types import spark_type
from pyhudi.spark.scan.float_sql import double_of_text, exact_double
from pyhudi.spec.files.file_group import BaseFile


@dataclass(frozen=True, slots=True)
class VersionPart:
    """The files of some versions of the schema, whose columns have the same form.

    `columns` are the data columns as those files have them, `values` SQL for each of the table's columns, which needs `with_powers` for
    `floats`. Rows merged from log files are with the part that `is_today`.
    """

    history: SchemaHistory
    versions: frozenset[int]
    columns: pa.Schema
    values: tuple[tuple[str, str], ...]
    is_today: bool
    floats: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """A text that differs between the parts of a table."""
        return f"schema {sorted(self.versions)}"

    def holds(self, file: BaseFile) -> bool:
        """Tell whether a file belongs to the part."""
        return self.history.at(file.name.instant).version in self.versions


def version_parts(columns: pa.Schema) -> list[VersionPart]:
    """Return the parts in which a table with these data columns is scanned; none when all its files have today's columns.

    The part of today comes last.
    """
    history = history_of(columns)
    if history is None:
        return []
    today = history.current
    forms: dict[str, list[InternalSchema]] = {}
    others = [schema for schema in history.versions if alignment_with(history, schema) is not None]
    for schema in others:
        forms.setdefault(repr(_as_stored(schema, today)), []).append(schema)
    if not forms:
        return []
    same = frozenset(schema.version for schema in history.versions if schema not in others)
    parts = [_part(history, versions, columns) for versions in forms.values()]
    names = tuple((name, _quote_name(name)) for name in columns.names)
    return [*parts, VersionPart(history, same, columns.remove_metadata(), names, is_today=True)]


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
    return _convert_column(_quote_name(file.name), file.type, today.type, floats)


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
            inner = f"{value}.{_quote_name(stored.name)}" if stored is not None else ""
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


def _quote_name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
