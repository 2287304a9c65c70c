"""Columns of a file that was written with an earlier version of the table's schema, under today's names and types.

Rules: `InternalSchemaMerger` (columns meet by number, not by name), `HoodieAvroUtils.rewritePrimaryType` (a number that becomes one of
another kind goes through its text, so that a float of 0.1 becomes a double of 0.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import SchemaError
from pyhudi.schema.evolve import conform_column
from pyhudi.schema.internal.as_arrow import arrow_field, arrow_type
from pyhudi.schema.internal.internal_schema import FieldType, InternalSchema, ListType, MapType, RecordType, children
from pyhudi.schema.internal.schema_history import SchemaHistory, history_of
from pyhudi.schema.promoted_rows import convert_column, copy_offsets, null_mask


@dataclass(frozen=True, slots=True)
class Alignment:
    """How the columns of a file become those of the table."""

    file: InternalSchema
    table: InternalSchema

    def stored_name(self, name: str) -> str | None:
        """Return what the file calls a column of the table; None when it does not have it."""
        field = self.table.record.find(name)
        if field is None:
            return name  # no column of the table's schema, such as `_hoodie_operation`
        stored = self.file.record.by_id(field.id)
        return None if stored is None else stored.name

    def has_type_of_today(self, name: str) -> bool:
        """Tell whether the values of a column of the table have the same type in the file, which has it."""
        field = self.table.record.find(name)
        stored = None if field is None else self.file.record.by_id(field.id)
        return field is None or (stored is not None and _same(stored.type, field.type))

    def table_name(self, name: str) -> str | None:
        """Return what the table calls a column of the file; None when it was dropped."""
        field = self.file.record.find(name)
        if field is None:
            return name
        field_of_table = self.table.record.by_id(field.id)
        return None if field_of_table is None else field_of_table.name

    def rows(self, stored: pa.Table) -> pa.Table:
        """Return rows of the file with today's names and types, without the columns that were dropped.

        Raises:
            SchemaError: a value cannot be read as today's type.
        """
        names, columns = [], []
        for name, column in zip(stored.schema.names, stored.columns, strict=True):
            today = self.table_name(name)
            if today is None:
                continue
            file, table = self.file.record.find(name), self.table.record.find(today)
            names.append(today)
            if file is None or table is None or _same(file.type, table.type):
                columns.append(column)
            else:
                chunks = [_reshape(chunk, file.type, table.type, today) for chunk in column.chunks]
                columns.append(pa.chunked_array(chunks, arrow_type(table.type)))
        return pa.table(columns, names=names) if names else stored.select([])


def alignment(columns: pa.Schema, instant: str) -> Alignment | None:
    """Return how a file of this commit time is read as the table's columns; None when names and types are today's."""
    history = history_of(columns)
    return None if history is None else alignment_with(history, history.at(instant))


def alignment_with(history: SchemaHistory, file: InternalSchema) -> Alignment | None:
    """Return how files of a version are read as the current one; None when names and types are the same."""
    return None if _alike(file.record, history.current.record) else Alignment(file, history.current)


def _alike(file: RecordType, table: RecordType) -> bool:
    """Tell whether columns that both have are called and typed alike, and no name of the table means another column in the file.

    What is inside a column must be the same to the last field: a struct is read as a whole.
    """
    for field in table.fields:
        stored, namesake = file.by_id(field.id), file.find(field.name)
        if stored is None and namesake is None:
            continue
        if stored is None or namesake is None or stored.id != namesake.id or not _same(stored.type, field.type):
            return False
    return True


def _same(file: FieldType, table: FieldType) -> bool:
    """Tell whether two types have the same parts under the same names, in the same order; whether they may be null does not matter."""
    if isinstance(file, str) or isinstance(table, str):
        return file == table
    pairs = list(zip(children(file), children(table), strict=False))
    alike = type(file) is type(table) and len(children(file)) == len(children(table))
    return alike and all(one.id == other.id and one.name == other.name and _same(one.type, other.type) for one, other in pairs)


def _reshape(column: pa.Array, file: FieldType, table: FieldType, name: str) -> pa.Array:
    if isinstance(file, RecordType) and isinstance(table, RecordType):
        return _struct(column, file, table, name)
    if isinstance(file, ListType) and isinstance(table, ListType):
        values = _reshape(column.values, file.element.type, table.element.type, f"{name}.element")
        kind = arrow_type(table)
        return pa.ListArray.from_arrays(copy_offsets(column), values, type=kind, mask=null_mask(column))
    if isinstance(file, MapType) and isinstance(table, MapType):
        items = _reshape(column.items, file.value.type, table.value.type, f"{name}.value")
        return pa.MapArray.from_arrays(copy_offsets(column), column.keys, items, type=arrow_type(table), mask=null_mask(column))
    return _retype(column, arrow_type(file), arrow_type(table), name)


def _struct(column: pa.Array, file: RecordType, table: RecordType, name: str) -> pa.Array:
    parts = dict(zip([part.name for part in column.type], column.flatten(), strict=True))
    children = []
    for field in table.fields:
        stored = file.by_id(field.id)
        if stored is None or stored.name not in parts:
            children.append(pa.nulls(len(column), arrow_type(field.type)))
        else:
            children.append(_reshape(parts[stored.name], stored.type, field.type, f"{name}.{field.name}"))
    fields = [arrow_field(field).with_nullable(True) for field in table.fields]
    made = pa.StructArray.from_arrays(children, fields=fields, mask=pc.is_null(column))
    return made.cast(arrow_type(table))


def _retype(column: pa.Array, file: pa.DataType, table: pa.DataType, name: str) -> pa.Array:
    if column.type == table:
        return column
    plain = conform_column(pa.chunked_array([column]), file, name).combine_chunks()
    if plain.type == table:
        return plain
    try:
        return convert_column(plain, table)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ArithmeticError, ValueError) as error:
        raise SchemaError(f"Column '{name}' has a value of type {file} that cannot be read as {table}: {error}") from error
