"""A table and the metastore that it is synchronised with, as the tests look at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.clients.metastore_client import MetastoreClient, connect
from pyhudi.sync import SyncedTable

HIVE = "hoodie.datasource.hive_sync"
SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})


@dataclass
class Synced:
    """A table, and the options of its syncs."""

    table: HudiTable
    uri: str
    database: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def sync_options(self) -> dict[str, str]:
        return {f"{HIVE}.mode": "hms", f"{HIVE}.metastore.uris": self.uri, f"{HIVE}.database": self.database, **self.options}

    def sync(self, options: Mapping[str, str] | None = None) -> tuple[SyncedTable, ...]:
        (result,) = self.table.services.sync(options={**self.sync_options, **(options or {})})
        return result.tables

    def client(self) -> MetastoreClient:
        return connect([self.uri])

    def entry(self, name: str) -> Any:
        client = self.client()
        try:
            return client.calls.get_table(self.database, name)
        finally:
            client.close()

    def names(self) -> list[str]:
        client = self.client()
        try:
            return sorted(client.calls.get_all_tables(self.database))
        finally:
            client.close()

    def partitions(self, name: str) -> dict[tuple[str, ...], str]:
        """Locations by values."""
        client = self.client()
        try:
            return {tuple(one.values): one.sd.location for one in client.calls.get_partitions(self.database, name, -1)}
        finally:
            client.close()


def new_trips(
    metastore: str,
    folder: Path,
    prefix: str,
    schema: pa.Schema = SCHEMA,
    of_table: Mapping[str, str] | None = None,
    *,
    options: Mapping[str, str] | None = None,
    **arguments: Any,
) -> Synced:
    """A table of no rows, partitioned by city; its database is named after the prefix and the folder. `options` are those of its syncs."""
    given = {"name": "trips", "keys": ["id"], "partition_by": ["city"], "options": of_table, **arguments}
    table = HudiTable.create(folder / "trips", schema, **given)
    return Synced(table, metastore, f"{prefix}_{folder.name}".lower(), dict(options or {}))


def fill(one: Synced) -> Synced:
    """Give a table two partitions of one row."""
    one.table.upsert([{"id": 1, "city": "oslo"}, {"id": 2, "city": "rome"}])
    return one
