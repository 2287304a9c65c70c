"""A table and the metastore that it is synchronised with, as the tests look at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyhudi import HudiTable
from pyhudi.clients.metastore_client import MetastoreClient, connect
from pyhudi.sync import SyncedTable

HIVE = "hoodie.datasource.hive_sync"


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
