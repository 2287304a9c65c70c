"""The schema that a table has once a write completes while concurrent writes have changed it.

Rules: `SimpleSchemaConflictResolutionStrategy`; docs/format/concurrency.md. A write that adds or changes columns must be the latest one by
requested time as well: readers take the schema of that.
"""

from __future__ import annotations

from pyhudi.errors import WriteConflictError
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.txn.transaction import Transaction
from pyhudi.write.input.prepare_rows import TableSchema


def agreed_schema(txn: Transaction, before: TableSchema, now: TableSchema, mine: TableSchema) -> TableSchema:
    """Return the schema to commit.

    Args:
        txn: the write, under the lock of its completion.
        before: the table's schema when the write began.
        now: the table's schema.
        mine: the table's schema with the columns of the write.

    Raises:
        WriteConflictError: others have changed columns in another way, or begun later than a write that changes them.
    """
    is_changed, changes = not _is_same(before, now), not _is_same(before, mine)
    if not is_changed and not changes:
        return mine
    last = txn.table.timeline.last_completed()
    is_last = last is None or last.requested < txn.instant
    if (not is_changed and is_last) or (is_changed and _is_same(now, mine)):
        return mine if not is_changed else now
    if is_changed and not changes and history_of(before.columns) is None and history_of(now.columns) is None:
        return now
    raise WriteConflictError(
        f"the columns of table {txn.table.storage.uri} were changed by another writer while {txn.instant} wrote, or {txn.instant} changes"
        f" them and a write that began later has completed. Nothing of {txn.instant} is visible: look at the schema of the table, and write"
        " again. hoodie.write.num.retries.on.conflict.failures says how often that is done by itself."
    )


def _is_same(one: TableSchema, other: TableSchema) -> bool:
    """Tell whether two schemas have the same columns; their strings may differ by who wrote them."""
    return one.avro_json == other.avro_json or (one.columns.equals(other.columns) and history_of(one.columns) == history_of(other.columns))
