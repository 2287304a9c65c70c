"""Changing a table's schema: a commit without rows."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyhudi.errors import SchemaError
from pyhudi.locks.choose_lock import with_lock_provider
from pyhudi.metadata_table.format.index_definitions import PATH, load_definitions, render_definitions
from pyhudi.metadata_table.format.metadata_partitions import COLUMN_STATS, EXPRESSION_PREFIX, SECONDARY_PREFIX
from pyhudi.schema.internal.as_arrow import first_version
from pyhudi.schema.internal.internal_schema import RecordType
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.options import resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.open_table import OpenTable
from pyhudi.table.write_pipeline import commit, state_before
from pyhudi.txn.failed_writes_policy import failed_writes_settings
from pyhudi.txn.transaction import Committed, begin
from pyhudi.write.input.alter_columns import SCHEMA_ON_READ, Change, DropColumn, RenameColumn, RetypeColumn, apply_changes
from pyhudi.write.input.prepare_rows import TableSchema
from pyhudi.write.options.non_blocking import check_mode
from pyhudi.write.plan.write_plan import WritePlan

_REASON = "no rows are written"


def alter_schema(table: OpenTable, changes: Sequence[Change], options: Mapping[str, str] | None = None) -> Committed | None:
    """Change a table's columns in one commit; None when they are so already and nothing is committed.

    Args:
        table: the table.
        changes: what to do, in this order.
        options: `hoodie.*` options; `hoodie.schema.on.read.enable` decides which changes are allowed.

    Raises:
        SchemaError: an index is of the column, or it does not exist, or exists already, or cannot take the new type or position; nothing
            is written.
        UnsupportedError: the change needs `hoodie.schema.on.read.enable`, or the table cannot be written in the mode that is stated.
        ConflictError: another writer holds the table, or came between; nothing is visible.

    Example:
        >>> from pyhudi.write.input.alter_columns import AddColumn
        >>> _ = alter_schema(table, [AddColumn(("note",), pa.string())])
        >>> HudiTable.open(table.storage.uri).schema.names
        ['id', 'city', 'ts', 'fare', 'note']
    """
    resolved = resolve(options or {})
    check_mode(resolved, table.config)
    failed_writes = failed_writes_settings(resolved)
    with begin(
        with_lock_provider(table.storage, resolved),
        Operation.ALTER_SCHEMA,
        wait_s=resolved.integer("hoodie.write.lock.wait_time_ms") / 1000,
        clock=table.clock,
        ids=table.ids,
        roll_back=functools.partial(roll_back_failed_writes, settings=failed_writes, writes=True),
        failed_writes=failed_writes,
    ) as txn:
        stored, _ = state_before(txn.table)
        _check_indexes(table.storage, txn.table.config, changes)
        schema = apply_changes(stored, changes, txn.table.config, schema_on_read=resolved.flag(SCHEMA_ON_READ))
        if schema is stored:
            return None
        _forget_statistics(txn.table.storage, txn.table.config, stored, schema)
        txn.start(CommitMetadata(operation=Operation.ALTER_SCHEMA))
        return commit(txn, WritePlan(Operation.ALTER_SCHEMA, (), None, "local", _REASON), [], schema)


def _forget_statistics(storage: Storage, config: TableConfig, before: TableSchema, after: TableSchema) -> None:
    """Take columns out of the index of statistics whose names mean other columns from now on, or none: the next write records them
    again.
    """
    definitions, history = load_definitions(storage, config), history_of(after.columns)
    known = definitions.get(COLUMN_STATS)
    if known is None or history is None:
        return
    numbered = history_of(before.columns)
    was, now = (one.record for one in (first_version(before.columns) if numbered is None else numbered.current, history.current))
    fields = tuple(name for name in known.source_fields if _number(was, name) == _number(now, name))
    if fields != known.source_fields:
        storage.replace(PATH, render_definitions({**definitions, COLUMN_STATS: replace(known, source_fields=fields)}))


def _number(columns: RecordType, name: str) -> int | None:
    column = columns.find(name) or columns.find(name.split(".", maxsplit=1)[0])
    return None if column is None else column.id


def _check_indexes(storage: Storage, config: TableConfig, changes: Sequence[Change]) -> None:
    """Refuse to rename, drop or retype a column that a secondary or expression index is of: its definition calls the column by name.

    Raises:
        SchemaError: names the index.
    """
    touched = {".".join(one.path).lower() for one in changes if isinstance(one, DropColumn | RenameColumn | RetypeColumn)}
    if not touched:
        return
    for name, index in load_definitions(storage, config).items():
        if name.startswith((SECONDARY_PREFIX, EXPRESSION_PREFIX)):
            for field in index.source_fields:
                if any(f"{field.lower()}.".startswith(f"{path}.") for path in touched):
                    raise SchemaError(
                        f"{field} of table {config.name} has the index {name}: DROP INDEX first, and create it again afterwards."
                    )
