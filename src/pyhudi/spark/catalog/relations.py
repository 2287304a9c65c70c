"""The Hudi tables that a statement reads: found through names and views, and brought up to date before Spark sees the
statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from pyhudi.read.snapshot.snapshot import Snapshot
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.catalog.relation_cache import refresh
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.storage.open_storage import open_storage

_NAMED = re.compile(r"'?Unresolved(?:Relation|TableOrView|Table|View|Identifier) \[(.*?)\], ")
_VIEW_DATABASE = "view.catalogAndNamespace.part.1"


def refresh_all(session: SparkSession, names: Iterable[tuple[str, ...]], snapshot: Snapshot | None = None) -> list[CatalogTable]:
    """Bring every Hudi table behind the names up to date, that of `snapshot` to that snapshot; returns those tables."""
    tables = {(table.database, table.name): table for name in names for table in _behind(session, name, set())}
    for table in tables.values():
        refresh(session, table, snapshot if snapshot is not None and snapshot.storage.uri == open_storage(table.location).uri else None)
    return list(tables.values())


def _behind(session: SparkSession, parts: tuple[str, ...], visited: set[tuple[str, ...]]) -> Iterator[CatalogTable]:
    """Yield the Hudi tables that a name stands for, through any number of views."""
    if parts in visited:
        return
    visited.add(parts)
    identifier = catalog_table.resolve(session, parts)
    if identifier is None:
        yield from _behind_view(session, _temporary_view(session, parts), visited)
        return
    entry = catalog_table.raw_entry(session, *identifier)
    if entry is None:
        return
    table = catalog_table.read_entry(session, entry)
    if table is not None:
        yield table
    else:
        yield from _behind_view(session, entry, visited)


def _behind_view(session: SparkSession, entry: JavaObject | None, visited: set[tuple[str, ...]]) -> Iterator[CatalogTable]:
    text = None if entry is None else jvm.value_of(entry.viewText())
    if entry is None or text is None:
        return
    database = jvm.value_of(entry.properties().get(_VIEW_DATABASE))
    for name in names_in(jvm.parse(session, text).toString()):
        yield from _behind(session, (database, *name) if database and len(name) == 1 else name, visited)


def _temporary_view(session: SparkSession, parts: tuple[str, ...]) -> JavaObject | None:
    """Return the entry of a temporary view; one made from a DataFrame has no text to look into."""
    if len(parts) != 1:
        return None
    view = jvm.value_of(jvm.session_catalog(session).getTempView(parts[0]))
    return None if view is None else view.desc()


def options_of(relation: JavaObject) -> dict[str, str]:
    """Return the options of `t WITH (key = value)`, without those that Spark's parser adds for itself."""
    options = relation.options().asCaseSensitiveMap()
    # As an array: the end of an iterator over a Java map is an exception, whose way into Python costs some thirty round trips.
    names = [str(name) for name in options.keySet().toArray()]
    return {name: str(options.get(name)) for name in names if not name.startswith("__")}


def names_in(plan_text: str) -> Iterator[tuple[str, ...]]:
    """Yield the names in a printed plan.

    Names of the session catalog hold letters, digits and underscores only, so the printed form is exact for them;
    a path that follows `hudi` is kept whole.
    """
    for match in _NAMED.finditer(plan_text):
        first, comma, rest = match.group(1).partition(", ")
        if first.lower() == "hudi" and comma and "/" in rest:
            yield first, rest
        else:
            yield tuple(match.group(1).split(", "))
