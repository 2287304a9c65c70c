"""The plans that Spark's analyzer sees Hudi tables of the session catalog as: native scans of their current snapshots.

A plan is recreated when the table's timeline has changed, and asked for by the analyzer's rule wherever Spark resolves a name (`resolver`).
A statement of the front door refreshes its tables first and looks at each once. Design: docs/design/0031-tables-inside-the-jvm.md.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pyhudi.cache import LruCache
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import Snapshot, open_snapshot
from pyhudi.spark.catalog import cached_tables
from pyhudi.spark.catalog.catalog_table import CatalogTable, show_columns
from pyhudi.spark.jvm import java_code, jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.jvm.spark_types import with_comments
from pyhudi.spark.options.session_options import shows_whole, table_query
from pyhudi.spark.scan.file_index import scans_of
from pyhudi.spark.scan.scan import scan
from pyhudi.storage.open_storage import open_storage
from pyhudi.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class _ServedPlan:
    """The plan of a table: good as long as its timeline is the same."""

    location: str
    snapshot: Snapshot = field(repr=False)
    plan: JavaObject = field(repr=False)


class _Statement(threading.local):
    """The statement that a Python thread runs: the tables that it pinned; None when it runs none."""

    pinned: set[tuple[str, str]] | None = None


#: A table that is left out is planned again when it is named next.
_MOST_PLANS = 1000
_PLANS: WeakKeyDictionary[SparkSession, LruCache[tuple[str, str], _ServedPlan]] = WeakKeyDictionary()
_STATEMENT = _Statement()


@contextmanager
def one_statement(session: SparkSession) -> Iterator[None]:
    """Let every table that is refreshed inside stand for that snapshot to the end: a statement looks at a table once.

    The plans are pinned to the JVM's thread that works for this one (py4j's pinned threads), where the statement is analyzed.
    """
    if _STATEMENT.pinned is not None:
        yield
        return
    _STATEMENT.pinned = set()
    try:
        yield
    finally:
        if _STATEMENT.pinned:
            java_code.source(session).unpin()
        _STATEMENT.pinned = None


def _pin(session: SparkSession, table: CatalogTable, served: _ServedPlan) -> None:
    if _STATEMENT.pinned is not None:
        java_code.source(session).pin(table.database, table.name, served.plan)
        _STATEMENT.pinned.add((table.database, table.name))


def current_plan(session: SparkSession, table: CatalogTable) -> JavaObject:
    """Return the plan of a table's current snapshot, as the session reads tables."""
    served, is_new = _served_plan(session, table, None)
    if is_new:
        _follow(session, served)
    return served.plan


def refresh(session: SparkSession, table: CatalogTable, snapshot_of_statement: Snapshot | None = None) -> None:
    """Let the session's analyzer resolve the table to its current snapshot while the statement runs, or to one that was just opened: all
    rows of a table that a statement changes, however the session reads.

    Costs one listing of the timeline; a new plan is made only when the timeline has changed. What is cached by name over the table
    then follows (`cached_tables`).
    """
    served, is_new = _served_plan(session, table, snapshot_of_statement)
    _pin(session, table, served)
    # Not to what a statement reads otherwise than the session does: the next query of the session comes here again.
    if is_new and (snapshot_of_statement is None or shows_whole(session)):
        _follow(session, served)


def _served_plan(session: SparkSession, table: CatalogTable, snapshot_of_statement: Snapshot | None) -> tuple[_ServedPlan, bool]:
    """Return what the table stands for, and whether it is another than before."""
    served = _plans(session)
    name = (table.database, table.name)
    query = table_query(session, whole=snapshot_of_statement is not None)
    if table.is_read_optimized and snapshot_of_statement is None:
        query = replace(query, mode="read_optimized")
    snapshot = (
        snapshot_of_statement
        if snapshot_of_statement is not None and snapshot_of_statement.query == query
        else open_snapshot(open_storage(table.location), query)
    )
    known = served.get(name)
    if known is not None and known.location == table.location and _state(known.snapshot) == _state(snapshot):
        return known, False
    frame = _in_catalog_order(scan(session, snapshot), snapshot)
    if known is None or known.snapshot.schema != snapshot.schema:
        show_columns(session, table, with_comments(frame.schema, snapshot.schema))
    made = _ServedPlan(table.location, snapshot, jvm.analyzed_plan(frame))
    served.put(name, made)
    return made, True


def _plans(session: SparkSession) -> LruCache[tuple[str, str], _ServedPlan]:
    return _PLANS.setdefault(session, LruCache(_MOST_PLANS))


def _follow(session: SparkSession, served: _ServedPlan) -> None:
    if cached_tables.any_cached(session):
        cached_tables.follow(session, scans_of(served.snapshot.storage))


def catalog_snapshot(session: SparkSession, table: CatalogTable) -> Snapshot:
    """Return the snapshot that the session's analyzer resolves a table to; it was refreshed before."""
    return known_snapshot(session, table) or _served_plan(session, table, None)[0].snapshot


def known_snapshot(session: SparkSession, table: CatalogTable) -> Snapshot | None:
    """Return the snapshot to which the session's analyzer last resolved a table, None if it never did; it may be of the past."""
    known = _plans(session).get((table.database, table.name))
    return None if known is None else known.snapshot


def _state(snapshot: Snapshot) -> tuple[SnapshotQuery, Timeline, pa.Schema]:
    return snapshot.query, snapshot.timeline, snapshot.schema


def forget(session: SparkSession, table: CatalogTable) -> None:
    """Forget the table's plan."""
    _plans(session).pop((table.database, table.name))
    if _STATEMENT.pinned is not None and (table.database, table.name) in _STATEMENT.pinned:
        java_code.source(session).pin(table.database, table.name, None)


def forget_cached(session: SparkSession, table: CatalogTable) -> JavaObject | None:
    """Drop the table's plan, and the rows that are cached of it or by it; returns Spark's storage level of its own, None if it has none."""
    known = _plans(session).get((table.database, table.name))
    level = None
    if known is not None and cached_tables.any_cached(session):
        with one_statement(session):
            _pin(session, table, known)  # the table's files may be missing
            level = cached_tables.dropped(session, table.quoted_name)
    forget(session, table)
    return level


def _in_catalog_order(frame: DataFrame, snapshot: Snapshot) -> DataFrame:
    """Order the columns as the catalog states them, partition columns last; the bare scan also has Spark's `_metadata`."""
    ordered_names = catalog_order(frame.columns, snapshot.config.partition_fields)
    return frame if ordered_names == frame.columns else frame.select(*(f"`{name}`" for name in ordered_names))


def catalog_order(columns: Sequence[str], partition_columns: Sequence[str]) -> list[str]:
    """Return the columns with those that partition the table moved to the end, as Spark's catalog wants them."""
    last = [name for name in partition_columns if name in columns]
    return [name for name in columns if name not in last] + last
