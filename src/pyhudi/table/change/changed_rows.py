"""The rows that a delete, an update or a merge writes, and how: they are stored where they were read, as those of UPDATE and MERGE of SQL.

A read that a clean overtakes begins again: nothing was written yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as pt

from pyhudi.read.execute import Selection, narrow, read_table
from pyhudi.read.snapshot.cleaned_states import reread_when_deleted
from pyhudi.schema.meta_columns import FILE_NAME, META_FIELDS, PARTITION_PATH, RECORD_KEY
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.change.assigned_values import Condition, assigned_columns, check_no_key, evaluate
from pyhudi.table.change.merge_rows import MergeClause, MergeRows
from pyhudi.table.read_table import selection
from pyhudi.write.input.partial_columns import partial_columns
from pyhudi.write.merge_clause import check_reachable
from pyhudi.write.tagging.prepped import LOCATION_COLUMNS


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Rows to write, and how: the arguments of `pyhudi.table.write_table.write`."""

    operation: Operation
    rows: pa.Table
    prepped: bool
    read_snapshot: Visibility | None
    columns: tuple[str, ...] | None


@reread_when_deleted
def rows_to_delete(storage: Storage, config: TableConfig, where: Condition) -> ChangedRows:
    """Return the rows that a condition is true for, as those of a delete.

    Args:
        storage: the table's storage.
        config: its properties.
        where: which rows.

    Raises:
        UsageError: the condition is wrong.
    """
    if not config.populate_meta_fields:
        # No column says where a row is: its key is computed, and looked up.
        named = selection(storage, config.naming_columns, where, None, "snapshot", meta_columns=False)
        return ChangedRows(Operation.DELETE, read_table(named), prepped=False, read_snapshot=None, columns=None)
    chosen = selection(storage, [RECORD_KEY, PARTITION_PATH, FILE_NAME], where, None, "snapshot", meta_columns=False)
    visible = chosen.snapshot.timeline.visibility
    return ChangedRows(Operation.DELETE_PREPPED, read_table(chosen), prepped=True, read_snapshot=visible, columns=None)


@reread_when_deleted
def updated_rows(
    storage: Storage, config: TableConfig, options: Mapping[str, str], assigned: object, where: Condition | None
) -> ChangedRows:
    """Return the rows of an update with their new values.

    Args:
        storage: the table's storage.
        config: its properties.
        options: the options of the write.
        assigned: new values by column.
        where: which rows; all when None.

    Raises:
        UsageError: an expression or the condition is wrong.
        SchemaError: a column does not exist, or is part of the record key or the partition, or cannot hold its value.
    """
    what = f"update of table {config.name}"
    chosen = selection(storage, None, where, None, "snapshot", meta_columns=config.populate_meta_fields)
    schema = chosen.snapshot.schema
    values = assigned_columns(assigned, schema, what)
    check_no_key(values, config, what)
    chosen = _needed_columns(chosen, values.values())
    rows = read_table(chosen)
    for name, column in evaluate(values, rows, schema, what).items():
        rows = rows.set_column(rows.schema.get_field_index(name), schema.field(name), column)
    if not config.populate_meta_fields:
        return ChangedRows(Operation.UPSERT, rows, prepped=False, read_snapshot=None, columns=None)
    partial = partial_columns(options, config, schema, values)
    required = {field.name for field in schema if not field.nullable}
    names = [field.name for field in schema if partial is None or field.name in required.union(partial)]
    visible = chosen.snapshot.timeline.visibility
    return ChangedRows(Operation.UPSERT_PREPPED, rows.select([*LOCATION_COLUMNS, *names]), True, visible, partial)


@dataclass(frozen=True, slots=True)
class MergeSource:
    """The rows of a source, and the columns of the table with those of the source that rows match by."""

    rows: pa.Table
    on: Sequence[tuple[str, str]]


def plain_columns(rows: pa.Table) -> pa.Table:
    """Return rows with strings as Arrow's plain strings, which can be compared with those of a table; categories as their values."""
    fields = [pa.field(field.name, _plain_type(field.type)) for field in rows.schema]
    return rows.cast(pa.schema(fields))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pt.is_dictionary(kind):
        return _plain_type(kind.value_type)
    if pt.is_large_string(kind) or pt.is_string_view(kind):
        return pa.string()
    return pa.binary() if pt.is_large_binary(kind) or pt.is_binary_view(kind) else kind


def _needed_columns(chosen: Selection, expressions: Iterable[object]) -> Selection:
    """Return the selection without meta columns that neither say where a record is stored nor occur in an expression.

    Sequence numbers differ in every row: to decode them takes longer than most columns.
    """
    stated = " ".join(str(expression).lower() for expression in expressions)
    meta = {field.name for field in META_FIELDS}.difference(LOCATION_COLUMNS)
    return narrow(chosen, [name for name in chosen.columns if name not in meta or name in stated])


@reread_when_deleted
def merged_rows(
    storage: Storage, config: TableConfig, options: Mapping[str, str], source: MergeSource, clauses: Sequence[MergeClause]
) -> ChangedRows:
    """Return the rows that a merge changes.

    Args:
        storage: the table's storage.
        config: its properties.
        options: the options of the write.
        source: what is merged.
        clauses: what happens to which rows.

    Raises:
        UsageError: an expression or a condition is wrong.
        SchemaError: a clause never applies, or assigns what it cannot.
    """
    chosen = selection(storage, None, None, None, "snapshot", meta_columns=config.populate_meta_fields)
    schema = chosen.snapshot.schema
    rows = MergeRows(config, schema, source.rows, source.on, clauses)
    check_reachable(((clause.rows, clause.where is not None) for clause in clauses), rows.what)
    rows.check()
    changed = rows.changed_columns()
    columns = None if changed is None or not config.populate_meta_fields else partial_columns(options, config, schema, changed)
    visible = chosen.snapshot.timeline.visibility
    chosen = _needed_columns(chosen, [stated for clause in clauses for stated in (clause.where, *(clause.assigned or {}).values())])
    return ChangedRows(Operation.UPSERT_PREPPED, rows.compute(chosen), prepped=True, read_snapshot=visible, columns=columns)
