"""The ways to get a table compacted: plan, run what is pending, or both. Inline, in a thread and in a process of its own they are the same.

Rules: `HoodieCompactor` (modes schedule, execute, scheduleAndExecute).
"""

from __future__ import annotations

from pyhudi.fsview.pending_plans import read_plan
from pyhudi.service.compaction.compaction_result import CompactionResult, planned_result
from pyhudi.service.compaction.compaction_settings import CompactionSettings
from pyhudi.service.compaction.execute_compaction import CompactionRunner, execute
from pyhudi.service.compaction.pending_compactions import find_pending, pending_compactions
from pyhudi.service.compaction.schedule_compaction import build_plan, schedule
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.instant import Action

Results = tuple[CompactionResult, ...]


def schedule_one(runner: CompactionRunner, action: Action, settings: CompactionSettings) -> Results:
    """Roll back what failed writers left, and put one compaction on the timeline; no result when there is nothing to compact.

    Raises:
        UsageError: the table is copy-on-write, or a strategy does not fit its partitions.
        LockTimeoutError: a writer held the table for too long.
    """
    with runner.locked() as locked:
        table = roll_back_failed_writes(locked)
        instant = schedule(table, action, settings)
        return () if instant is None else (planned_result(action, read_plan(table.storage, table.config, instant), instant),)


def run_pending(runner: CompactionRunner, action: Action) -> Results:
    """Run the pending compactions of an action, the oldest first.

    Raises:
        ConflictError: another process is compacting the table.
    """
    with runner.exclusive():
        return _run_pending(runner, action)


def run_one(runner: CompactionRunner, requested: str) -> Results:
    """Run the pending compaction of a requested time.

    Raises:
        UsageError: no such compaction is pending.
        ConflictError: another process is compacting the table.
    """
    with runner.exclusive():
        return (execute(runner, requested),)


def schedule_and_run(runner: CompactionRunner, action: Action, settings: CompactionSettings) -> Results:
    """Run what is pending, then plan what is left and run that: afterwards nothing is to be compacted.

    Before a compaction that is pending log compactions too, because their groups could not be planned.

    Raises:
        UsageError: the table is copy-on-write, or a strategy does not fit its partitions.
        ConflictError: another process is compacting the table.
    """
    with runner.exclusive():
        earlier = _run_pending(runner, *((Action.LOG_COMPACTION, action) if action is Action.COMPACTION else (action,)))
        return (*earlier, *(execute(runner, one.instant) for one in schedule_one(runner, action, settings) if one.instant))


def show_schedule(runner: CompactionRunner, action: Action, settings: CompactionSettings) -> Results:
    """Return what would be planned now; nothing is written."""
    with runner.locked() as table:
        plan = build_plan(table, action, settings)
    return (planned_result(action, plan, None),) if plan.operations else ()


def show_pending(runner: CompactionRunner, action: Action, requested: str | None = None) -> Results:
    """Return the pending compactions of an action, or the one of a requested time; nothing is written."""
    with runner.locked() as table:
        pending = pending_compactions(table.timeline, action)
        if requested is not None:
            pending = (find_pending(table.timeline, requested, runner.storage.uri),)
        return tuple(planned_result(one.action, read_plan(table.storage, table.config, one), one) for one in pending)


def _run_pending(runner: CompactionRunner, *actions: Action) -> Results:
    with runner.locked() as table:
        pending = pending_compactions(table.timeline, *actions)
    return tuple(execute(runner, one.requested) for one in pending)
