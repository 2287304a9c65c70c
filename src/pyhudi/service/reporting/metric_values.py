"""The metrics of commits and table services, under Apache Hudi's names without prefix, such as `commit.totalRecordsWritten`.

Rules: `HoodieMetrics.updateCommitMetrics`, `.updateCleanMetrics`, `.updateArchiveMetrics`. All values are whole numbers; times are
milliseconds, `commitTime` since 1970.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from pyhudi.service.archival.archival_result import ArchivalResult
from pyhudi.service.cleaning.clean_result import CleanResult
from pyhudi.service.table_service import COMPLETED
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat

Values: TypeAlias = dict[str, int]

#: What is added up over the write stats of a commit.
_SUMS: Final[dict[str, Callable[[WriteStat], int]]] = {
    "totalFilesInsert": lambda stat: stat.prev_commit == "null",
    "totalFilesUpdate": lambda stat: stat.prev_commit not in (None, "null"),
    "totalRecordsWritten": lambda stat: stat.num_writes,
    "totalUpdateRecordsWritten": lambda stat: stat.num_update_writes,
    "totalInsertRecordsWritten": lambda stat: stat.num_inserts,
    "totalRecordsDeleted": lambda stat: stat.num_deletes,
    "totalBytesWritten": lambda stat: stat.total_write_bytes,
    "totalScanTime": lambda stat: stat.total_scan_ms,
    "totalCreateTime": lambda stat: stat.total_create_ms,
    "totalUpsertTime": lambda stat: stat.total_upsert_ms,
    "totalLogRecordsCompacted": lambda stat: stat.total_log_records,
    "totalLogFilesCompacted": lambda stat: stat.total_log_files_compacted,
    "totalLogFilesSize": lambda stat: stat.total_log_size_compacted,
    "totalCompactedRecordsUpdated": lambda stat: stat.total_updated_records_compacted,
}


def commit_values(action: str, metadata: CommitMetadata, commit_ms: int, duration_ms: int) -> Values:
    """Return the metrics of a commit.

    Args:
        action: what comes first in the names: `commit`, `deltacommit`, `replacecommit`, `compaction`, `logcompaction` or `clustering`.
        metadata: what the commit did.
        commit_ms: requested time of the commit, in milliseconds since 1970.
        duration_ms: how long it took.
    """
    stats = list(metadata.all_stats())
    values = {name: sum(map(of_stat, stats)) for name, of_stat in _SUMS.items()}
    values |= {"totalPartitionsWritten": len(metadata.stats), "commitTime": commit_ms, "duration": duration_ms}
    if event_times := [stat.min_event_time for stat in stats if stat.min_event_time is not None]:
        values["commitLatencyInMs"] = commit_ms + duration_ms - min(event_times)
    if event_times := [stat.max_event_time for stat in stats if stat.max_event_time is not None]:
        values["commitFreshnessInMs"] = commit_ms + duration_ms - max(event_times)
    return {f"{action}.{name}": value for name, value in values.items()}


def service_values(result: object, seconds: float) -> Values:
    """Return the metrics of a clean or an archival that is done; none for other results.

    Args:
        result: what the service returned.
        seconds: how long it took, where the result does not say that.
    """
    if isinstance(result, CleanResult) and result.state == COMPLETED:
        return {"clean.duration": result.time_taken_ms, "clean.numFilesDeleted": result.total_files}
    if isinstance(result, ArchivalResult):
        return {"archive.duration": round(seconds * 1000), "archive.numInstantsArchived": len(result.instants)}
    return {}
