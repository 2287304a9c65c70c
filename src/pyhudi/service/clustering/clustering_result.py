"""What a clustering reports when it is planned or done."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.service.clustering.commit_based_plan import CHECKPOINT
from pyhudi.service.clustering.pending_clustering_plans import BucketGroup
from pyhudi.service.clustering.rewrite_plan import RewriteGroup, RewritePlan
from pyhudi.service.table_service import COMPLETED, PLANNED, REQUESTED, ServiceResult
from pyhudi.spec.instant import Instant


@dataclass(frozen=True, slots=True, repr=False)
class ClusteringResult(ServiceResult):
    """One clustering; further fields as in `ServiceResult`.

    `slices` file slices of `partitions` partitions are rewritten, in `groups` groups. When buckets are resized, `splits` buckets are split
    in two, and `merged` buckets are merged into fewer. `checkpoint` is the value of
    `hoodie.clustering.plan.strategy.earliest.commit.to.cluster` for the next plan of CommitBasedClusteringPlanStrategy; None for others.
    """

    partitions: int
    slices: int
    splits: int = 0
    merged: int = 0
    groups: int = 0
    checkpoint: str | None = None

    def __str__(self) -> str:
        if self.splits or self.merged:
            return self.describe("clustering", f"{self.splits} buckets split, {self.merged} merged, in {self.partitions} partitions")
        return self.describe("clustering", f"{self.slices} slices in {self.groups} groups of {self.partitions} partitions")


def planned_resizing(groups: Sequence[BucketGroup], instant: Instant | None) -> ClusteringResult:
    """Return the result of a plan to resize buckets of consistent hashing; `instant` is None when it is not on the timeline."""
    return dataclasses.replace(
        _planned(groups, instant),
        splits=sum(len(group.new_ids) > 1 for group in groups),
        merged=sum(len(group.files) for group in groups if len(group.files) > 1),
    )


def planned_rewrite(plan: RewritePlan, instant: Instant | None) -> ClusteringResult:
    """Return the result of a plan to rewrite file groups; `instant` is None when it is not on the timeline."""
    return dataclasses.replace(_planned(plan.groups, instant), checkpoint=(plan.content.extra_metadata or {}).get(CHECKPOINT))


def completed(planned: ClusteringResult, done: Instant, results: Sequence[TaskResult], engine: str) -> ClusteringResult:
    """Return the result of a clustering that is visible, given that of its plan."""
    stats = [result.stat for result in results]
    return dataclasses.replace(
        planned,
        completed=done.completed,
        state=COMPLETED,
        rows=sum(stat.num_writes for stat in stats),
        files_written=len(stats),
        bytes_written=sum(stat.total_write_bytes for stat in stats),
        engine=engine,
    )


def _planned(groups: Collection[BucketGroup | RewriteGroup], instant: Instant | None) -> ClusteringResult:
    return ClusteringResult(
        instant=None if instant is None else instant.requested,
        completed=None,
        state=PLANNED if instant is None else REQUESTED,
        partitions=len({group.partition_path for group in groups}),
        slices=sum(len(group.files) for group in groups),
        groups=len(groups),
    )
