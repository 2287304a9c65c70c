"""Clustering as a table service: rewriting of file groups, or resizing of the buckets of a table with consistent hashing.

Readers continue while it runs, and so do writers to other file groups (`update_strategy`). Rules: `ClusteringPlanActionExecutor`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.consistent_hashing import uses_consistent_hashing
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.service.clustering.clustering_result import ClusteringResult
from pyhudi.service.clustering.clustering_settings import RUNS, ClusteringSettings, short_name
from pyhudi.service.clustering.pending_clustering_plans import ResizePlan, pending_clusterings
from pyhudi.service.clustering.resizing_service import BucketResizing
from pyhudi.service.clustering.rewrite_plan import RewritePlan
from pyhudi.service.clustering.rewrite_service import GroupRewriting, StartedRewrite
from pyhudi.service.clustering.rewrite_settings import REWRITES
from pyhudi.service.clustering.start_clustering import StartedResizing
from pyhudi.service.rewrite_commit import paths_of
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.table_service import ServiceLock, TableService
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable

Plan = ResizePlan | RewritePlan
Work = StartedResizing | StartedRewrite


@dataclass(frozen=True, slots=True)
class Clustering(TableService[Plan, Work, Any, ClusteringResult]):
    """Clustering of a table by its options; what is pending is run by its plan."""

    settings: ClusteringSettings

    name: ClassVar[str] = "clustering"
    lock: ClassVar[ServiceLock | None] = ServiceLock("clustering", "clustering")
    #: Writers wait for a plan: one that cannot be run must not stay.
    keeps_failed_plan: ClassVar[bool] = False

    @property
    def sends_heartbeats(self) -> bool:
        """Whether plans expire, those that nobody runs."""
        return self.settings.expires_after_minutes is not None

    def pending(self, storage: Storage, config: TableConfig, timeline: Timeline) -> tuple[Instant, ...]:
        """Return the pending clusterings of any kind."""
        return pending_clusterings(storage, config, timeline)

    def plan(self, table: LockedTable) -> Plan | None:
        """Return what is to be done now: of the kind that options name, or that fits the table."""
        resizes = self.settings.resizes
        if resizes is None:
            resizes = uses_consistent_hashing(FileSystemView(table.storage, table.config, table.timeline))
        return (self._resizing if resizes else self._rewriting).plan(table)

    def request(self, table: LockedTable, plan: Plan) -> Instant:
        """Put the plan on the timeline."""
        return self._kind(plan).request(table, plan)

    def load_plan(self, table: LockedTable, instant: Instant) -> Plan:
        """Return the plan of a pending clustering.

        Raises:
            UnsupportedError: it is to be run by a class that is none of Hudi's for Spark or Java.
            CorruptTableError: the plan is damaged, or leads out of the table.
        """
        content = pending_clustering(table.storage, table.config, instant)
        if content is None:
            raise CorruptTableError(f"{instant.action} {instant.requested} of table {table.storage.uri} has no plan.")
        name = short_name("" if content.strategy is None else content.strategy.class_name or "")
        if name in map(short_name, RUNS):
            return self._resizing.load_plan(table, instant)
        if name in map(short_name, REWRITES):
            return self._rewriting.load_plan(table, instant)
        raise UnsupportedError(
            f"{instant.action} {instant.requested} of table {table.storage.uri} is run by {name or 'a class that it does not name'}, which"
            " is not served. Let Apache Hudi run it."
        )

    def start(self, table: LockedTable, instant: Instant, plan: Plan, runner: ServiceRunner) -> Work:
        """Start a run."""
        work: Work = self._kind(plan).start(table, instant, plan, runner)
        return work

    def run_tasks(self, runner: ServiceRunner, work: Work) -> Any:
        """Write the new files."""
        return self._kind(work).run_tasks(runner, work)

    def written_by(self, outcome: list[TaskResult]) -> frozenset[str]:
        """Return the paths of the files that tasks wrote."""
        return paths_of(outcome)

    def complete(self, table: LockedTable, work: Work, outcome: Any, engine: str) -> ClusteringResult:
        """Replace the file groups of the plan."""
        return self._kind(work).complete(table, work, outcome, engine)

    def planned_result(self, plan: Plan, instant: Instant | None) -> ClusteringResult:
        """Return the result of a plan."""
        return self._kind(plan).planned_result(plan, instant)

    def rollback_run(self, table: LockedTable, instant: Instant, plan: Plan) -> None:
        """Delete what a dead run of the plan wrote."""
        self._kind(plan).rollback_run(table, instant, plan)

    def written_files(self, table: LockedTable, instant: Instant, plan: Plan) -> tuple[str, ...]:
        """Return the paths of the files that runs of a plan left."""
        return self._kind(plan).written_files(table, instant, plan)

    def cancel(self, table: LockedTable, instant: Instant, plan: Plan) -> None:
        """Take the plan off the timeline with what its runs wrote."""
        self._kind(plan).cancel(table, instant, plan)

    @property
    def _resizing(self) -> BucketResizing:
        return BucketResizing(self.settings)

    @property
    def _rewriting(self) -> GroupRewriting:
        return GroupRewriting(self.settings)

    def _kind(self, one: Plan | Work) -> TableService[Any, Any, Any, ClusteringResult]:
        return self._resizing if isinstance(one, ResizePlan | StartedResizing) else self._rewriting
