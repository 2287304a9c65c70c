"""Makes Spark's own analyzer see a Hudi table of the session catalog as a native scan.

Spark asks its relation cache for the plan of a data-source table before it asks the table's provider. `refresh` puts
the scan of the table's current snapshot there, so the table works wherever Spark resolves a name: joins, subqueries,
CTEs, views, `spark.table`, under one, two or three name parts. Who hands names to Spark refreshes them first. Design:
docs/design/0030-sql-front-door.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pyhudi.read.query import SnapshotQuery
from pyhudi.read.snapshot import Snapshot, open_snapshot
from pyhudi.spark import cached_tables, jvm
from pyhudi.spark.catalog_table import SESSION_CATALOG, CatalogTable, find, show_columns
from pyhudi.spark.file_index import scans_of
from pyhudi.spark.jvm import JavaObject
from pyhudi.spark.scan import scan
from pyhudi.spark.session_options import shows_whole, table_query
from pyhudi.spark.types import described
from pyhudi.storage.open import open_storage
from pyhudi.timeline.timeline import Timeline


@dataclass(slots=True)
class _Shown:
    """What of a table the session's relation cache holds: the plan is good as long as the timeline is the same."""

    location: str
    snapshot: Snapshot = field(repr=False)
    key: JavaObject = field(repr=False)


_SHOWN: WeakKeyDictionary[SparkSession, dict[tuple[str, str], _Shown]] = WeakKeyDictionary()


def refresh(session: SparkSession, table: CatalogTable, opened: Snapshot | None = None) -> None:
    """Let the session's analyzer resolve the table to its current snapshot, or to one that was just opened: all rows of a table that a
    statement changes, however the session reads.

    Costs one listing of the timeline; a new plan is made only when the timeline has changed. What is cached by name over the table
    then follows (`cached_tables`).
    """
    shown = _SHOWN.setdefault(session, {})
    name = (table.database, table.name)
    query = table_query(session, whole=opened is not None)
    snapshot = opened if opened is not None and opened.query == query else open_snapshot(open_storage(table.location), query)
    catalog = jvm.session_catalog(session)
    known = shown.get(name)
    is_same = known is not None and known.location == table.location and _state(known.snapshot) == _state(snapshot)
    if known is not None and is_same and catalog.getCachedTable(known.key) is not None:
        return
    key = _key(session, table) if known is None else known.key
    frame = _in_catalog_order(scan(session, snapshot), snapshot)
    if known is None or known.snapshot.schema != snapshot.schema:
        show_columns(session, table, described(frame.schema, snapshot.schema))
    catalog.cacheTable(key, jvm.analyzed_plan(frame))
    shown[name] = _Shown(table.location, snapshot, key)
    # Not to what a statement reads otherwise than the session does: the next query of the session comes here again.
    if cached_tables.any_cached(session) and (opened is None or shows_whole(session)):
        cached_tables.follow(session, scans_of(snapshot.storage))


def shown_snapshot(session: SparkSession, table: CatalogTable) -> Snapshot:
    """Return the snapshot that the session's analyzer resolves a table to; it was refreshed before."""
    return _SHOWN[session][table.database, table.name].snapshot


def known_snapshot(session: SparkSession, table: CatalogTable) -> Snapshot | None:
    """Return the snapshot to which the session's analyzer last resolved a table, None if it never did; it may be of the past."""
    known = _SHOWN.get(session, {}).get((table.database, table.name))
    return None if known is None else known.snapshot


def _state(snapshot: Snapshot) -> tuple[SnapshotQuery, Timeline, pa.Schema]:
    return snapshot.query, snapshot.timeline, snapshot.schema


def refresh_known(session: SparkSession) -> None:
    """Refresh every table whose plan the session holds: for statements that name tables only while they run."""
    for name in list(_SHOWN.get(session, {})):
        table = find(session, (SESSION_CATALOG, *name))
        if table is not None:
            refresh(session, table)


def forget(session: SparkSession, table: CatalogTable) -> None:
    """Drop the table's plan from the session's relation cache."""
    known = _SHOWN.setdefault(session, {}).pop((table.database, table.name), None)
    if known is not None:
        jvm.session_catalog(session).invalidateCachedTable(known.key)


def forget_cached(session: SparkSession, table: CatalogTable) -> JavaObject | None:
    """Drop the table's plan, and the rows that are cached of it or by it; returns Spark's storage level of its own, None if it has none."""
    known = _SHOWN.get(session, {}).get((table.database, table.name))
    resolves = known is not None and jvm.session_catalog(session).getCachedTable(known.key) is not None
    level = cached_tables.dropped(session, table.quoted_name) if resolves and cached_tables.any_cached(session) else None
    forget(session, table)
    return level


def _in_catalog_order(frame: DataFrame, snapshot: Snapshot) -> DataFrame:
    """Order the columns as the catalog states them, partition columns last; the bare scan also has Spark's `_metadata`."""
    wanted = catalog_order(frame.columns, snapshot.config.partition_fields)
    return frame if wanted == frame.columns else frame.select(*(f"`{name}`" for name in wanted))


def catalog_order(columns: Sequence[str], partition_columns: Sequence[str]) -> list[str]:
    """Return the columns with those that partition the table moved to the end, as Spark's catalog wants them."""
    last = [name for name in partition_columns if name in columns]
    return [name for name in columns if name not in last] + last


def _key(session: SparkSession, table: CatalogTable) -> JavaObject:
    package = jvm.jvm(session).org.apache.spark.sql.catalyst
    return package.QualifiedTableName(SESSION_CATALOG, table.database, table.name)
