"""What a clean says when it is planned or done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pyhudi.service.cleaning.clean_plan import PlannedClean
from pyhudi.service.table_service import COMPLETED, PLANNED, REQUESTED, ServiceResult
from pyhudi.spec.actions.clean import CleanMetadata, CleanPlan
from pyhudi.spec.instant import Instant


@dataclass(frozen=True, slots=True, repr=False)
class CleanResult(ServiceResult):
    """What a clean deleted, or would delete.

    Attributes:
        policy: what decided how long file slices stay.
        earliest_retained: requested time of the earliest commit whose state stays readable; None where file slices are counted.
        files: the names of the files with their sizes in bytes, by partition path; the size is None where a plan was found on the timeline.
        partitions: the dropped partitions whose folders are deleted.
        sources: the files deleted that the table was bootstrapped from.
        time_taken_ms: how long a completed clean took by its metadata, in milliseconds.
    """

    policy: str = field(default="", kw_only=True)
    earliest_retained: str | None = field(default=None, kw_only=True)
    files: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict, kw_only=True)
    partitions: tuple[str, ...] = field(default=(), kw_only=True)
    time_taken_ms: int = field(default=0, kw_only=True)
    sources: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def total_files(self) -> int:
        """How many files."""
        return sum(map(len, self.files.values()))

    @property
    def total_bytes(self) -> int:
        """Their bytes, as far as known."""
        return sum(size or 0 for sizes in self.files.values() for size in sizes.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows, with the counts."""
        return {**asdict(self), "total_files": self.total_files, "total_bytes": self.total_bytes}

    def __str__(self) -> str:
        what = f"{self.total_files} files"
        if all(size is not None for sizes in self.files.values() for size in sizes.values()):
            what += f", {self.total_bytes} bytes"
        if self.partitions:
            what += f", {len(self.partitions)} dropped partitions"
        if self.sources:
            what += f", {len(self.sources)} source files of the bootstrap"
        name = "clean" if self.instant is None else f"clean {self.instant}"
        reach = "" if self.earliest_retained is None else f"; states from {self.earliest_retained} on stay readable"
        return f"{name} ({self.policy}) {self.state}: {what}{reach}"


def planned_result(planned: PlannedClean, instant: Instant | None) -> CleanResult:
    """Return the result of a plan; `instant` is None when it is not on the timeline."""
    plan = planned.plan
    return CleanResult(
        None if instant is None else instant.requested,
        None,
        PLANNED if instant is None else REQUESTED,
        policy=plan.policy,
        earliest_retained=plan.retained_from,
        files={path: planned.sizes_of(path, names) for path, names in planned.names.items()},
        partitions=plan.partitions_to_delete,
        sources=tuple(uri for uris in plan.sources.values() for uri in uris),
    )


def completed_result(
    instant: Instant, completed: str | None, plan: CleanPlan, files: Mapping[str, Mapping[str, int | None]], done: CleanMetadata
) -> CleanResult:
    """Return the result of a clean that is done; `completed` is the time of its completion where the table keeps one."""
    return CleanResult(
        instant.requested,
        completed,
        COMPLETED,
        policy=plan.policy,
        earliest_retained=plan.retained_from,
        files=files,
        partitions=tuple(path for path, partition in done.partitions.items() if partition.is_partition_deleted),
        time_taken_ms=done.time_taken_ms,
        sources=tuple(uri for partition in done.sources.values() for uri in partition.deleted),
    )
