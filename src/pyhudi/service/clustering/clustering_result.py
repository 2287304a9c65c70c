"""What a clustering reports when it is planned or done."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.service.clustering.pending_clustering_plans import BucketGroup
from pyhudi.service.table_service import COMPLETED, PLANNED, REQUESTED, ServiceResult
from pyhudi.spec.instant import Instant


@dataclass(frozen=True, slots=True)
class ClusteringResult(ServiceResult):
    """One clustering, which resizes hash rings; further fields as of `ServiceResult`.

    `slices` file slices of `partitions` partitions are rewritten: `splits` buckets become two, `merged` buckets become fewer.
    """

    partitions: int
    slices: int
    splits: int
    merged: int

    def __str__(self) -> str:
        return self.describe("clustering", f"{self.splits} buckets split, {self.merged} merged, in {self.partitions} partitions")


def planned_result(groups: Sequence[BucketGroup], instant: Instant | None) -> ClusteringResult:
    """Return the result of a plan; `instant` is None when it is not on the timeline."""
    return ClusteringResult(
        instant=None if instant is None else instant.requested,
        completed=None,
        state=PLANNED if instant is None else REQUESTED,
        partitions=len({group.partition_path for group in groups}),
        slices=sum(len(group.files) for group in groups),
        splits=sum(len(group.new_ids) > 1 for group in groups),
        merged=sum(len(group.files) for group in groups if len(group.files) > 1),
    )


def completed_result(groups: Sequence[BucketGroup], done: Instant, results: Sequence[TaskResult], engine: str) -> ClusteringResult:
    """Return the result of a clustering that is visible."""
    stats = [result.stat for result in results]
    return dataclasses.replace(
        planned_result(groups, done),
        completed=done.completed,
        state=COMPLETED,
        rows=sum(stat.num_writes for stat in stats),
        files_written=len(stats),
        bytes_written=sum(stat.total_write_bytes for stat in stats),
        engine=engine,
    )
