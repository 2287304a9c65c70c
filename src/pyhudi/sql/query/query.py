"""Queries: Spark runs them as they are; only time travel, ``hudi.`path` `` and Hudi's functions are replaced in the text.

A plain name needs no change of the text (`relations.refresh_all` prepares it). For ``t TIMESTAMP AS OF x``,
``hudi.`path` `` and `hudi_table_changes(...)`, which Spark would refuse, a temporary view over the native scan takes the
place of exactly those characters while Spark analyzes the statement.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import TimestampType

from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spark.catalog import catalog_table, relations, temp_views
from pyhudi.spark.catalog.catalog_table import CatalogTable
from pyhudi.spark.catalog.relation_cache import catalog_snapshot
from pyhudi.spark.catalog.relations import refresh_all
from pyhudi.spark.jvm import jvm
from pyhudi.spark.jvm.jvm import JavaObject
from pyhudi.spark.options.read_request import ReadRequest
from pyhudi.spark.reader.frame_reader import read_with
from pyhudi.spark.scan.count_hook import counted_rows
from pyhudi.spark.scan.scan import scan
from pyhudi.sql.query import table_functions as functions
from pyhudi.sql.statement.statement import Statement
from pyhudi.sql.text.qualified_columns import database_spans
from pyhudi.sql.text.tokens import PLAIN_TEXT, quote, tokenize
from pyhudi.storage.open_storage import open_storage

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBERS: Final = itertools.count()
#: `SELECT count(*) [AS name] FROM t`, and nothing else.
_COUNT = re.compile(
    r"'Project \[(?:unresolvedalias\('(?i:count)\(1\)\)|'(?i:count)\(1\) AS (?P<alias>\w+)#\d+)\]"
    r"\s*\+- 'UnresolvedRelation \[[^\]]*\], \[\], false"
)
_REPLACED = re.compile(r"RelationTimeTravel|UnresolvedTableValuedFunction \[hudi_|UnresolvedRelation \[[^\]]*\], \[(?!__)[^\]]")
_STORES_ITS_TEXT = frozenset({"CreateView", "AlterViewAs"})


@dataclass(frozen=True, slots=True)
class _TableReference:
    """A Hudi relation that Spark cannot read as it is written, and where it is in the text."""

    start: int
    end: int
    frame: Callable[[], DataFrame]
    name: str  # what the query may call the relation when it gives no alias
    aliased: bool
    path: str | None = None  # of the table, when it is there by its path alone
    qualified: tuple[tuple[str, ...], ...] = ()  # names with a database by which the query may call it, too


def run(statement: Statement) -> DataFrame:
    """Run a statement that Spark itself can run once the Hudi tables in it are prepared."""
    names = list(statement.names())
    tables = refresh_all(statement.session, names)
    if (counted := _try_count(statement, names, tables)) is not None:
        return counted
    if has_table_references(statement):
        named = statement.with_names()
        with with_replaced_references(named) as (text, _):
            return named.run_sql(text)
    return statement.run_sql(statement.text)


def _try_count(statement: Statement, names: Sequence[tuple[str, ...]], tables: Sequence[CatalogTable]) -> DataFrame | None:
    """Return the answer to `SELECT count(*) FROM t`, where `DataFrame.count` would need no job either; None for all that asks for more.

    The plan says that the query has only the count and the name: no filter, no other column, no alias or option of the table. A view
    has a plan of its own, and what is cached is Spark's to count.
    """
    count_query = _COUNT.fullmatch(statement.plan_text.strip())
    if count_query is None or len(tables) != 1 or catalog_table.find(statement.session, names[0]) != tables[0]:
        return None
    if _is_cached(statement.session, tables[0]):
        return None
    rows = counted_rows(catalog_snapshot(statement.session, tables[0]))
    return None if rows is None else statement.rows([quote(count_query["alias"] or "count(1)")], [[f"{rows}L"]])


def _is_cached(session: SparkSession, table: CatalogTable) -> bool:
    cached = jvm.jvm_session(session).sharedState().cacheManager()
    # Nothing is cached in most sessions: only else is the relation worth resolving.
    return not cached.isEmpty() and bool(cached.lookupCachedData(session.table(table.quoted_name)._jdf).isDefined())  # noqa: SLF001 - no public name


def has_table_references(statement: Statement) -> bool:
    """Tell whether a statement names relations that Spark cannot read as they are written: time travel, paths, functions, options."""
    return _REPLACED.search(statement.plan_text) is not None or any(name[0].lower() == "hudi" for name in statement.names())


@contextmanager
def with_replaced_references(statement: Statement) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the statement's text with names of temporary views in the places of time travel and paths, and of these views the paths."""
    # A subquery in a condition is met on more than one way through the plan.
    by_span = {(index.start, index.end): index for index in _table_references(statement, statement.outer)}
    indices = [by_span[span] for span in sorted(by_span, reverse=True)]
    if indices and statement.kind in _STORES_ITS_TEXT:
        raise UnsupportedError(
            f"A view cannot keep {statement.text[indices[0].start : indices[0].end]!r}: Spark stores a view as text and"
            f" reads it without"
            " pyhudi. Register the table with CREATE TABLE ... USING hudi LOCATION '...' and name it, or use a"
            " temporary view over"
            " spark.read.format('hudi')."
        )
    text, views, paths = statement.text, list[str](), dict[str, str]()
    # A temporary view has no database: of `db.t.id` its part goes.
    qualified = [name for index in indices if not index.aliased for name in index.qualified]
    replaced = dict.fromkeys(database_spans(text, qualified), "")
    try:
        for index in indices:
            view = f"_pyhudi_{next(_NUMBERS)}"
            temp_views.put(statement.session, view, index.frame())
            views.append(view)
            if index.path is not None:
                paths[view] = index.path
            alias = "" if index.aliased else f" AS {quote(index.name)}"
            replaced[index.start, index.end] = view + alias
        for start, end in sorted(replaced, reverse=True):
            text = text[:start] + replaced[start, end] + text[end:]
        yield text, paths
    finally:
        for view in views:
            temp_views.drop(statement.session, view)


