"""Procedures that make, show and delete savepoints, that restore a table and roll back commits, and that show restores.

Rules: `CreateSavepointProcedure`, `DeleteSavepointProcedure`, `ShowSavepointsProcedure`, `RollbackToSavepointProcedure`,
`RollbackToInstantTimeProcedure`, `RestoreToInstantProcedure`. Where Apache Hudi answers false, or true though
nothing was there, these raise an error that says why. `show_restores` has the columns of Hudi's command line (`RestoresCommand`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyhudi.errors import ConflictError, UnsupportedError, UsageError
from pyhudi.spec.actions.restore import RestoreMetadata
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.options import resolve
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.sql.call.service_call import TABLE, limited
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline


def _create(call: ProcedureCall) -> Iterator[Row]:
    call.open_for_writing().services.savepoint(call.text("commit_time"), user=call.text("user") or "", comment=call.text("comments") or "")
    yield (True,)


def _delete(call: ProcedureCall) -> Iterator[Row]:
    table = call.open_for_writing()
    table.services.delete_savepoint(_savepoint(call, table))
    yield (True,)


def _show(call: ProcedureCall) -> Iterator[Row]:
    yield from ((one.instant,) for one in reversed(call.open().services.savepoints()))


def _restore_to_savepoint(call: ProcedureCall) -> Iterator[Row]:
    table = call.open_for_writing()
    time = _savepoint(call, table)
    if time not in {one.instant for one in table.services.savepoints()}:
        raise UsageError(
            f"CALL {call.procedure.name}: the table has no savepoint {time}; CALL show_savepoints lists them, and CALL restore_to_instant"
            " goes back to other commits."
        )
    table.services.restore(to=time)
    yield (True,)


def _savepoint(call: ProcedureCall, table: HudiTable) -> str:
    """Return the savepoint that is named, or the latest one."""
    time = call.text("instant_time")
    if time is None:
        known = table.services.savepoints()
        if not known:
            raise UsageError(f"CALL {call.procedure.name}: the table has no savepoint.")
        time = known[-1].instant
    return time


def _roll_back(call: ProcedureCall) -> Iterator[Row]:
    table, first = call.open_for_writing(), str(call.text("instant_time"))
    timeline = load_timeline(table.storage, table.config)
    writes = [one for one in timeline.instants if one.comparable_action.writes_data]
    if first not in {one.requested for one in writes}:
        raise UsageError(f"CALL {call.procedure.name}: {first} is no commit of the active timeline; CALL show_timeline lists them.")
    later = sorted((one for one in writes if one.requested >= first), key=lambda one: (not one.is_completed, one.requested), reverse=True)
    for number, one in enumerate(later):
        try:
            table.services.rollback(one.requested)
        except UsageError as error:
            if new := _writes_since(table, timeline):
                raise _overtaken(call, table, new, later[:number]) from error
            raise
        yield (True,)


def _writes_since(table: HudiTable, before: Timeline) -> list[Instant]:
    """Return the writes that the table has now and had not, or not completed, in an earlier timeline."""
    now = load_timeline(table.storage, table.config).instants
    return [one for one in now if one.comparable_action.writes_data and one not in before.instants]


def _overtaken(call: ProcedureCall, table: HudiTable, new: list[Instant], done: list[Instant]) -> ConflictError:
    return ConflictError(
        f"CALL {call.procedure.name}: {new[0].action} {new[0].requested} was written to table {table.storage.uri} meanwhile, and is left"
        f" as it is. Rolled back before that: {', '.join(one.requested for one in done) or 'nothing'}. Stop the other writers, look at CALL"
        " show_timeline, and call it again."
    )


def _restore_to_instant(call: ProcedureCall) -> Iterator[Row]:
    table, target, done = call.open_for_writing(), call.text("instant_time"), call.text("start_restore_time")
    if call.flag("audit_only"):
        if done is None or target is not None:
            problem = "audit_only => true takes start_restore_time, of an earlier restore, and no instant_time"
            raise UsageError(f"CALL {call.procedure.name}: {problem}.")
        yield None, None, None, None, _audit(call, table, done)
        return
    if target is None or done is not None:
        raise UsageError(f"CALL {call.procedure.name} takes instant_time; start_restore_time goes with audit_only => true.")
    if not call.flag("enable_metadata") and table.config.metadata_partitions:
        raise UnsupportedError(
            f"CALL {call.procedure.name}: the metadata table of {table.config.name} is restored with it: leave enable_metadata out."
        )
    resolve({option: str(call.arguments[name]) for name, option in _TUNING.items() if call.arguments[name] is not None})
    result = table.services.restore(to=target)
    audited = _audit(call, table, result.instant) if call.flag("audit_post_restore") and result.instant else None
    yield True, result.instant, int(result.seconds * 1000), len(result.rolled_back), audited


def _audit(call: ProcedureCall, table: HudiTable, time: str) -> str:
    """Tell whether the files that a restore deleted are missing."""
    match = next((content for one, content in _completed(table) if one.requested == time), None)
    if match is None:
        raise UsageError(f"CALL {call.procedure.name}: {time} is no completed restore; CALL show_restores lists them.")
    deleted = (
        join_path(path, file.rpartition("/")[2])
        for rollbacks in match.rollbacks.values()
        for rollback in rollbacks
        for path, done in rollback.partitions.items()
        for file in done.deleted
    )
    return "FAILED" if any(table.storage.stat(path) is not None for path in deleted) else "PASSED"


def _show_restores(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    pending = load_timeline(table.storage, table.config).pending(Action.RESTORE) if call.flag("include_inflights") else ()
    rows: list[Row] = [(one.requested, None, None, one.state.name) for one in pending]
    for one, done in reversed(list(_completed(table))):
        rows += [(one.requested, rolled_back, done.time_taken_ms, one.state.name) for rolled_back in done.rolled_back]
    return limited(call, iter(rows))


def _completed(table: HudiTable) -> Iterator[tuple[Instant, RestoreMetadata]]:
    for one in load_timeline(table.storage, table.config).completed(Action.RESTORE):
        content = read_action(table.storage, table.config, one)
        if isinstance(content, RestoreMetadata):
            yield one, content


#: Arguments that stand for options of Apache Hudi's engine, which have no effect.
_TUNING: Final = {"rollback_parallelism": "hoodie.rollback.parallelism", "enable_consistency_guard": "hoodie.consistency.check.enabled"}
_LATEST: Final = (Parameter("table"), Parameter("instant_time"), Parameter("path"))
_LIMIT: Final = Parameter("limit", "int", 10)

PROCEDURES: Final = (
    Procedure(
        "create_savepoint",
        "Keeps the files of the latest or a given commit.",
        (Parameter("table"), Parameter("commit_time"), Parameter("user"), Parameter("comments"), Parameter("path")),
        (Column("create_savepoint_result", "boolean"),),
        _create,
    ),
    Procedure(
        "delete_savepoint", "Deletes the latest or a given savepoint.", _LATEST, (Column("delete_savepoint_result", "boolean"),), _delete
    ),
    Procedure("show_savepoints", "The savepoints of a table.", TABLE, (Column("savepoint_time"),), _show),
    Procedure(
        "rollback_to_savepoint",
        "Restores a table to its latest or a given savepoint.",
        _LATEST,
        (Column("rollback_savepoint_result", "boolean"),),
        _restore_to_savepoint,
    ),
    Procedure(
        "rollback_to_instant",
        "Rolls back a commit and all later ones, the latest first.",
        (Parameter("table", default=REQUIRED), Parameter("instant_time", default=REQUIRED)),
        (Column("rollback_result", "boolean"),),
        _roll_back,
    ),
    Procedure(
        "restore_to_instant",
        "Restores a table to a commit, or looks whether the files of an earlier restore are missing.",
        (
            Parameter("table"),
            Parameter("instant_time"),
            Parameter("enable_metadata", "boolean", default=True),
            Parameter("rollback_parallelism", "int"),
            Parameter("enable_consistency_guard", "boolean"),
            Parameter("audit_post_restore", "boolean", default=False),
            Parameter("audit_only", "boolean", default=False),
            Parameter("path"),
            Parameter("start_restore_time"),
        ),
        (
            Column("restore_result", "boolean"),
            Column("start_restore_time"),
            Column("time_taken_in_millis", "bigint"),
            Column("instants_rolled_back", "bigint"),
            Column("audit_result"),
        ),
        _restore_to_instant,
    ),
    Procedure(
        "show_restores",
        "Restores, and the instants that they rolled back.",
        (*TABLE, _LIMIT, Parameter("include_inflights", "boolean", default=False)),
        (Column("instant"), Column("restore_instant"), Column("time_taken_in_millis", "bigint"), Column("state")),
        _show_restores,
    ),
)
