"""Procedures about commits: what each wrote, in total, by file group, by partition.

Rules: `ShowCommitsProcedure`, `ShowArchivedCommitsProcedure`, `ShowCommitFilesProcedure`, `ShowCommitPartitionsProcedure`,
`ShowCommitWriteStatsProcedure`, `ShowCommitExtraMetadataProcedure`, `CommitsCompareProcedure`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from pyhudi.errors import UsageError
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat
from pyhudi.spec.instant import Instant
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows

_TABLE: Final = Parameter("table", default=REQUIRED)
_LIMIT: Final = Parameter("limit", "int", 10)
_INSTANT: Final = Parameter("instant_time", default=REQUIRED)
_SPAN: Final = (Parameter("start_ts"), Parameter("end_ts"))


def _columns(strings: str, numbers: str = "", kind: str = "bigint") -> tuple[Column, ...]:
    return (*(Column(name) for name in strings.split()), *(Column(name, kind) for name in numbers.split()))


_TOTALS: Final = _columns(
    "commit_time state_transition_time action",
    "total_bytes_written total_files_added total_files_updated total_partitions_written total_records_written total_update_records_written"
    " total_errors",
)
#: Apache Hudi does not say the action of archived commits here.
_ACTION: Final = "action"
_ARCHIVED_TOTALS: Final = tuple(column for column in _TOTALS if column.name != _ACTION)
_DETAILS: Final = _columns(
    "commit_time state_transition_time action partition file_id previous_commit",
    "num_writes num_inserts num_deletes num_update_writes total_errors total_log_blocks total_corrupt_log_blocks total_rollback_blocks"
    " total_log_records total_updated_records_compacted total_bytes_written",
)


def _active(table: HudiTable, instant_time: str | None = None) -> Iterator[tuple[Instant, CommitMetadata]]:
    """Yield the commits of the active timeline, or the one of the requested time `instant_time`, the newest first."""
    timeline = load_full_timeline(table.storage, table.config)
    for instant in reversed(timeline.data_instants()):
        if instant_time in (None, instant.requested):
            yield instant, load_commit_metadata(table.storage, table.config, timeline, instant)


def _archived(call: ProcedureCall) -> Iterator[tuple[Instant, CommitMetadata]]:
    """Yield the archived commits of a span of requested times, without its start and with its end, the newest first."""
    table = call.open()
    begin, end = call.text("start_ts") or "", call.text("end_ts") or "9" * 17
    matches = [one for one in archived_instants(table.storage, table.config, read_rows) if begin < one.instant.requested <= end]
    for one in reversed(matches):
        if one.metadata is not None:
            yield replace(one.instant, completed=one.instant.completed or one.transition_time), one.metadata


def _total(instant: Instant, commit: CommitMetadata) -> Row:
    stats = tuple(commit.all_stats())
    added = [stat for stat in stats if _is_new(stat)]
    return (
        instant.requested,
        instant.completed,
        instant.action.value,
        sum(stat.total_write_bytes for stat in stats),
        len(added),
        len(stats) - len(added),
        len({stat.partition_path for stat in stats}),
        sum(stat.num_writes for stat in stats),
        sum(stat.num_update_writes for stat in stats),
        sum(stat.total_write_errors for stat in stats),
    )


def _detail(instant: Instant, stat: WriteStat) -> Row:
    return (
        instant.requested,
        instant.completed,
        instant.action.value,
        stat.partition_path,
        stat.file_id,
        stat.prev_commit,
        stat.num_writes,
        stat.num_inserts,
        stat.num_deletes,
        stat.num_update_writes,
        stat.total_write_errors,
        stat.total_log_blocks,
        stat.total_corrupt_log_blocks,
        stat.total_rollback_blocks,
        stat.total_log_records,
        stat.total_updated_records_compacted,
        stat.total_write_bytes,
    )


def _is_new(stat: WriteStat) -> bool:
    return stat.prev_commit in (None, "null")


def _first(call: ProcedureCall, rows: Iterable[Row]) -> Iterator[Row]:
    return itertools.islice(rows, max(0, call.number("limit")))


def _show_commits(call: ProcedureCall) -> Iterator[Row]:
    return _first(call, (_total(instant, commit) for instant, commit in _active(call.open())))


def _show_commits_metadata(call: ProcedureCall) -> Iterator[Row]:
    return _first(call, (_detail(instant, stat) for instant, commit in _active(call.open()) for stat in commit.all_stats()))


def _show_archived_commits(call: ProcedureCall) -> Iterator[Row]:
    at = [column.name for column in _TOTALS].index(_ACTION)
    rows = (_total(instant, commit) for instant, commit in _archived(call))
    return _first(call, ((*row[:at], *row[at + 1 :]) for row in rows))


def _show_archived_commits_metadata(call: ProcedureCall) -> Iterator[Row]:
    return _first(call, (_detail(instant, stat) for instant, commit in _archived(call) for stat in commit.all_stats()))


def _of_instant(call: ProcedureCall) -> tuple[Instant, CommitMetadata]:
    """Return the commit that `instant_time` names, archived or not.

    Raises:
        UsageError: there is none.
    """
    table, instant_time = call.open(), call.text("instant_time")
    if (match := next(_active(table, instant_time or ""), None)) is not None:
        return match
    for one in archived_instants(table.storage, table.config, read_rows):
        if one.instant.requested == instant_time and one.metadata is not None:
            return one.instant, one.metadata
    raise UsageError(f"CALL {call.procedure.name}: {instant_time} is no commit of the table; CALL show_commits lists them.")


def _show_commit_files(call: ProcedureCall) -> Iterator[Row]:
    instant, commit = _of_instant(call)
    rows = (
        (
            instant.action.value,
            stat.partition_path,
            stat.file_id,
            stat.prev_commit,
            stat.num_update_writes,
            stat.num_writes,
            stat.total_write_bytes,
            stat.total_write_errors,
            stat.file_size_in_bytes,
        )
        for stat in commit.all_stats()
    )
    return _first(call, rows)


def _show_commit_partitions(call: ProcedureCall) -> Iterator[Row]:
    instant, commit = _of_instant(call)
    stats = sorted(commit.all_stats(), key=lambda stat: stat.partition_path or "")
    rows = []
    for path, group in itertools.groupby(stats, key=lambda stat: stat.partition_path or ""):
        of_partition = list(group)
        added = sum(map(_is_new, of_partition))
        rows.append(
            (
                instant.action.value,
                path,
                added,
                len(of_partition) - added,
                sum(stat.num_inserts for stat in of_partition),
                sum(stat.num_update_writes for stat in of_partition),
                sum(stat.total_write_bytes for stat in of_partition),
                sum(stat.total_write_errors for stat in of_partition),
            )
        )
    return _first(call, rows)


def _show_commit_write_stats(call: ProcedureCall) -> Iterator[Row]:
    instant, commit = _of_instant(call)
    stats = tuple(commit.all_stats())
    written, records = sum(stat.total_write_bytes for stat in stats), sum(stat.num_writes for stat in stats)
    yield instant.action.value, written, records, -(-written // records) if records else 0


def _show_extra(call: ProcedureCall) -> Iterator[Row]:
    instant_time, key = call.text("instant_time"), call.text("metadata_key")
    instant, commit = next(_active(call.open(), instant_time), (None, None))
    if instant is None or commit is None:
        raise UsageError(
            f"CALL {call.procedure.name}: {instant_time or 'the table'} is no commit, or has none; CALL show_commits lists them."
        )
    rows = ((instant.requested, instant.action.value, name, text) for name, text in commit.extra_metadata.items() if key in (None, name))
    return _first(call, rows)


def _compare(call: ProcedureCall) -> Iterator[Row]:
    source, target = call.open(), HudiTable.open(str(call.text("path")))
    timelines = (load_timeline(table.storage, table.config) for table in (source, target))
    source_times, target_times = ([instant.requested for instant in timeline.data_instants()] for timeline in timelines)
    latest_source, latest_target = (times[-1] if times else "0" for times in (source_times, target_times))
    ahead = latest_target != "0" and (latest_source == "0" or latest_source < latest_target)
    leading, behind = (target_times, latest_source) if ahead else (source_times, latest_target)
    catching_up = [time for time in leading if time > behind]
    index = f"Source {source.config.name} is {'behind' if ahead else 'ahead'} by {len(catching_up)} commits."
    yield (f"{index} Commits to catch up - [{', '.join(catching_up)}]",)


PROCEDURES: Final = (
    Procedure("show_commits", "The latest commits with their totals.", (_TABLE, _LIMIT), _TOTALS, _show_commits),
    Procedure("show_commits_metadata", "The latest commits, file group by file group.", (_TABLE, _LIMIT), _DETAILS, _show_commits_metadata),
    Procedure(
        "show_archived_commits", "Archived commits with their totals.", (_TABLE, _LIMIT, *_SPAN), _ARCHIVED_TOTALS, _show_archived_commits
    ),
    Procedure(
        "show_archived_commits_metadata",
        "Archived commits, file group by file group.",
        (_TABLE, _LIMIT, *_SPAN),
        _DETAILS,
        _show_archived_commits_metadata,
    ),
    Procedure(
        "show_commit_files",
        "The files that one commit wrote.",
        (_TABLE, _LIMIT, _INSTANT),
        _columns(
            "action partition_path file_id previous_commit",
            "total_records_updated total_records_written total_bytes_written total_errors file_size",
        ),
        _show_commit_files,
    ),
    Procedure(
        "show_commit_partitions",
        "The partitions that one commit wrote.",
        (_TABLE, _LIMIT, _INSTANT),
        _columns(
            "action partition_path",
            "total_files_added total_files_updated total_records_inserted total_records_updated total_bytes_written total_errors",
        ),
        _show_commit_partitions,
    ),
    Procedure(
        "show_commit_write_stats",
        "Bytes and records of one commit.",
        (_TABLE, _LIMIT, _INSTANT),
        _columns("action", "total_bytes_written total_records_written avg_record_size"),
        _show_commit_write_stats,
    ),
    Procedure(
        "show_commit_extra_metadata",
        "The further entries of the latest or a given commit.",
        (_TABLE, Parameter("limit", "int", 100), Parameter("instant_time"), Parameter("metadata_key")),
        _columns("instant_time action metadata_key metadata_value"),
        _show_extra,
    ),
    Procedure(
        "commits_compare",
        "How many commits a table is ahead of another, or behind it.",
        (_TABLE, Parameter("path", default=REQUIRED)),
        _columns("compare_detail"),
        _compare,
    ),
)
