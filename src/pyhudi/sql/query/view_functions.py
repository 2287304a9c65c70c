"""Table-valued functions that look at a table instead of its rows: `hudi_query_timeline`, `hudi_filesystem_view`, `hudi_metadata`.

Rules: `HoodieTimelineTableValuedFunction`, `HoodieFileSystemViewTableValuedFunction`, `HoodieMetadataTableValuedFunction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from pyhudi.errors import UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format import record as records
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.spark.scan.file_index import hadoop_base
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Instant
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows

_TEXT, _NUMBER, _FLAG = pa.string(), pa.int64(), pa.bool_()
_TIMELINE: Final = pa.schema(
    [
        *((name, _TEXT) for name in ("Timestamp", "Action", "State", "Completion_Time", "File_Name")),
        *(
            (f"Total_{name}", _NUMBER)
            for name in (
                "Bytes_Written",
                "Files_Updated",
                "Partitions_Written",
                "Records_Written",
                "Updated_Records_Written",
                "Write_Errors",
            )
        ),
    ]
)
_SLICES: Final = pa.schema(
    [
        *((name, _TEXT) for name in ("File_ID", "Partition_Path", "Base_Instant_Time", "Base_File_Path")),
        *((name, _NUMBER) for name in ("Base_File_Size", "Log_File_Count", "Log_File_Size", "Log_File_Scheduled", "Log_File_Unscheduled")),
    ]
)
_METADATA: Final = pa.schema(
    [
        ("key", _TEXT),
        ("type", pa.int32()),
        ("filesystemMetadata", pa.map_(_TEXT, pa.struct([("size", _NUMBER), ("isDeleted", _FLAG)]))),
        ("BloomFilterMetadata", pa.struct([("type", _TEXT), ("timestamp", _TEXT), ("bloomFilter", pa.binary()), ("isDeleted", _FLAG)])),
        (
            "ColumnStatsMetadata",
            pa.struct(
                [
                    *((name, _TEXT) for name in ("fileName", "columnName", "minValue", "maxValue")),
                    *((name, _NUMBER) for name in ("valueCount", "nullCount", "totalSize", "totalUncompressedSize")),
                    ("isDeleted", _FLAG),
                    ("isTightBound", _FLAG),
                ]
            ),
        ),
        ("recordIndexMetadata", pa.struct([("partitionName", _TEXT), ("fileId", _TEXT), ("instantTime", _NUMBER), ("position", _NUMBER)])),
        ("SecondaryIndexMetadata", pa.struct([("isDeleted", _FLAG)])),
    ]
)


def _timeline(table: HudiTable, arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield one row an instant, the oldest first; archived ones too when the second argument is `true`."""
    argument = arguments[0].lower() if arguments else "false"
    if argument not in ("true", "false"):
        raise UsageError(f"hudi_query_timeline('table' [, 'true']): '{arguments[0]}' is neither true nor false.")
    timeline = load_full_timeline(table.storage, table.config)
    if argument == "true":
        active = {(instant.requested, instant.action) for instant in timeline.instants}
        for one in archived_instants(table.storage, table.config, read_rows):
            if (one.instant.requested, one.instant.action) not in active:
                yield _instant_row(table, one.instant, one.instant.completed, one.metadata)
    for instant in timeline.instants:
        wrote = instant.is_completed and instant.action.writes_data
        commit = load_commit_metadata(table.storage, table.config, timeline, instant) if wrote else None
        yield _instant_row(table, instant, timeline.completion_time(instant.requested) if wrote else instant.completed, commit)


def _instant_row(table: HudiTable, instant: Instant, completed: str | None, commit: CommitMetadata | None) -> dict[str, Any]:
    stats = () if commit is None else tuple(commit.all_stats())
    return {
        "Timestamp": instant.requested,
        "Action": instant.action.value,
        "State": instant.state.name,
        "Completion_Time": completed,
        "File_Name": instant.file_name(table.config.layout),
        "Total_Bytes_Written": sum(stat.total_write_bytes for stat in stats),
        "Total_Files_Updated": sum(stat.prev_commit not in (None, "null") for stat in stats),
        "Total_Partitions_Written": len({stat.partition_path for stat in stats}),
        "Total_Records_Written": sum(stat.num_writes for stat in stats),
        "Total_Updated_Records_Written": sum(stat.num_update_writes for stat in stats),
        "Total_Write_Errors": sum(stat.total_write_errors for stat in stats),
    }


