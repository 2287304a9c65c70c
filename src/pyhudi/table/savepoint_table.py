"""Savepoints of a table: made, listed, deleted, on request of a script, the command line or SQL."""

from __future__ import annotations

from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service import savepoint as service
from pyhudi.service.savepoint import Savepoint
from pyhudi.spec.arguments import check_instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import Clock
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import locked_table


def create_savepoint(
    storage: Storage, clock: Clock, ids: Ids, instant: str | None, user: str, comment: str, *, dry_run: bool, wait_s: float
) -> Savepoint:
    """Make a savepoint; see `Services.savepoint` for errors."""
    check_instant(instant, "instant")
    with locked_table(storage, wait_s, clock, ids) as table:
        check_notes(table.storage, table.config, table.timeline)
        return service.create_savepoint(table, instant, user, comment, dry_run=dry_run)


def delete_savepoint(storage: Storage, clock: Clock, ids: Ids, instant: str, *, dry_run: bool, wait_s: float) -> None:
    """Delete a savepoint; see `Services.delete_savepoint` for errors."""
    with locked_table(storage, wait_s, clock, ids) as table:
        check_notes(table.storage, table.config, table.timeline)
        service.delete_savepoint(table, instant, dry_run=dry_run)


def list_savepoints(storage: Storage) -> tuple[Savepoint, ...]:
    """Return the savepoints of a table, the oldest first."""
    config = TableConfig(load_properties(storage))
    return service.savepoints(storage, config, load_timeline(storage, config))
