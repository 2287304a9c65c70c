"""Procedures that clean tables, and show what was planned and done.

Rules: `RunCleanProcedure`, `ShowCleansProcedure`, `ShowCleansPlanProcedure`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.service.table_service import ServiceMode
from pyhudi.spec.actions.clean import CleanMetadata, CleanPlan
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.sql.call.procedure import REQUIRED, Column, Parameter, Procedure, ProcedureCall, Row
from pyhudi.sql.call.service_call import limited
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.instant_details import load_action_metadata, read_action
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline

#: The options that arguments of `run_clean` stand for.
_KEYS: Final = {
    "clean_policy": "hoodie.clean.policy",
    "retain_commits": "hoodie.clean.commits.retained",
    "hours_retained": "hoodie.clean.hours.retained",
    "file_versions_retained": "hoodie.clean.fileversions.retained",
    "trigger_strategy": "hoodie.clean.trigger.strategy",
    "trigger_max_commits": "hoodie.clean.trigger.max.commits",
}


def _run(call: ProcedureCall) -> Iterator[Row]:
    table = call.open()
    stated = {key: str(call.arguments[name]) for name, key in _KEYS.items() if call.arguments[name] is not None}
    mode: ServiceMode = "both" if call.flag("schedule_in_line") else "execute"
    results = table.services.clean(mode=mode, options={**stated, **call.options()})
    for result in results[-1:]:
        yield (result.instant, result.time_taken_ms, result.total_files, result.earliest_retained or "", "{}", _VERSION)


def _cleans(call: ProcedureCall) -> Iterator[tuple[Instant, CleanMetadata]]:
    """Yield the completed cleans, the newest first."""
    table, timeline = _open_table(call)
    for instant in reversed(timeline.instants):
        if instant.action is Action.CLEAN and instant.is_completed:
            done = load_action_metadata(table.storage, table.config, timeline, instant)
            if isinstance(done, CleanMetadata):
                yield instant, done


def _open_table(call: ProcedureCall) -> tuple[HudiTable, Timeline]:
    table = call.open()
    timeline = load_full_timeline(table.storage, table.config)
    return table, timeline.with_archived() if call.flag("showArchived") else timeline


def _show(call: ProcedureCall) -> Iterator[Row]:
    rows = (
        (
            instant.requested,
            instant.completed,
            instant.action.value,
            done.start,
            done.time_taken_ms,
            done.files_deleted,
            done.retained_from,
            done.last_completed,
            done.version,
        )
        for instant, done in _cleans(call)
    )
    return limited(call, rows)


def _show_partitions(call: ProcedureCall) -> Iterator[Row]:
    rows = (
        (
            instant.requested,
            instant.completed,
            instant.action.value,
            done.start,
            path,
            partition.policy,
            len(partition.delete_patterns),
            len(partition.deleted),
            len(partition.failed),
            partition.is_partition_deleted,
            done.time_taken_ms,
            done.files_deleted,
        )
        for instant, done in _cleans(call)
        for path, partition in done.partitions.items()
    )
    return limited(call, rows)


def _show_plans(call: ProcedureCall) -> Iterator[Row]:
    table, timeline = _open_table(call)
    instants = (one for one in reversed(timeline.instants) if one.action is Action.CLEAN)
    return (_plan_row(table, one) for one in itertools.islice(instants, call.number("limit")))


def _plan_row(table: HudiTable, instant: Instant) -> Row:
    """Return what a clean planned; nulls where the plan cannot be read, as of an archived clean."""
    head = (instant.requested, instant.state.name, instant.action.value)
    try:
        plan = read_action(table.storage, table.config, Instant(instant.requested, Action.CLEAN, State.REQUESTED))
    except (FileNotFoundError, CorruptTableError):
        plan = None
    if not isinstance(plan, CleanPlan):
        return (*head, *(None,) * 7)
    extra = ", ".join(f"{key}={value}" for key, value in (plan.extra_metadata or {}).items()) or None
    counts = (len(plan.files), len(plan.partitions_to_delete))
    return (*head, plan.retained_from, plan.last_completed, plan.policy, plan.version, *counts, extra)


#: Of the records of cleans that are written.
_VERSION: Final = 2
_TABLE: Final = Parameter("table", default=REQUIRED)
_SHOW_PARAMETERS: Final = (_TABLE, Parameter("limit", "int", 10), Parameter("showArchived", "boolean", default=False), Parameter("filter"))
_HEAD: Final = (Column("clean_time"), Column("state_transition_time"), Column("action"), Column("start_clean_time"))

PROCEDURES: Final = (
    Procedure(
        "run_clean",
        "Deletes the file slices that no retained state of the table needs.",
        (
            _TABLE,
            Parameter("schedule_in_line", "boolean", default=True),
            Parameter("clean_policy"),
            Parameter("retain_commits", "int"),
            Parameter("hours_retained", "int"),
            Parameter("file_versions_retained", "int"),
            Parameter("trigger_strategy"),
            Parameter("trigger_max_commits", "int"),
            Parameter("options"),
        ),
        (
            Column("start_clean_time"),
            Column("time_taken_in_millis", "bigint"),
            Column("total_files_deleted", "int"),
            Column("earliest_commit_to_retain"),
            Column("bootstrap_part_metadata"),
            Column("version", "int"),
        ),
        _run,
    ),
    Procedure(
        "show_cleans",
        "The cleans that were done, the newest first.",
        _SHOW_PARAMETERS,
        (
            *_HEAD,
            Column("time_taken_in_millis", "bigint"),
            Column("total_files_deleted", "int"),
            Column("earliest_commit_to_retain"),
            Column("last_completed_commit_timestamp"),
            Column("version", "int"),
        ),
        _show,
    ),
    Procedure(
        "show_cleans_metadata",
        "What each clean deleted in each partition.",
        _SHOW_PARAMETERS,
        (
            *_HEAD,
            Column("partition_path"),
            Column("policy"),
            Column("delete_path_patterns", "int"),
            Column("success_delete_files", "int"),
            Column("failed_delete_files", "int"),
            Column("is_partition_deleted", "boolean"),
            Column("time_taken_in_millis", "bigint"),
            Column("total_files_deleted", "int"),
        ),
        _show_partitions,
    ),
    Procedure(
        "show_clean_plans",
        "The cleans that were planned, done or not.",
        _SHOW_PARAMETERS,
        (
            Column("plan_time"),
            Column("state"),
            Column("action"),
            Column("earliest_instant_to_retain"),
            Column("last_completed_commit_timestamp"),
            Column("policy"),
            Column("version", "int"),
            Column("total_partitions_to_clean", "int"),
            Column("total_partitions_to_delete", "int"),
            Column("extra_metadata"),
        ),
        _show_plans,
    ),
)
