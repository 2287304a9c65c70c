"""Carrying a restore out, from wherever it was cut off.

Rules: `BaseRestoreActionExecutor`, `CopyOnWriteRestoreActionExecutor`, `MergeOnReadRestoreActionExecutor`. requested - inflight - the
metadata table - one rollback for each instant of the plan, the latest first - the metadata table again - completed - the rollbacks leave
the timeline. Readers of pyhudi see the target from the moment the restore is inflight (`pyhudi.timeline.load_timeline`), so that none sees
files of several states; those of Apache Hudi see one commit after another go. Each rollback leaves its plan on the timeline until the
restore is complete: by it a restore that was cut off continues.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from pyhudi.codec.actions.rollback_codec import encode_restore_metadata, encode_restore_plan, encode_rollback_plan
from pyhudi.fsview.gc_pause import collector_paused
from pyhudi.service.restore.restore_result import RestoreResult, planned_result
from pyhudi.service.rollback.completed_commits import plan_commit_rollback
from pyhudi.service.rollback.execute_rollback import execute_rollback
from pyhudi.service.rollback.failed_writes import read_plan
from pyhudi.service.rollback.metadata_after_rollback import note_partitions, rebuild_partitions
from pyhudi.service.rollback.rollback_plan import plan_rollback
from pyhudi.spec.actions.restore import RestoreMetadata, RestorePlan
from pyhudi.spec.actions.rollback import InstantInfo, RollbackMetadata, RollbackPlan
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.txn.commit_checks import check_lock_held
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import time_of_service


def plans_of(table: LockedTable, plan: RestorePlan) -> dict[str, RollbackPlan]:
    """Return the rollback plans that a restore will carry out, by the instants that they roll back."""
    instants = {one.requested: one for one in (*table.timeline.instants, *table.timeline.restoring) if one.comparable_action.writes_data}
    return {info.time: _plan(table, instants[info.time]) for info in plan.instants if info.time in instants}


@collector_paused()
def execute_restore(table: LockedTable, plan: RestorePlan, restore: Instant | None = None) -> RestoreResult:
    """Bring a table back to the target of a plan, and return what was done.

    Args:
        table: the table.
        plan: the plan.
        restore: the pending restore to continue with; None begins a new one.

    Raises:
        UnsupportedError: one of the instants cannot be rolled back; nothing was written.
        StorageError: the storage failed; the restore stays pending, and nothing can be written until it has come to its end.
        ConflictError: the lock was lost; the same.
    """
    started = time.perf_counter()
    plans = plans_of(table, plan)  # before anything is written: what cannot be rolled back would hold the restore up for ever
    content = encode_restore_plan(plan, sync=table.ids.sync_marker())
    restore = restore or table.writer.request(Action.RESTORE, time_of_service(table), content)
    if restore.state is State.REQUESTED:
        restore = table.writer.start(restore)
    table = table.reload()
    table, recorded = note_partitions(table, restore, table.timeline.restoring)
    had_metadata_table = bool(table.config.metadata_partitions)
    planned = planned_result(table.storage, "completed", plan.savepoint or "", plans.values())
    if table.config.layout == 1:
        plans = {}  # rollbacks of later instants write log files there, which those of earlier ones delete
    pending = {before.instant.time: (one, before) for one, before in _pending_rollbacks(table) if before.instant is not None}
    rollbacks = {info.time: (_rolled_back(table, restore, info, pending, plans.get(info.time)),) for info in plan.instants}
    rebuilt = rebuild_partitions(table, restore, recorded)
    metadata = RestoreMetadata(
        start=restore.requested,
        time_taken_ms=int((time.perf_counter() - started) * 1000),
        rolled_back=tuple(info.time for info in plan.instants),
        rollbacks=rollbacks,
        instants=plan.instants,
    )
    content = encode_restore_metadata(metadata, sync=table.ids.sync_marker())
    table.writer.complete(restore, table.times.next(), content, functools.partial(check_lock_held, table, restore))
    _forget_rollbacks(table.reload(), plan.savepoint or min((info.time for info in plan.instants), default=restore.requested))
    return replace(
        planned,
        instant=restore.requested,
        rolled_back=plan.instants,
        seconds=time.perf_counter() - started,
        metadata_table="rebuilt" if rebuilt else "rolled back" if had_metadata_table else "none",
    )


def _rolled_back(
    table: LockedTable,
    restore: Instant,
    info: InstantInfo,
    pending: Mapping[str, tuple[Instant, RollbackPlan]],
    plan: RollbackPlan | None,
) -> RollbackMetadata:
    """Roll one instant back, if that was not done before the restore was cut off, and return what was done."""
    target = next((one for one in table.timeline.restoring if one.requested == info.time), None)
    check_lock_held(table, restore)
    if info.time in pending:
        return execute_rollback(table, *pending[info.time], restores=True)
    if target is None:  # Apache Hudi rolled it back, and its rollback is not there any more
        return RollbackMetadata(restore.requested, 0, 0, (info.time,), {}, (info,))
    plan = plan or _plan(table, target)
    rollback = table.writer.request(Action.ROLLBACK, time_of_service(table), encode_rollback_plan(plan, sync=table.ids.sync_marker()))
    return execute_rollback(table, rollback, plan, restores=True)


def _plan(table: LockedTable, target: Instant) -> RollbackPlan:
    return plan_commit_rollback(table, target) if target.is_completed else plan_rollback(table, target)


def _pending_rollbacks(table: LockedTable) -> Iterable[tuple[Instant, RollbackPlan]]:
    for rollback in table.timeline.pending(Action.ROLLBACK):
        yield rollback, read_plan(table, rollback)


def _forget_rollbacks(table: LockedTable, target: str) -> None:
    """Delete the rollbacks that came after the target, as Apache Hudi does: what they rolled back is as if it had never been."""
    for rollback in reversed(table.timeline.with_actions(Action.ROLLBACK).instants):
        if rollback.requested > target:
            if rollback.is_completed:
                table.storage.delete(f"{table.config.timeline_path}/{rollback.file_name(table.config.layout)}")
            table.writer.remove(Instant(rollback.requested, Action.ROLLBACK, State.INFLIGHT))
