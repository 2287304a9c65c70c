"""Table-valued functions that look at a table instead of its rows: `hudi_query_timeline`, `hudi_filesystem_view`, `hudi_metadata`.

Rules: `HoodieTimelineTableValuedFunction`, `HoodieFileSystemViewTableValuedFunction`, `HoodieMetadataTableValuedFunction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from pyhudi.errors import UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spark.jvm.store_access import hadoop_base
from pyhudi.spark.reader.metadata_records import METADATA, metadata_rows
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Instant
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows

_TEXT, _NUMBER = pa.string(), pa.int64()
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


ProduceRows = Callable[[HudiTable, Sequence[str]], Iterator[dict[str, Any]]]
#: By name: how it is called, how many arguments may follow the table, its columns, its rows.
_FUNCTIONS: Final[dict[str, tuple[str, int, pa.Schema, ProduceRows]]] = {
    "hudi_query_timeline": ("hudi_query_timeline('table' [, 'true'])", 1, _TIMELINE, _timeline),
    "hudi_filesystem_view": ("hudi_filesystem_view('table' [, 'partition path'])", 1, _SLICES, _slices),
    "hudi_metadata": ("hudi_metadata('table')", 0, METADATA, metadata_rows),
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