def _table_references(statement: Statement, plan: JavaObject, *, aliased: bool = False) -> Iterator[_TableReference]:
    kind = plan.nodeName()
    if kind == "RelationTimeTravel":
        yield from _time_travel(statement, plan, aliased)
    elif kind == "UnresolvedRelation":
        yield from _by_path_or_options(statement, plan, aliased)
    elif (function := functions.function_name(plan)) is not None:
        start, end = _span(plan)
        end = _call_end(statement.text, start, end)
        frame = functools.partial(functions.relation, statement, function, statement.text[start:end])
        yield _TableReference(start, end, frame, function, aliased)
    elif kind == "ExplainCommand":
        yield from _table_references(statement, plan.logicalPlan())
    for nested in (plan.children(), plan.innerChildren(), plan.subqueries()):
        for node in jvm.items_of(nested):
            yield from _table_references(statement, node, aliased=kind == "SubqueryAlias")


def _by_path_or_options(statement: Statement, relation: JavaObject, aliased: bool) -> Iterator[_TableReference]:
    """Yield ``hudi.`path` `` and `t WITH (key = value)`, whose options are those of `spark.read`."""
    parts = tuple(jvm.items_of(relation.multipartIdentifier()))
    options = relations.options_of(relation)
    if not catalog_table.is_path(parts) and not options:
        return
    table = None if catalog_table.is_path(parts) else catalog_table.find(statement.session, parts)
    if table is None and not catalog_table.is_path(parts):
        return
    start, end = _span(relation)
    end = _options_end(statement.text, start) if options else end
    location, last = (parts[1], ()) if table is None else (table.location, table.partition_columns)
    frame = functools.partial(read_with, statement.session, location, ReadRequest(options=options), last)
    path = None if options else location
    yield _TableReference(start, end, frame, parts[-1] if table else "hudi", aliased, path, _qualified(parts, table))


def _time_travel(statement: Statement, node: JavaObject, aliased: bool) -> Iterator[_TableReference]:
    relation = node.relation()
    if relation.nodeName() != "UnresolvedRelation":
        return
    parts = tuple(jvm.items_of(relation.multipartIdentifier()))
    table = None if catalog_table.is_path(parts) else catalog_table.find(statement.session, parts)
    if table is None and not catalog_table.is_path(parts):
        return
    start, (_, end) = _span(relation)[0], _span(node)
    location = parts[1] if table is None else table.location
    frame = functools.partial(_snapshot, statement, location, _instant(statement, node, parts))
    yield _TableReference(start, end, frame, parts[-1] if table else "hudi", aliased, None, _qualified(parts, table))


def _qualified(parts: tuple[str, ...], table: CatalogTable | None) -> tuple[tuple[str, ...], ...]:
    """Return the names with a database of a table that is not named by its path: the last two parts, all three, and as it is written."""
    if table is None:
        return ()
    full = (catalog_table.SESSION_CATALOG, table.database, table.name)
    return tuple({full, full[1:], *([parts] if len(parts) > 2 else [])})


def _options_end(text: str, start: int) -> int:
    """Return where `t WITH (...)` ends, whose span may stop at the name and may continue with its alias."""
    tokens = tokenize(text)
    opening = next(n for n, token in enumerate(tokens) if token.start >= start and token.is_word("WITH")) + 1
    closing = next(token for token in tokens[opening + 1 :] if token.text == ")" and token.depth == tokens[opening].depth)
    return closing.end


def _call_end(text: str, start: int, end: int) -> int:
    """Return where a function call ends whose span may continue with its alias."""
    closing = next(token for token in tokenize(text[start:end]) if token.text == ")" and token.depth == 0)
    return start + closing.end


def _snapshot(statement: Statement, location: str, as_of: str | datetime | None = None) -> DataFrame:
    return scan(statement.session, open_snapshot(open_storage(location), SnapshotQuery(as_of=as_of)))


def _instant(statement: Statement, node: JavaObject, parts: tuple[str, ...]) -> str | datetime:
    """Return the time that a TIMESTAMP AS OF or VERSION AS OF states, as text; an expression is Spark's to evaluate."""
    version = jvm.value_of(node.version())
    if version is not None:
        return str(version)
    start, end = _span(node)
    clause = statement.text[start:end]
    tokens = tokenize(clause)
    stated = next(n for n, token in enumerate(tokens) if token.is_word("OF")) + 1
    if len(tokens) == stated + 1 and PLAIN_TEXT.fullmatch(tokens[stated].text):
        return tokens[stated].text[1:-1]
    frame = statement.run_sql(f"SELECT {clause[tokens[stated].start :]} AS t")
    is_time = isinstance(frame.schema[0].dataType, TimestampType)
    (value,) = frame.selectExpr("unix_micros(t)" if is_time else "CAST(t AS STRING)").collect()[0]
    if value is None:
        raise UsageError(f"The time in {'.'.join(parts)} {clause} is null: state an instant, a date or a timestamp.")
    return _EPOCH + timedelta(microseconds=value) if is_time else str(value)


def _span(node: JavaObject) -> tuple[int, int]:
    origin = node.origin()
    return origin.startIndex().get(), origin.stopIndex().get() + 1
