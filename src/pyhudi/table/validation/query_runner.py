"""Where the queries of SQL validators run: an engine that has registered itself, such as the Spark session, else DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pyarrow as pa

from pyhudi.table.scan.optional_package import load_package


class QueryRunner(Protocol):
    """Runs a query on Arrow tables; the result is rows of Python values."""

    def __call__(self, query: str, tables: dict[str, pa.Table]) -> list[tuple[Any, ...]]:
        """Return the rows of a query on tables by name; any exception is the engine's."""
        ...


#: Registered engines: each returns its runner, or None while it has none, as when there is no session.
_engines: list[Callable[[], QueryRunner | None]] = []


def register_query_runner(engine: Callable[[], QueryRunner | None]) -> None:
    """Let an engine run the queries of validators while it has a runner; what was registered last is asked first."""
    _engines.insert(0, engine)


def query_runner(what: str) -> QueryRunner:
    """Return what runs the queries of validators here; `what` needs it, for the message.

    Raises:
        UnsupportedError: there is no session of Spark, and DuckDB is not installed.
    """
    for engine in _engines:
        runner = engine()
        if runner is not None:
            return runner
    duckdb = load_package("duckdb", what)

    def run(query: str, tables: dict[str, pa.Table]) -> list[tuple[Any, ...]]:
        with duckdb.connect() as connection:
            for name, rows in tables.items():
                connection.register(name, rows)
            result: list[tuple[Any, ...]] = connection.sql(query).fetchall()
            return result

    return run


def sorted_rows(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return rows as sorted strings: the order of a result says nothing."""
    return sorted(repr(tuple(row)) for row in rows)
