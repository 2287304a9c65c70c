"""`spark.read` for Hudi: methods of `DataFrameReader` and `SparkSession` that lead to pyhudi when a Hudi table is meant.

The methods are replaced on Spark's classes once per process; each replacement passes on to Spark's own unless the
session was enabled and the reader's format, or the table's provider in the catalog, is Hudi.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.readwriter import DataFrameReader

from pyhudi.errors import UsageError
from pyhudi.read.incremental.incremental import ChangesQuery
from pyhudi.read.snapshot.find_table import check_base_path, find_table
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.catalog.relation_cache import catalog_order
from pyhudi.spark.jvm.patches import Hook, IsEnabled, replace_methods
from pyhudi.spark.options.read_request import ReadRequest, noting_hooks, request_of
from pyhudi.spark.options.session_options import read_defaults
from pyhudi.spark.reader.read_frame import read_frame
from pyhudi.spark.reader.view_functions import rows_of
from pyhudi.spark.stopped_sessions import check_running


def install(is_enabled: IsEnabled) -> None:
    """Replace the methods; a second call does nothing.

    Args:
        is_enabled: Says whether `pyhudi.enable` was called for a session.
    """
    replace_methods(DataFrameReader, {**noting_hooks(), **_reading_hooks(is_enabled)})


def load(session: SparkSession, request: ReadRequest, path: str | list[str] | None, query: SnapshotQuery | ChangesQuery) -> DataFrame:
    """Return what a query asks of the table that `load` and options of a request name, or of partitions of one.

    Raises:
        TableNotFound: there is no table.
        UsageError: the paths are of several tables, or name no partition.
        OptionError: the query's time is none, or an option names another table.
    """
    storage, scope = find_table(request.locations(path))
    check_base_path(request.base_path, storage.uri)
    frame = read_frame(session, storage, query if scope is None else replace(query, scope=scope), request.merge_folder)
    filters = query.filters if isinstance(query, ChangesQuery) else ()
    return functools.reduce(DataFrame.filter, filters, frame)


def _reading_hooks(is_enabled: IsEnabled) -> dict[str, Hook]:
    """Return the hooks of the calls that give a DataFrame."""

    def load_hook(
        reader: DataFrameReader,
        original: Hook,
        path: str | list[str] | None = None,
        format: str | None = None,  # noqa: A002 - Spark's name
        schema: Any = None,
        **options: Any,
    ) -> Any:
        session = reader._spark  # noqa: SLF001 - a reader says it nowhere else
        request = request_of(reader).with_arguments(format, schema, options)
        if not (request.is_hudi and is_enabled(session)):
            return original(reader, path, format, schema, **options)
        check_running(session)
        defaults = read_defaults(session)
        if (view := request.table_view(defaults)) is not None:
            name, arguments = view
            return session.createDataFrame(rows_of(name, request.location(path), arguments))
        return load(session, request, path, request.query(defaults))

    def table_hook(reader: DataFrameReader, original: Hook, tableName: str) -> Any:  # noqa: N803
        session = reader._spark  # noqa: SLF001
        request = request_of(reader)
        entry = catalog_table.find(session, tableName) if is_enabled(session) else None
        if entry is None:
            return original(reader, tableName)
        if not request.options:
            return original(reader, tableName)
        if request.has_schema:
            raise UsageError(f"table {tableName} has its own schema: leave out schema(...) and select or cast afterwards.")
        return read_with(session, entry.location, request, entry.partition_columns)

    return {"load": load_hook, "table": table_hook}


def read_with(session: SparkSession, path: str, request: ReadRequest, last: Sequence[str] = ()) -> DataFrame:
    """Return what a request asks of the table at a path, the columns `last` moved to the end as the catalog has them.

    Raises:
        TableNotFound: there is no table.
        OptionError: an option is unknown or has a bad value.
    """
    query = request.query(read_defaults(session))
    frame = load(session, request, path, query)
    if isinstance(query, ChangesQuery) and query.change_data:
        return frame
    ordered = catalog_order(frame.columns, last)
    return frame if ordered == frame.columns else frame.select(*(frame[f"`{name}`"] for name in ordered))