def _slices(table: HudiTable, arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield one row a file slice, of the partitions whose path begins with the second argument."""
    prefix = arguments[0].rstrip("*").rstrip("/") if arguments else ""
    view = FileSystemView(table.storage, table.config, load_full_timeline(table.storage, table.config))
    pending = view.pending_compaction
    for path in view.partition_paths():
        if not path.startswith(prefix):
            continue
        for group in view.groups(path):
            planned = pending.get(group.id)
            named = set() if planned is None else {name.rpartition("/")[2] for name in planned.operation.delta_files or ()}
            for file_slice in group.slices:
                size = sum(log.size for log in file_slice.logs)
                scheduled = sum(log.size for log in file_slice.logs if str(log.name) in named)
                yield {
                    "File_ID": group.id.file_id,
                    "Partition_Path": path,
                    "Base_Instant_Time": file_slice.base_instant,
                    "Base_File_Path": "" if file_slice.base is None else f"{hadoop_base(table.storage)}/{file_slice.base.path}",
                    "Base_File_Size": -1 if file_slice.base is None else file_slice.base.size,
                    "Log_File_Count": len(file_slice.logs),
                    "Log_File_Size": size,
                    "Log_File_Scheduled": scheduled,
                    "Log_File_Unscheduled": size - scheduled,
                }


def metadata_of(table: HudiTable, argument: str) -> MetadataTable:
    """Open the metadata table of a table; `argument` says for messages what wants it.

    Raises:
        UsageError: it has none.
    """
    if not table.config.metadata_partitions:
        raise UsageError(f"{argument}: {table.config.name} has no metadata table.")
    return MetadataTable.open(table.storage, table.config, load_timeline(table.storage, table.config))


def _metadata(table: HudiTable, _: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the records of the metadata table, partition by partition."""
    metadata = metadata_of(table, "hudi_metadata")
    for name in metadata.partitions:
        for key, record in metadata.partition(name).scan():
            yield {"key": key, **_record_row(record)}


def _record_row(record: records.MetadataRecord) -> dict[str, Any]:
    match record:
        case records.FileList(type=kind, entries=entries):
            files = [(name, {"size": entry.size, "isDeleted": entry.is_deleted}) for name, entry in entries.items()]
            return {"type": int(kind), "filesystemMetadata": files}
        case records.BloomFilterRecord():
            stored = {"type": record.kind, "timestamp": record.instant, "bloomFilter": record.text, "isDeleted": record.is_deleted}
            return {"type": int(records.RecordType.BLOOM_FILTER), "BloomFilterMetadata": stored}
        case records.ColumnStats():
            return {"type": int(record.type), "ColumnStatsMetadata": _stats_row(record)}
        case records.RecordLocation():
            location = {
                "partitionName": record.partition_path,
                "fileId": record.file_id,
                "instantTime": record.instant_ms,
                "position": record.position,
            }
            return {"type": int(records.RecordType.RECORD_INDEX), "recordIndexMetadata": location}
        case records.SecondaryEntry():
            return {"type": int(records.RecordType.SECONDARY_INDEX), "SecondaryIndexMetadata": {"isDeleted": record.is_deleted}}


def _stats_row(stats: records.ColumnStats) -> dict[str, Any]:
    return {
        "fileName": stats.file_name,
        "columnName": stats.column,
        "minValue": None if stats.minimum is None else str(stats.minimum),
        "maxValue": None if stats.maximum is None else str(stats.maximum),
        "valueCount": stats.value_count,
        "nullCount": stats.null_count,
        "totalSize": stats.total_size,
        "totalUncompressedSize": stats.total_uncompressed_size,
        "isDeleted": stats.is_deleted,
        "isTightBound": stats.is_tight_bound,
    }


ProduceRows = Callable[[HudiTable, Sequence[str]], Iterator[dict[str, Any]]]
#: By name: how it is called, how many arguments may follow the table, its columns, its rows.
_FUNCTIONS: Final[dict[str, tuple[str, int, pa.Schema, ProduceRows]]] = {
    "hudi_query_timeline": ("hudi_query_timeline('table' [, 'true'])", 1, _TIMELINE, _timeline),
    "hudi_filesystem_view": ("hudi_filesystem_view('table' [, 'partition path'])", 1, _SLICES, _slices),
    "hudi_metadata": ("hudi_metadata('table')", 0, _METADATA, _metadata),
}
NAMES: Final = frozenset(_FUNCTIONS)


def usage(name: str) -> str:
    """Return how a function is called."""
    return _FUNCTIONS[name][0]


def rows_of(name: str, location: str, arguments: Sequence[str]) -> pa.Table:
    """Return the rows of a function.

    Args:
        name: One of `NAMES`.
        location: The table's base path.
        arguments: What follows the table.

    Raises:
        UsageError: an argument is wrong, or too many are given.
        TableNotFound: there is no table.
    """
    called, most, schema, rows = _FUNCTIONS[name]
    if len(arguments) > most:
        raise UsageError(f"{name} takes {most + 1} argument(s) at most: {called}.")
    return pa.Table.from_pylist(list(rows(HudiTable.open(location), arguments)), schema=schema)
