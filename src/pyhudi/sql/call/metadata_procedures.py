"""Procedures about the metadata table.

Rules: `ShowMetadataTablePartitionsProcedure`, `ShowMetadataTableFilesProcedure`, `ShowMetadataTableStatsProcedure`,
`ValidateMetadataTableFilesProcedure`, `ShowMetadataTableColumnStatsProcedure`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pyhudi.errors import UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings, metadata_settings
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spark.reader.metadata_records import metadata_of
from pyhudi.spec.options import resolve
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.locked_table import locked_table
from pyhudi.txn.metadata_updates import prepare_metadata_table

_WAIT_S: Final = 60.0


def _open_tables(call: ProcedureCall) -> tuple[HudiTable, MetadataTable]:
    """Open a table and its metadata table.

    Raises:
        UsageError: it has none.
    """
    table = call.open()
    return table, metadata_of(table, f"CALL {call.procedure.name}")


def _partitions(call: ProcedureCall) -> Iterator[Row]:
    _, metadata = _open_tables(call)
    return ((path,) for path in metadata.partition_paths())


def _files(call: ProcedureCall) -> Iterator[Row]:
    _, metadata = _open_tables(call)
    partition = call.text("partition")
    paths = metadata.partition_paths() if partition is None else (partition,)
    rows = ((status.name,) for path in paths for status in metadata.files(path))
    return itertools.islice(rows, call.number("limit"))


def _stats(call: ProcedureCall) -> Iterator[Row]:
    _, metadata = _open_tables(call)
    for name in sorted(metadata.partitions):
        slices = metadata.partition(name).slices
        bases = [file_slice.base.size for file_slice in slices if file_slice.base is not None]
        logs = [log.size for file_slice in slices for log in file_slice.logs]
        yield f"{name}.baseFileCount", str(len(bases))
        yield f"{name}.logFileCount", str(len(logs))
        yield f"{name}.totalBaseFileSizeInBytes", str(sum(bases))
        yield f"{name}.totalLogFileSizeInBytes", str(sum(logs))


def _validate(call: ProcedureCall) -> Iterator[Row]:
    table, metadata = _open_tables(call)
    view = FileSystemView(table.storage, table.config, load_timeline(table.storage, table.config))
    for path in sorted({*metadata.partition_paths(), *view.partition_paths()}):
        known = {status.name: status.size for status in metadata.files(path)}
        stored = {
            status.name: status.size for status in table.storage.list(path) if not status.is_dir and not _is_partition_metadata(status.name)
        }
        for name in sorted({*known, *stored}):
            differs = known.get(name) != stored.get(name)
            if differs or call.flag("verbose"):
                yield path, name, name in stored, name in known, stored.get(name, 0), known.get(name, 0)


def _is_partition_metadata(name: str) -> bool:
    return name.startswith(".hoodie_partition_metadata")


def _column_stats(call: ProcedureCall) -> Iterator[Row]:
    table, metadata = _open_tables(call)
    stated = call.text("targetColumns")
    columns = [name.strip() for name in stated.split(",")] if stated else list(table.schema.names)
    for stats in metadata.column_stats(columns, call.text("partition")):
        bounds = (None if value is None else str(value) for value in (stats.minimum, stats.maximum))
        yield stats.file_name, stats.column, *bounds, stats.null_count


def _settle(table: HudiTable, settings: MetadataSettings) -> None:
    """Make or delete the metadata table under the table's lock.

    Raises:
        UnsupportedError: the table has an index that this release does not write.
        LockTimeoutError: a writer holds the table.
    """
    with locked_table(table.storage, _WAIT_S, table.clock, table.ids) as unlocked:
        locked = roll_back_failed_writes(unlocked)
        stored = table_schema(locked.storage, locked.config, locked.timeline)
        prepare_metadata_table(locked, stored.avro_json, settings, history=history_of(stored.columns))


def _create(call: ProcedureCall) -> Iterator[Row]:
    table = call.open_for_writing()
    if table.config.metadata_partitions:
        raise UsageError(f"CALL {call.procedure.name}: {table.config.name} has a metadata table; init_metadata_table rebuilds it.")
    _settle(table, replace(metadata_settings(resolve(call.options())), enabled=True))
    yield (f"Created Metadata Table in {table.storage.uri}/.hoodie/metadata",)


def _init(call: ProcedureCall) -> Iterator[Row]:
    table, _ = _open_tables(call)
    if not call.flag("read_only"):
        call.open_for_writing().services.index(rebuild=True)
    yield (f"Initialized Metadata Table in {table.storage.uri}/.hoodie/metadata",)


def _delete(call: ProcedureCall) -> Iterator[Row]:
    table, _ = _open_tables(call)
    _settle(call.open_for_writing(), MetadataSettings(enabled=False))
    yield (f"Removed Metadata Table from {table.storage.uri}/.hoodie/metadata",)


_TABLE: Final = Parameter("table", default=REQUIRED)
_SOURCE: Final = (Parameter("table"), Parameter("path"))
_FILTER: Final = Parameter("filter")

PROCEDURES: Final = (
    Procedure("create_metadata_table", "Makes the metadata table.", (_TABLE,), (Column("result"),), _create),
    Procedure(
        "init_metadata_table",
        "Rebuilds the metadata table.",
        (_TABLE, Parameter("read_only", "boolean", default=False)),
        (Column("result"),),
        _init,
    ),
    Procedure("delete_metadata_table", "Deletes the metadata table.", (_TABLE,), (Column("result"),), _delete),
    Procedure("show_metadata_table_partitions", "The partitions it lists.", (*_SOURCE, _FILTER), (Column("partition"),), _partitions),
    Procedure(
        "show_metadata_table_files",
        "The files it lists.",
        (*_SOURCE, Parameter("partition"), Parameter("limit", "int", 100), _FILTER),
        (Column("file_path"),),
        _files,
    ),
    Procedure(
        "show_metadata_table_stats",
        "Number and size of its own files.",
        (*_SOURCE, _FILTER),
        (Column("stat_key"), Column("stat_value")),
        _stats,
    ),
    Procedure(
        "validate_metadata_table_files",
        "The files that differ between it and the storage.",
        (_TABLE, Parameter("verbose", "boolean", default=False)),
        (
            Column("partition"),
            Column("file_name"),
            Column("is_present_in_fs", "boolean"),
            Column("is_present_in_metadata", "boolean"),
            Column("fs_size", "bigint"),
            Column("metadata_size", "bigint"),
        ),
        _validate,
    ),
    Procedure(
        "show_metadata_table_column_stats",
        "The column statistics it holds.",
        (*_SOURCE, Parameter("partition"), Parameter("targetColumns"), _FILTER),
        (Column("file_name"), Column("column_name"), Column("min_value"), Column("max_value"), Column("null_number", "bigint")),
        _column_stats,
    ),
)
