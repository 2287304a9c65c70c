"""What a write will touch: new records a partition, records for each file slice. Small, and all that planning needs of
the rows.

Rules: `WorkloadProfile`, `WorkloadStat`; the inflight file of a commit holds it as write statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyhudi.index.rows import TaggedRows
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat
from pyhudi.spec.files.file_group import FileSlice


@dataclass(frozen=True, slots=True)
class PartitionProfile:
    """Counts of one partition: `inserts` new records, for each file slice the updates and deletes it gets, and the rows of file groups that
    begin with them, by how their file ids begin.
    """

    inserts: int = 0
    updates: Mapping[FileSlice, int] = field(default_factory=dict)
    new_buckets: Mapping[str, int] = field(default_factory=dict)

    @property
    def new(self) -> int:
        """How many rows go to file groups that had none of them."""
        return self.inserts + sum(self.new_buckets.values())


@dataclass(frozen=True, slots=True)
class Profile:
    """Counts of a whole write, by partition path."""

    partitions: Mapping[str, PartitionProfile] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """How many records the write touches."""
        return sum(part.new + sum(part.updates.values()) for part in self.partitions.values())


def profile_of(tagged: Iterable[TaggedRows]) -> Profile:
    """Return the counts of tagged rows."""
    return Profile(
        {
            part.partition_path: PartitionProfile(
                part.inserts.num_rows,
                {file_slice: rows.num_rows for file_slice, rows in part.updates},
                {beginning: rows.num_rows for beginning, rows in part.new_buckets},
            )
            for part in tagged
        }
    )


def inflight_metadata(profile: Profile, operation: Operation) -> CommitMetadata:
    """Return the content of the inflight file: for each partition its inserts first, then its updated file groups."""
    stats = {
        path: (
            WriteStat("", None, num_inserts=part.new, has_runtime=False),
            *(
                WriteStat(file_slice.group.file_id, None, prev_commit=file_slice.base_instant, num_update_writes=count, has_runtime=False)
                for file_slice, count in part.updates.items()
            ),
        )
        for path, part in profile.partitions.items()
    }
    return CommitMetadata(stats, operation=operation)
