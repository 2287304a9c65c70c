"""Another name for a table, in its own properties."""

from __future__ import annotations

from typing import Final

from pyhudi.spec.table import table_keys
from pyhudi.storage.table_properties import store_properties
from pyhudi.table.open_table import OpenTable
from pyhudi.txn.locked_table import locked_table

_WAIT_S: Final = 60.0


def rename_table(table: OpenTable, name: str) -> None:
    """Store a new name; data, timeline and metadata table stay as they are.

    Raises:
        LockTimeoutError: a writer holds the table.
        UnsupportedError: the table has features whose writing is not served.
    """
    with locked_table(table.storage, _WAIT_S, table.clock, table.ids) as locked:
        store_properties(table.storage, {table_keys.NAME: name}, locked.clock.now())
