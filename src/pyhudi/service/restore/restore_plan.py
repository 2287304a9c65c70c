"""Which instants a restore rolls back, and whether the table can go back that far.

Rules: `RestorePlanActionExecutor`, `RestoreInstantComparatorFactory`. All writes that became visible after the target are rolled back, the
latest first, and all that are pending. A compaction of a merge-on-read table counts by its requested time: what it merged was there before.
The one that was planned before the target stays, with its plan.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyhudi.errors import ConflictError, CorruptTableError, UsageError
from pyhudi.service.rollback.completed_commits import came_after
from pyhudi.service.savepoint.cleaned_files import earliest_whole, first_cleaned_file, view_at, writes_in_order
from pyhudi.service.savepoint.former_logs import check_logs
from pyhudi.service.savepoint.savepoint_listing import savepoint_instants
from pyhudi.spec.actions.restore import RestorePlan
from pyhudi.spec.actions.rollback import InstantInfo
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import read_rows
from pyhudi.txn.heartbeats import check_writer_has_died
from pyhudi.txn.locked_table import LockedTable

_LAST = ("9" * 17, "")


def pending_restore(table: LockedTable) -> tuple[Instant, RestorePlan] | None:
    """Return the restore that is pending, with its plan; None when there is none.

    Raises:
        CorruptTableError: it has no readable plan, or its plan rolls back what is no later commit.
    """
    pending = next((one for one in table.timeline.pending() if one.action is Action.RESTORE), None)
    if pending is None:
        return None
    plan = read_action(table.storage, table.config, Instant(pending.requested, Action.RESTORE, State.REQUESTED))
    if not isinstance(plan, RestorePlan):
        raise CorruptTableError(
            f"restore {pending.requested} of table {table.storage.uri} has no readable plan: nothing is rolled back. Restore the file"
            f" '{table.config.timeline_path}/{pending.requested}.restore.requested' from a copy."
        )
    _check_plan(table, pending, plan)
    return pending, plan


def _check_plan(table: LockedTable, restore: Instant, plan: RestorePlan) -> None:
    """Refuse a plan that rolls back what its own target needs, or what is no instant at all."""
    timeline, times = table.timeline, {info.time for info in plan.instants}
    damaged = sorted(time for time in times if not time.isdecimal())
    writes = [one for one in (*timeline.instants, *timeline.restoring) if one.is_completed and one.action.writes_data]
    target = next((one for one in writes if one.requested == plan.savepoint), None)
    if target is not None:
        earlier = [one for one in writes if one.requested <= target.requested and timeline.effect(one) <= timeline.effect(target)]
        damaged += [one.requested for one in earlier if one.requested in times]
    if damaged:
        requested = restore.requested
        raise CorruptTableError(
            f"the plan of restore {requested} of table {table.storage.uri} to {plan.savepoint} is damaged: it rolls back '{damaged[0]}',"
            f" which is no later commit. Nothing is rolled back by it. Move the files {requested}.restore.inflight and"
            f" {requested}.restore.requested out of the timeline '{table.config.timeline_path}', and restore again:"
            " table.services.restore(to='...')."
        )


def plan_restore(table: LockedTable, time: str) -> RestorePlan:
    """Return the plan to bring a table back to a completed write of its active timeline.

    Raises:
        UsageError: there is no such write, it is archived or cleaned, or a later one has a savepoint; names the earliest possible time. Or
            it has log files, and the table has become copy-on-write or was downgraded since.
        ConflictError: indexes are being built.
    """
    target = _target(table, time)
    _check_nothing_in_the_way(table, target)
    view = view_at(table, target)
    if (cleaned := first_cleaned_file(table, target, view)) is not None:
        earliest = earliest_whole(table, target)
        rest = "no later commit has all of its files" if earliest is None else f"the earliest time that can be restored is {earliest}"
        raise UsageError(
            f"table {table.storage.uri} cannot be restored to {time}: a clean deletes '{cleaned}', which is a file of it; {rest}"
        )
    check_logs(table, target, view, f"table {table.storage.uri} cannot be restored to {time}")
    instants = tuple(InstantInfo(one.requested, one.action.value) for one in instants_after(table, target))
    return RestorePlan(instants, time)


def instants_after(table: LockedTable, target: Instant) -> list[Instant]:
    """Return the writes, compactions and clusterings that a restore to a completed write rolls back, in the order in which it does."""
    timeline = table.timeline
    writes = [one for one in timeline.instants if one.comparable_action.writes_data and one != target]
    later = [one for one in writes if came_after(timeline, one, target, table.config)]
    return sorted(later, key=lambda one: (timeline.effect(one) if one.is_completed else _LAST, one.requested), reverse=True)


def _target(table: LockedTable, time: str) -> Instant:
    writes = writes_in_order(table.timeline)
    match = next((one for one in writes if one.requested == time), None)
    if match is not None:
        return match
    if not writes:
        raise UsageError(f"table {table.storage.uri} has no commit that it could be restored to")
    where = f"table {table.storage.uri} cannot be restored to {time}"
    if any(not one.is_completed for one in table.timeline.find(time)):
        raise UsageError(f"{where}: it is not completed. Take the time of a completed commit of table.history().")
    completed = next((one.requested for one in writes if one.completed == time), None)
    if completed is not None:
        raise UsageError(f"{where}: that is when commit {completed} was completed. To restore to it, give {completed}.")
    is_archived = any(one.requested == time for one in _archived_writes(table, time))
    problem = "that commit is archived, and so may be later ones" if is_archived else "that is the time of no commit of its active timeline"
    raise UsageError(f"{where}: {problem}. The earliest time that can be restored is {_earliest(table, writes)}.")


def _earliest(table: LockedTable, writes: Iterable[Instant]) -> str:
    for one in writes:
        if first_cleaned_file(table, one, view_at(table, one)) is None:
            return one.requested
    return "that of the latest commit"


def _check_nothing_in_the_way(table: LockedTable, target: Instant) -> None:
    where = f"table {table.storage.uri} cannot be restored to {target.requested}"
    later = [one for one in savepoint_instants(table.timeline) if _is_savepoint_after(table.timeline, one, target)]
    if later:
        times = ", ".join(one.requested for one in later)
        raise UsageError(f"{where}: savepoints of later commits are in the way, whose files would go: {times}. Delete them first.")
    builds = table.timeline.pending(Action.INDEXING)
    if builds:
        raise ConflictError(
            f"{where} while indexes are built by {builds[0].requested}: wait for it, or roll it back,"
            f" table.services.rollback('{builds[0].requested}')"
        )
    for one in table.timeline.pending():
        if one.action.writes_data:
            check_writer_has_died(table, one)  # it would write on, without the files that the restore deletes
    archived = [one for one in _archived_writes(table, target.requested) if one.requested > target.requested]
    if archived:
        last = max(one.requested for one in archived)
        earliest = _earliest(table, [one for one in writes_in_order(table.timeline) if one.requested > last])
        raise UsageError(
            f"{where}: {archived[0].action} {archived[0].requested} came later and is archived, so that it cannot be rolled back. The"
            f" earliest time that can be restored is {earliest}."
        )


def _archived_writes(table: LockedTable, since: str) -> list[Instant]:
    """Return the archived writes requested at an instant time or later, and some before it."""
    if table.timeline.archive is not None:
        instants: Iterable[Instant] = table.timeline.archive.instants(since)
    else:
        instants = (one.instant for one in archived_instants(table.storage, table.config, read_rows))
    return [one for one in instants if one.comparable_action.writes_data]


def _is_savepoint_after(timeline: Timeline, savepoint: Instant, target: Instant) -> bool:
    commit = next((one for one in timeline.find(savepoint.requested) if one.action.writes_data), None)
    return commit is not None and commit != target and timeline.effect(commit) > timeline.effect(target)
