"""The resizing of buckets of consistent hashing, one kind of clustering.

Rules: `ClusteringPlanActionExecutor`, `SparkExecuteClusteringCommitActionExecutor`. Readers continue while it runs, writers of pyhudi wait
for the end of the plan.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

from pyhudi.kernels.tasks.resize_task import run_resize_task
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.service.clustering.clustering_result import ClusteringResult, completed, planned_resizing
from pyhudi.service.clustering.clustering_rollback import cancel, rollback_run, written_files
from pyhudi.service.clustering.clustering_settings import ClusteringSettings
from pyhudi.service.clustering.complete_clustering import complete
from pyhudi.service.clustering.pending_clustering_plans import ResizePlan, load_resize_plan, pending_clusterings, request_clustering
from pyhudi.service.clustering.schedule_clustering import plan_resizing
from pyhudi.service.clustering.start_clustering import StartedResizing, start
from pyhudi.service.rewrite_commit import paths_of
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.table_service import TableService
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable


@dataclass(frozen=True, slots=True)
class BucketResizing(TableService[ResizePlan, StartedResizing, list[TaskResult], ClusteringResult]):
    """The resizing of the buckets of consistent hashing of a table."""

    settings: ClusteringSettings

    name: ClassVar[str] = "clustering"

    def pending(self, storage: Storage, config: TableConfig, timeline: Timeline) -> tuple[Instant, ...]:
        """Return the pending clusterings of any kind."""
        return pending_clusterings(storage, config, timeline)

    def plan(self, table: LockedTable) -> ResizePlan | None:
        """Return what is to be resized now.

        Raises:
            UnsupportedError: the table does not use consistent hashing.
            CorruptTableError: the hashing metadata is damaged, or file groups belong to none.
        """
        return plan_resizing(table, self.settings)

    def request(self, table: LockedTable, plan: ResizePlan) -> Instant:
        """Put the plan on the timeline."""
        return request_clustering(table, plan.content)

    def load_plan(self, table: LockedTable, instant: Instant) -> ResizePlan:
        """Return the plan of a pending clustering; see `load_resize_plan`."""
        return load_resize_plan(table, instant)

    def start(self, table: LockedTable, instant: Instant, plan: ResizePlan, runner: ServiceRunner) -> StartedResizing:
        """Start the resizing; see `pyhudi.service.clustering.start_clustering.start`."""
        return start(table, instant, plan.groups, self.settings.hash_fields, runner.merge_bytes)

    def run_tasks(self, runner: ServiceRunner, work: StartedResizing) -> list[TaskResult]:
        """Write the new buckets of each group of the plan."""
        function = functools.partial(run_resize_task, runner.storage, work.context, runner.writer)
        return [result for results in runner.run(function, work.tasks) for result in results]

    def complete(self, table: LockedTable, work: StartedResizing, outcome: list[TaskResult], engine: str) -> ClusteringResult:
        """Complete the resizing; see `pyhudi.service.clustering.complete_clustering.complete`."""
        done = complete(table, work, outcome, engine, self.settings.rolling)
        return completed(planned_resizing(work.groups, done), done, outcome, engine)

    def planned_result(self, plan: ResizePlan, instant: Instant | None) -> ClusteringResult:
        """Return the result of a plan."""
        return planned_resizing(plan.groups, instant)

    def rollback_run(self, table: LockedTable, instant: Instant, plan: ResizePlan) -> None:
        """Delete what a dead run of the plan wrote."""
        rollback_run(table, instant, plan.groups)

    def written_files(self, table: LockedTable, instant: Instant, plan: ResizePlan) -> tuple[str, ...]:
        """Return the paths of the files that runs of a plan left."""
        return written_files(table, instant, plan.groups)

    def written_by(self, outcome: list[TaskResult]) -> frozenset[str]:
        """Return the paths of the files that tasks wrote."""
        return paths_of(outcome)

    def cancel(self, table: LockedTable, instant: Instant, plan: ResizePlan) -> None:
        """Take the plan off the timeline; see `pyhudi.service.clustering.clustering_rollback.cancel`."""
        cancel(table, instant, plan.groups)
