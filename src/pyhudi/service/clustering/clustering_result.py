"""What a clustering says when it is planned or done."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.service.clustering.pending_clustering_plans import BucketGroup
from pyhudi.spec.instant import Instant

PLANNED = "planned"
REQUESTED = "requested"
COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class ClusteringResult:
    """One clustering, which resizes hash rings.

    `state` is `planned` (dry run, nothing on the timeline), `requested` or `completed`. `slices` file slices of `partitions` partitions are
    rewritten: `splits` buckets become two, `merged` buckets become fewer. Rows count what stands in the new files, sizes are bytes.
    """

    instant: str | None
    completed: str | None
    state: str
    partitions: int
    slices: int
    splits: int
    merged: int
    rows: int = 0
    files_written: int = 0
    bytes_written: int = 0
    engine: str | None = None
    seconds: float = 0.0

    def __str__(self) -> str:
        head = f"clustering {self.instant or ''} {self.state}".replace("  ", " ")
        plan = f"{self.splits} buckets split, {self.merged} merged, in {self.partitions} partitions"
        if self.state != COMPLETED:
            return f"{head}: {plan}"
        return f"{head}: {plan}; {self.rows} rows in {self.files_written} files, {self.bytes_written} bytes, {self.seconds:.3f} s"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows."""
        return dataclasses.asdict(self)


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


def completed_result(
    groups: Sequence[BucketGroup], done: Instant, results: Sequence[TaskResult], engine: str, seconds: float
) -> ClusteringResult:
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
        seconds=seconds,
    )
