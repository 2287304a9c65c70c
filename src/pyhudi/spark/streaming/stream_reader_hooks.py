"""`spark.readStream` for Hudi: the methods of `DataStreamReader`, led to pyhudi's source when a Hudi table is meant."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader

from pyhudi.errors import UsageError
from pyhudi.read.read_kinds import ReadKind, warn_of_no_effect
from pyhudi.read.snapshot.find_table import check_base_path
from pyhudi.read.snapshot.query_type import SnapshotQuery, check_reads_rows
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.spark.catalog import catalog_table
from pyhudi.spark.jvm.patches import Hook, IsEnabled, replace_methods
from pyhudi.spark.options.read_request import ReadRequest, noting_hooks, request_of
from pyhudi.spark.stopped_sessions import check_running
from pyhudi.spark.streaming.stream_source import NAME, STORAGE_PREFIX, HudiStream, stated_start, stream_options
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.remote.cloud_storage import CloudStorage


def install(is_enabled: IsEnabled) -> None:
    """Replace the methods; a second call does nothing.

    Args:
        is_enabled: Says whether `pyhudi.enable` was called for a session.
    """
    replace_methods(DataStreamReader, {**noting_hooks(), **_reading_hooks(is_enabled)})


def _reading_hooks(is_enabled: IsEnabled) -> dict[str, Hook]:
    """Return the hooks of the calls that give a DataFrame."""

    def load(
        reader: DataStreamReader,
        original: Hook,
        path: str | None = None,
        format: str | None = None,  # noqa: A002 - Spark's name
        schema: Any = None,
        **options: Any,
    ) -> Any:
        session = reader._spark  # noqa: SLF001 - a reader says it nowhere else
        request = request_of(reader).with_arguments(format, schema, options)
        if not (request.is_hudi and is_enabled(session)):
            return original(reader, path, format, schema, **options)
        check_running(session)
        return _stream(session, request.location(path), request)

    def table(reader: DataStreamReader, original: Hook, tableName: str) -> Any:  # noqa: N803 - Spark's name
        session = reader._spark  # noqa: SLF001
        entry = catalog_table.find(session, tableName) if is_enabled(session) else None
        if entry is None:
            return original(reader, tableName)
        if request_of(reader).has_schema:
            raise UsageError(f"table {tableName} has its own schema: leave out schema(...) and select or cast afterwards.")
        return _stream(session, entry.location, request_of(reader))

    return {"load": load, "table": table}


def _stream(session: SparkSession, location: str, request: ReadRequest) -> DataFrame:
    given = {name: value for name, value in request.options.items() if name.lower() != "path"}
    options, storage = stream_options(given), open_storage(location)
    check_reads_rows(options)
    warn_of_no_effect(options, ReadKind.STREAM)
    check_base_path(request.base_path, storage.uri)
    # What is wrong with the table or the start is said here, not by a worker.
    open_snapshot(storage, SnapshotQuery("snapshot"))
    stated_start(storage, options)
    session.dataSource.register(HudiStream)
    of_storage = {f"{STORAGE_PREFIX}{name}": value for name, value in (storage.options if isinstance(storage, CloudStorage) else ())}
    return session.readStream.format(NAME).options(**given, **of_storage, path=location).load()
