"""Executes a planned rollback, whatever its state.

Rules: `BaseRollbackActionExecutor`. inflight - a completed target becomes pending - files - the target's own files - completed - markers.
Every step may be repeated, and the rollback completes only after all before it succeeded: a killed rollback is taken up again by
the next writer, one of a restore by the restore.
"""

from __future__ import annotations

import functools
import itertools
import time
from dataclasses import replace

from pyhudi.codec.actions.rollback_codec import encode_rollback_metadata
from pyhudi.errors import CorruptTableError, UsageError
from pyhudi.index.bucket_numbers import rules_path
from pyhudi.service.rollback import append_rollback_block as log_blocks
from pyhudi.service.rollback.completed_commits import check_last, delete_hashing_metadata, pending_form, remove_emptied, revert
from pyhudi.service.rollback.late_files import delete_markers_and_late_files
from pyhudi.service.rollback.metadata_after_rollback import note_partitions, rebuild_partitions
from pyhudi.service.rollback.rollback_plan import absolute, planned_files
from pyhudi.spec.actions.rollback import InstantInfo, RollbackMetadata, RollbackPartition, RollbackPlan
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.temporary_files import remove_left_overs
from pyhudi.timeline.instant_details import instant_path
from pyhudi.txn.commit_checks import check_lock_held
from pyhudi.txn.heartbeats import heartbeat_path
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import rollback_pending

_PLANNED_AGAIN = frozenset({Action.COMPACTION, Action.LOG_COMPACTION})


def execute_rollback(table: LockedTable, rollback: Instant, plan: RollbackPlan, *, restores: bool = False) -> RollbackMetadata:
    """Bring a requested or inflight rollback to its end and return what it did.

    Args:
        table: the table.
        rollback: the pending rollback.
        plan: its plan.
        restores: whether it is a step of a restore, which leaves it pending until all are done, and the plan of no compaction.

    Raises:
        CorruptTableError: the plan rolls back a completed commit that is not the latest one, or files that are not that instant's.
        StorageError: a file could not be deleted; the rollback stays pending.
        ConflictError: the lock was lost; the same.
    """
    started = time.perf_counter()
    files = _checked_files(table, rollback, plan)
    assert plan.instant is not None, "planned_files has looked"
    target = _target(table, rollback, plan.instant, restores=restores)
    if rollback.state is State.REQUESTED:
        rollback = table.writer.start(rollback)
    was_committed = target.is_completed or restores
    recorded = None
    if target.is_completed:
        if not restores:
            table, recorded = note_partitions(table, rollback, (target,))
        target = revert(table, target)
    check_lock_held(table, rollback)
    for paths in files.values():
        for path in paths:
            table.storage.delete(path)
    rolled_back = _append_rollback_blocks(table, rollback, plan)
    remaining = remove_left_overs(table.storage, files)
    metadata = RollbackMetadata(
        start=rollback.requested,
        time_taken_ms=int((time.perf_counter() - started) * 1000),
        files_deleted=sum(map(len, files.values())),
        commits=(target.requested,),
        partitions={
            partition: replace(
                rolled_back.get(partition, RollbackPartition(partition)), deleted=tuple(absolute(table, path) for path in paths)
            )
            for partition, paths in files.items()
        },
        instants=(plan.instant,),
    )
    if was_committed:
        delete_hashing_metadata(table, files, target)
        remove_emptied(table, remaining, target)
    check_lock_held(table, rollback)
    rollback_pending(table, metadata)
    if target.comparable_action is Action.REPLACE_COMMIT:
        table.storage.delete(rules_path(target.requested))  # while the instant is pending: the file counts as soon as it is not
    _forget(table, target, is_planned_again=not restores and Action(plan.instant.action) in _PLANNED_AGAIN)
    if not restores:
        rebuild_partitions(table, rollback, recorded)
        content = encode_rollback_metadata(metadata, sync=table.ids.sync_marker())
        table.writer.complete(rollback, table.times.next(), content, functools.partial(check_lock_held, table, rollback))
    delete_markers_and_late_files(table, target.requested, frozenset(itertools.chain.from_iterable(files.values())))
    table.storage.delete(heartbeat_path(target.requested))
    return metadata


def _checked_files(table: LockedTable, rollback: Instant, plan: RollbackPlan) -> dict[str, list[str]]:
    """Return the paths to delete; nothing of a plan is carried out before all of it is checked."""
    try:
        return planned_files(plan)
    except CorruptTableError as error:
        requested = rollback.requested
        raise CorruptTableError(
            f"the plan of rollback {requested} of table {table.storage.uri} is damaged: {error}. Nothing is deleted by it. Move the files"
            f" {requested}.rollback.inflight and {requested}.rollback.requested out of the timeline '{table.config.timeline_path}'; what"
            " has to be rolled back is planned again by the next write, or by table.services.restore() where a restore is pending."
        ) from error


def _append_rollback_blocks(table: LockedTable, rollback: Instant, plan: RollbackPlan) -> dict[str, RollbackPartition]:
    """Roll back blocks of log files that stay, and return what was done by partition."""
    assert plan.instant is not None
    done: dict[str, RollbackPartition] = {}
    for request in plan.requests or ():
        if not request.log_blocks_to_delete:
            continue
        written = log_blocks.rollback_pending(table.storage, rollback.requested, plan.instant.time, request)
        before = done.get(request.partition_path, RollbackPartition(request.partition_path))
        done[request.partition_path] = replace(
            before,
            rollback_log_files={**(before.rollback_log_files or {}), absolute(table, written.path): written.size},
            failed_log_files={**(before.failed_log_files or {}), **request.log_blocks_to_delete},
        )
    return done


def _forget(table: LockedTable, target: Instant, *, is_planned_again: bool) -> None:
    """Take the target off the timeline; a pending compaction goes back to requested, because its plan will be run again."""
    if is_planned_again:
        table.storage.delete(instant_path(table.config, target))
    else:
        table.writer.remove(target)


def _target(table: LockedTable, rollback: Instant, info: InstantInfo, *, restores: bool) -> Instant:
    """Return the instant to roll back; its files may be missing already when the rollback was killed late."""
    for instant in (*table.timeline.find(info.time), *(one for one in table.timeline.restoring if one.requested == info.time)):
        if instant.is_completed and instant.action.writes_data:
            if not restores:
                _check_may_go(table, rollback, instant)
            return instant
    return pending_form(table.timeline, Instant(info.time, Action(info.action), State.INFLIGHT))


def _check_may_go(table: LockedTable, rollback: Instant, commit: Instant) -> None:
    try:
        check_last(table, commit)
    except UsageError as error:
        raise CorruptTableError(
            f"rollback {rollback.requested} of table {table.storage.uri} is pending, and what it is to roll back must stay: {error}. Look"
            " at table.history() to see which of the two is right."
        ) from error
