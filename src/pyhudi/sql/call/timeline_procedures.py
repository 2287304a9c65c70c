"""Procedures about the timeline: its instants, what rollbacks did, and its files put elsewhere.

Rules: `ShowTimelineProcedure`, `ShowRollbacksProcedure`, `ExportInstantsProcedure`, `DeleteMarkerProcedure`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pyhudi.errors import UsageError
from pyhudi.spec.actions.rollback import RollbackMetadata
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import read_action, read_bytes
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import read_rows
from pyhudi.txn.locked_table import locked_table
from pyhudi.txn.markers import delete_marker_directory

_WAIT_S: Final = 60.0


def _format_time(text: str | None) -> str | None:
    """Return an instant's time as month, day and time of day.

    Example:
        >>> _format_time("20261121173911202")
        '11-21 17:39:11'
    """
    if text is None or len(text) < 14 or not text.isdecimal():
        return None
    return f"{text[4:6]}-{text[6:8]} {text[8:10]}:{text[10:12]}:{text[12:14]}"


def _rolled_back_instants(table: HudiTable, timeline: Timeline) -> dict[str, str]:
    """Return, by requested time, what rolled an instant back and what a rollback rolled back."""
    result: dict[str, str] = {}
    for instant in timeline.completed():
        if instant.action is Action.ROLLBACK:
            done = read_action(table.storage, table.config, instant)
            if isinstance(done, RollbackMetadata):
                result[instant.requested] = f"Rolled back: {', '.join(done.commits)}"
                result |= dict.fromkeys(done.commits, f"Rolled back by: {instant.requested}")
    return result


def _timeline_row(instant: Instant, completed: str | None, kind: str, rollbacks: dict[str, str]) -> Row:
    done = completed or instant.completed
    return (
        instant.requested,
        instant.action.value,
        instant.state.name,
        _format_time(instant.requested),
        None if instant.state is State.REQUESTED else _format_time(instant.requested),
        _format_time(done) if instant.is_completed else "-",
        kind,
        rollbacks.get(instant.requested),
    )


def _show_timeline(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    timeline = load_timeline(table.storage, table.config)
    rollbacks = _rolled_back_instants(table, timeline)
    begin, end = call.text("startTime"), call.text("endTime")
    listed_instants = [(instant, "ACTIVE") for instant in timeline.instants]
    if call.flag("showArchived"):
        active = {(instant.requested, instant.action) for instant in timeline.instants}
        archived = archived_instants(table.storage, table.config, read_rows)
        listed_instants += [(one.instant, "ARCHIVED") for one in archived if (one.instant.requested, one.instant.action) not in active]
    within = [
        (instant, kind)
        for instant, kind in listed_instants
        if (begin is None or instant.requested >= begin) and (end is None or instant.requested[: len(end)] <= end)
    ]
    newest = sorted(within, key=lambda pair: pair[0].requested, reverse=True)
    rows = (_timeline_row(instant, timeline.completion_time(instant.requested), kind, rollbacks) for instant, kind in newest)
    yield from rows if begin and end else itertools.islice(rows, call.number("limit"))


def _rollbacks(call: ProcedureCall) -> Iterator[RollbackMetadata]:
    table = call.open()
    for instant in reversed(load_timeline(table.storage, table.config).completed()):
        if instant.action is Action.ROLLBACK:
            done = read_action(table.storage, table.config, instant)
            if isinstance(done, RollbackMetadata):
                yield done


def _show_rollbacks(call: ProcedureCall) -> Iterator[Row]:
    rows = (
        (done.start, commit, done.files_deleted, done.time_taken_ms, len(done.partitions))
        for done in _rollbacks(call)
        for commit in done.commits
    )
    return itertools.islice(rows, call.number("limit"))


def _show_rollback_detail(call: ProcedureCall) -> Iterator[Row]:
    instant_time = call.text("instant_time")
    done = next((one for one in _rollbacks(call) if one.start == instant_time), None)
    if done is None:
        raise UsageError(f"CALL {call.procedure.name}: {instant_time} is no rollback of the table; CALL show_rollbacks lists them.")
    rows = (
        (done.start, ", ".join(done.commits), path, file, succeeded)
        for path, partition in done.partitions.items()
        for succeeded, files in ((True, partition.deleted), (False, partition.failed))
        for file in files
    )
    return itertools.islice(rows, call.number("limit"))


def _export_instants(call: ProcedureCall) -> Iterator[Row]:
    table, folder = call.open(), Path(str(call.text("local_folder")))
    if not folder.is_dir():
        raise UsageError(f"CALL {call.procedure.name}: {folder} is no folder of this machine.")
    actions = {name.strip() for name in str(call.text("actions") or "").split(",")}
    if unknown := actions - {action.value for action in Action}:
        raise UsageError(f"CALL {call.procedure.name}: {min(unknown)} is no action of a timeline.")
    timeline = load_timeline(table.storage, table.config)
    matches = [instant for instant in timeline.completed() if instant.action.value in actions]
    ordered = matches[::-1] if call.flag("desc") else matches
    limit = call.number("limit")
    exported = ordered if limit < 0 else ordered[:limit]
    for instant in exported:
        (folder / instant.file_name(table.config.layout)).write_bytes(read_bytes(table.storage, table.config, instant))
    yield (f"Exported {len(exported)} Instants to {folder}",)


def _delete_marker(call: ProcedureCall) -> Iterator[Row]:
    table, instant_time = call.open(), str(call.text("instant_time"))
    if not instant_time.isdecimal():
        raise UsageError(f"CALL {call.procedure.name}: '{instant_time}' is no instant.")
    with locked_table(table.storage, _WAIT_S, table.clock, table.ids) as locked:
        if any(not instant.is_completed for instant in locked.timeline.find(instant_time)):
            raise UsageError(f"CALL {call.procedure.name}: {instant_time} is under way, and its markers say what to roll back if it fails.")
        delete_marker_directory(locked.storage, instant_time)
    yield (True,)


_TABLE: Final = Parameter("table", default=REQUIRED)
_LIMIT: Final = Parameter("limit", "int", 10)

PROCEDURES: Final = (
    Procedure(
        "show_timeline",
        "The instants of the timeline, the newest first.",
        (
            Parameter("table"),
            Parameter("path"),
            Parameter("limit", "int", 20),
            Parameter("showArchived", "boolean", default=False),
            Parameter("filter"),
            Parameter("startTime"),
            Parameter("endTime"),
        ),
        (
            Column("instant_time"),
            Column("action"),
            Column("state"),
            Column("requested_time"),
            Column("inflight_time"),
            Column("completed_time"),
            Column("timeline_type"),
            Column("rollback_info"),
        ),
        _show_timeline,
    ),
    Procedure(
        "show_rollbacks",
        "The rollbacks that were done.",
        (_TABLE, _LIMIT),
        (
            Column("instant"),
            Column("rollback_instant"),
            Column("total_files_deleted", "int"),
            Column("time_taken_in_millis", "bigint"),
            Column("total_partitions", "int"),
        ),
        _show_rollbacks,
    ),
    Procedure(
        "show_rollback_detail",
        "The files that one rollback deleted.",
        (_TABLE, _LIMIT, Parameter("instant_time", default=REQUIRED)),
        (Column("instant"), Column("rollback_instant"), Column("partition"), Column("deleted_file"), Column("succeeded", "boolean")),
        _show_rollback_detail,
    ),
    Procedure(
        "export_instants",
        "Copies the files of completed instants into a folder of this machine.",
        (
            _TABLE,
            Parameter("local_folder", default=REQUIRED),
            Parameter("limit", "int", -1),
            Parameter("actions", "string", "clean,commit,deltacommit,rollback,savepoint,restore"),
            Parameter("desc", "boolean", default=False),
        ),
        (Column("export_detail"),),
        _export_instants,
    ),
    Procedure(
        "delete_marker",
        "Deletes the markers that an instant left behind.",
        (_TABLE, Parameter("instant_time", default=REQUIRED)),
        (Column("delete_marker_result", "boolean"),),
        _delete_marker,
    ),
)
