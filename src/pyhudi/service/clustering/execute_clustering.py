"""Runs a planned resizing of hash rings.

The lock of clusterings is held from the first step to the last, the table's only to start and to complete: readers go on in between,
writers of pyhudi wait for the end of the plan. start - roll back what a dead run left, hold the plan against the table, inflight; run the
tasks; complete - read the timeline again, rings, completed. A run that fails is rolled back at once, one that is killed by the next.
Rules: `SparkExecuteClusteringCommitActionExecutor`.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyhudi.errors import HudiError, UnknownOutcomeError
from pyhudi.kernels.tasks.resize_task import run_resize_task
from pyhudi.service.clustering.clustering_result import ClusteringResult, completed_result
from pyhudi.service.clustering.clustering_rollback import cancel, rollback_run
from pyhudi.service.clustering.complete_clustering import complete
from pyhudi.service.clustering.pending_clustering_plans import bucket_groups, find_clustering
from pyhudi.service.clustering.start_clustering import StartedResizing, start
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.txn.locked_table import exclusive_service

#: Name of the lock that a process holds while it runs clusterings of a table.
LOCK = "clustering"


@dataclass(frozen=True, slots=True)
class ClusteringRunner(ServiceRunner):
    """Runs clusterings of one table."""

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock of clusterings.

        Raises:
            ConflictError: another process runs a clustering of the table.
        """
        with exclusive_service(self.storage, LOCK, "clustering"):
            yield


def execute(runner: ClusteringRunner, requested: str, hash_fields: Sequence[str] | None, *, keep_plan: bool = True) -> ClusteringResult:
    """Run the pending clustering of a requested time. The caller holds `runner.exclusive()`.

    Args:
        runner: where and how.
        requested: the requested time.
        hash_fields: the record key fields that are hashed; all when None.
        keep_plan: whether the plan stays, to be run again, when the run fails.

    Raises:
        UsageError: no such clustering is pending.
        UnsupportedError: it does not resize hash rings.
        ConflictError: somebody else runs it, or changed what it was planned for; nothing of this run is visible.
        CorruptTableError: the plan or a file of it is damaged.
        UnknownOutcomeError: the storage failed in the last step without saying whether the clustering is visible.
    """
    began = time.perf_counter()
    work: StartedResizing | None = None
    try:
        with runner.locked() as table:
            work = start(table, find_clustering(table, requested), hash_fields, runner.merge_bytes)
        function = functools.partial(run_resize_task, runner.storage, work.context, runner.writer)
        results = [result for done in runner.run(function, work.tasks) for result in done]
        with runner.locked() as table:
            done = complete(table, work, results, runner.engine.name)
    except UnknownOutcomeError:
        raise
    except BaseException as error:
        if work is not None or not keep_plan:
            _give_up(runner, requested, error, keep_plan=keep_plan)
        raise
    return completed_result(work.groups, done, results, runner.engine.name, time.perf_counter() - began)


def _give_up(runner: ClusteringRunner, requested: str, error: BaseException, *, keep_plan: bool) -> None:
    """Take the failed run back; when that fails too it stays inflight, unseen, until the next run comes."""
    try:
        with runner.locked() as table:
            # What is completed by now, by this run or by somebody else, is no pending clustering: its files stay.
            instant = find_clustering(table, requested)
            groups = bucket_groups(table, instant)
            if keep_plan:
                rollback_run(table, instant, groups)
            else:
                cancel(table, instant, groups)
    except (HudiError, OSError) as failure:
        error.add_note(f"What the clustering wrote is not visible; taking it back failed and is left to its next run: {failure}")
