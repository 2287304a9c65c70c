"""Failed writes: pending commits whose writer has died, since a writer holds the table's lock to its end.

Rules: `BaseHoodieTableServiceClient.rollbackFailedWrites`; the policy says who rolls back what (`pyhudi.txn.failed_writes_policy`). Pending
table services are not failed writes.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from pyhudi.codec.actions.rollback_codec import encode_rollback_plan
from pyhudi.errors import CorruptTableError, LockLostError
from pyhudi.metadata_table.read.lost_completion import check_pending_writes
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service.rollback.execute_rollback import execute_rollback
from pyhudi.service.rollback.late_files import delete_markers_and_late_files
from pyhudi.service.rollback.rollback_plan import plan_rollback
from pyhudi.spec.actions.rollback import RollbackPlan
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.temporary_files import is_left_over, remove_left_overs
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.txn.failed_writes_policy import EAGER, FailedWritesSettings
from pyhudi.txn.heartbeats import check_writer_has_died, is_alive
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import delete_markers, finished_marker_folders
from pyhudi.txn.metadata_updates import time_of_service

_log = logging.getLogger(__name__)


def failed_writes(table: LockedTable) -> tuple[Instant, ...]:
    """Return the pending commits, deltacommits and replacecommits, the newest first; of layout 1 those that are no clusterings.

    Raises:
        CorruptTableError: a replacecommit does not say what it is.
    """
    pending = (instant for instant in reversed(table.timeline.pending()) if instant.action.writes_data)
    return tuple(instant for instant in pending if pending_clustering(table.storage, table.config, instant) is None)


def roll_back_failed_writes(
    table: LockedTable,
    only: Collection[str] | None = None,
    *,
    aborted: str | None = None,
    settings: FailedWritesSettings = EAGER,
    writes: bool = False,
) -> LockedTable:
    """Finish rollbacks that were cut off, roll back failed writes, and return the table as it is then.

    Markers of instants that are done go too: their writer died after its last step.

    Args:
        table: the table.
        only: the requested times of the writes to roll back, whatever the policy; None means all that the policy allows.
        aborted: the requested time of the caller's own write, which has just failed and is rolled back alone.
        settings: the policy.
        writes: whether the caller is a write, and no table service.

    Raises:
        ConflictError: a writer is alive, and the settings say that there is none but the caller.
        CorruptTableError: the table is damaged, or a write that is pending by its files was completed; one that `only` names is rolled
            back nevertheless.
    """
    if table.timeline.pending():  # nothing is deleted by properties that are not the table's
        check_notes(table.storage, table.config, table.timeline, given_up=frozenset(only or ()))
    resumed = _resume_rollbacks(table)
    if resumed:
        table = table.reload()
    failed = _chosen(table, only, aborted, settings, writes=writes)
    if failed and only is None:
        check_pending_writes(table.storage, table.config, table.timeline)
    for instant in failed:
        _roll_back(table, instant, is_by_caller=instant.requested == aborted)
    if failed:
        table = table.reload()
    _remove_remains(table)
    return table


def _chosen(
    table: LockedTable, only: Collection[str] | None, aborted: str | None, settings: FailedWritesSettings, *, writes: bool
) -> list[Instant]:
    """Return the failed writes to roll back now, the newest first."""
    named = only if aborted is None else (aborted,)
    failed = [write for write in failed_writes(table) if named is None or write.requested in named]
    if settings.has_concurrent_writers and named is None:
        failed = [write for write in failed if not is_alive(table.storage, write.requested, table.clock, table.heartbeats)]
    for instant in failed:
        if instant.requested != aborted:
            check_writer_has_died(table, instant)
    allowed = settings.before_writes if writes else settings.by_services
    return failed if allowed or named is not None else []


def _roll_back(table: LockedTable, failed: Instant, *, is_by_caller: bool) -> None:
    try:
        plan = plan_rollback(table, failed)
    except FileNotFoundError as error:
        if table.is_locked:
            raise
        raise LockLostError(
            f"the lock of table {table.storage.uri} was lost while {failed.action} {failed.requested} was to be rolled back, and another"
            " process has done so since. Nothing was changed; try again."
        ) from error
    content = encode_rollback_plan(plan, sync=table.ids.sync_marker())
    rollback = table.writer.request(Action.ROLLBACK, time_of_service(table), content)
    metadata = execute_rollback(table, rollback, plan)
    # The caller hears of its own failure by an error, or tries again; of somebody else's it would hear nothing.
    level = logging.INFO if is_by_caller else logging.WARNING
    _log.log(level, "rolled back failed %s %s: %s files deleted", failed.action, failed.requested, metadata.files_deleted)


def _remove_remains(table: LockedTable) -> None:
    """Delete markers of instants that are done, and temporary files of the timeline; not those that a writer may be making now."""
    for requested in finished_marker_folders(table.storage, {instant.requested for instant in table.timeline.pending()}):
        if table.timeline.visibility.is_visible(requested):
            delete_markers(table.storage, requested)
        elif not is_alive(table.storage, requested, table.clock, table.heartbeats):
            delete_markers_and_late_files(table, requested)
    if any(instant.action.writes_data for instant in table.timeline.pending()):
        return
    remove_left_overs(table.storage, (".hoodie",))
    for name in filter(is_left_over, table.timeline_files):
        table.storage.delete(f"{table.config.timeline_path}/{name}")


def _resume_rollbacks(table: LockedTable) -> int:
    pending = table.timeline.pending(Action.ROLLBACK)
    for rollback in pending:
        execute_rollback(table, rollback, read_plan(table, rollback))
    return len(pending)


def read_plan(table: LockedTable, rollback: Instant) -> RollbackPlan:
    """Return the plan of a rollback, which is in its requested file.

    Raises:
        CorruptTableError: the file is missing or holds no plan.
    """
    requested = Instant(rollback.requested, Action.ROLLBACK, State.REQUESTED)
    try:
        plan = read_action(table.storage, table.config, requested)
    except FileNotFoundError as error:
        raise CorruptTableError(f"rollback {rollback.requested} of table {table.storage.uri} is inflight but has no plan.") from error
    if not isinstance(plan, RollbackPlan):
        raise CorruptTableError(f"rollback {rollback.requested} of table {table.storage.uri} has no readable plan.")
    return plan
