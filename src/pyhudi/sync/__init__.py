"""Synchronisation of tables with catalogs: a Hive metastore, a server that takes Hive's SQL, AWS Glue.

Rules: `HiveSyncTool`, `HoodieSyncClient`, `AWSGlueCatalogSyncClient`; design: docs/design/0121-catalog-sync.md. `run_sync` has the steps,
which are the same for every catalog; a catalog takes part by the protocol of `catalog_sync`. The packages of the clients are loaded when a
sync runs.

May import what writes and reads may; knows nothing of services and of Spark.
"""

from __future__ import annotations

from pyhudi.sync.run_sync import sync_table
from pyhudi.sync.sync_result import SyncedTable, SyncResult
from pyhudi.sync.sync_settings import SyncSettings, sync_settings

__all__ = ["SyncResult", "SyncSettings", "SyncedTable", "sync_settings", "sync_table"]
