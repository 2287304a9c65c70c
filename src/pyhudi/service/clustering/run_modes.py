"""The ways to get a table clustered: plan, run what is pending, or both.

Rules: `HoodieClusteringJob` (modes schedule, execute, scheduleAndExecute).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyhudi.service.clustering.clustering_result import ClusteringResult, planned_result
from pyhudi.service.clustering.clustering_settings import ClusteringSettings
from pyhudi.service.clustering.execute_clustering import ClusteringRunner, execute
from pyhudi.service.clustering.pending_clustering_plans import bucket_groups, find_clustering, groups_of, pending_clusterings
from pyhudi.service.clustering.schedule_clustering import build_plan, schedule
from pyhudi.service.rollback import roll_back_failed_writes

Results = tuple[ClusteringResult, ...]


def schedule_one(runner: ClusteringRunner, settings: ClusteringSettings) -> Results:
    """Roll back what failed writers left, and put one clustering on the timeline; no result when there is nothing to resize.

    Raises:
        UnsupportedError: the table has no hash rings.
        LockTimeoutError: a writer held the table for too long.
    """
    with runner.locked() as locked:
        table = roll_back_failed_writes(locked)
        instant = schedule(table, settings)
        return () if instant is None else (planned_result(bucket_groups(table, instant), instant),)


def run_pending(runner: ClusteringRunner, hash_fields: Sequence[str] | None) -> Results:
    """Run the pending clusterings, the oldest first; errors as of `execute`."""
    with runner.exclusive():
        return _run_pending(runner, hash_fields)


def run_one(runner: ClusteringRunner, requested: str, hash_fields: Sequence[str] | None) -> Results:
    """Run the pending clustering of a requested time; errors as of `execute`."""
    with runner.exclusive():
        return (execute(runner, requested, hash_fields),)


def schedule_and_run(runner: ClusteringRunner, settings: ClusteringSettings) -> Results:
    """Run what is pending, then plan what is left and run that; a plan whose run fails is taken off again, since writers wait for it.

    Errors as of `schedule_one` and `execute`.
    """
    with runner.exclusive():
        earlier = _run_pending(runner, settings.hash_fields)
        new = [one.instant for one in schedule_one(runner, settings) if one.instant]
        return (*earlier, *(execute(runner, instant, settings.hash_fields, keep_plan=False) for instant in new))


def show_schedule(runner: ClusteringRunner, settings: ClusteringSettings) -> Results:
    """Return what would be planned now; nothing is written."""
    with runner.locked() as table:
        planned_schedule = build_plan(table, settings)
    return (planned_result(groups_of(planned_schedule.plan), None),) if planned_schedule.resizings else ()


def show_pending(runner: ClusteringRunner, requested: str | None = None) -> Results:
    """Return the pending clusterings, or the one of a requested time; nothing is written."""
    with runner.locked() as table:
        pending = pending_clusterings(table) if requested is None else (find_clustering(table, requested),)
        return tuple(planned_result(bucket_groups(table, one), one) for one in pending)


def _run_pending(runner: ClusteringRunner, hash_fields: Sequence[str] | None) -> Results:
    with runner.locked() as table:
        pending = pending_clusterings(table)
    return tuple(execute(runner, one.requested, hash_fields) for one in pending)
