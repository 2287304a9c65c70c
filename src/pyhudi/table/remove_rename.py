"""Removing a table as a whole, its data included, and giving it another name."""

from __future__ import annotations

from typing import Final

from pyhudi.locks.choose_lock import hold_lock
from pyhudi.spec.table import table_keys
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties, store_properties
from pyhudi.table.open_table import OpenTable
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.locked_table import locked_table


def delete_table(storage: Storage) -> None:
    """Delete everything below a base path: the metadata folder first, so that no reader meets half a table."""
    storage.delete_tree(".hoodie")
    for status in storage.list(""):
        if status.is_dir:
            storage.delete_tree(status.path)
        else:
            storage.delete(status.path)


def delete_unused_table(storage: Storage) -> None:
    """Delete a table that was just created when nothing has been done with it: the write it was made for was refused.

    The writer's lock is held meanwhile, so another process that found the table is either seen here or finds it gone.
    """
    with hold_lock(storage, 0):
        if not load_timeline(storage, TableConfig(load_properties(storage))).instants:
            delete_table(storage)


_WAIT_S: Final = 60.0


def rename_table(table: OpenTable, name: str) -> None:
    """Store a new name; data, timeline and metadata table stay as they are.

    Raises:
        LockTimeoutError: a writer holds the table.
        UnsupportedError: the table has features whose writing is not served.
    """
    with locked_table(table.storage, _WAIT_S, table.clock, table.ids) as locked:
        store_properties(table.storage, {table_keys.NAME: name}, locked.clock.now())
