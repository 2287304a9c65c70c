"""What a restore to a savepoint plans and what it did.

Rules: `HoodieRestorePlan`, `HoodieRestoreMetadata`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyhudi.spec.actions.rollback import InstantInfo, RollbackMetadata, RollbackPartition


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """Content of a requested restore."""

    instants: tuple[InstantInfo, ...]
    savepoint: str | None = None
    version: int | None = 2


@dataclass(frozen=True, slots=True)
class RestoreMetadata:
    """Content of a completed restore; `start` is its instant, `time_taken_ms` in milliseconds."""

    start: str
    time_taken_ms: int
    rolled_back: tuple[str, ...]
    rollbacks: Mapping[str, tuple[RollbackMetadata, ...]]
    instants: tuple[InstantInfo, ...] = ()
    version: int | None = 1

    def as_rollback(self) -> RollbackMetadata:
        """Return what a rollback would say that had done the same."""
        done = [rollback for listed in self.rollbacks.values() for rollback in listed]
        partitions: dict[str, RollbackPartition] = {}
        for rollback in done:
            for path, partition in rollback.partitions.items():
                partitions[path] = partitions[path].joined(partition) if path in partitions else partition
        deleted = sum(rollback.files_deleted for rollback in done)
        return RollbackMetadata(self.start, self.time_taken_ms, deleted, self.rolled_back, partitions, self.instants)
