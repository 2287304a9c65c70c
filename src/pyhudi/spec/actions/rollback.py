"""What a rollback plans and what it did.

Rules: `HoodieRollbackPlan`, `HoodieRollbackRequest`, `HoodieRollbackMetadata`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class InstantInfo:
    """An instant as payloads name it: requested time and action text."""

    time: str
    action: str


@dataclass(frozen=True, slots=True)
class RollbackRequest:
    """Files of one partition to delete. Hudi writes absolute paths without scheme; `""` where a file id does not
    apply.
    """

    partition_path: str
    file_id: str | None = ""
    latest_base_instant: str | None = ""
    files_to_delete: tuple[str, ...] = ()
    log_blocks_to_delete: Mapping[str, int] | None = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RollbackPlan:
    """Content of a requested rollback."""

    instant: InstantInfo | None
    requests: tuple[RollbackRequest, ...] | None
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class RollbackPartition:
    """What a rollback did in one partition; log maps hold sizes in bytes."""

    partition_path: str
    deleted: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    rollback_log_files: Mapping[str, int] | None = field(default_factory=dict)
    failed_log_files: Mapping[str, int] | None = field(default_factory=dict)

    def joined(self, other: RollbackPartition) -> RollbackPartition:
        """Return what both did in the partition."""
        return RollbackPartition(
            self.partition_path,
            self.deleted + other.deleted,
            self.failed + other.failed,
            {**(self.rollback_log_files or {}), **(other.rollback_log_files or {})},
            {**(self.failed_log_files or {}), **(other.failed_log_files or {})},
        )


@dataclass(frozen=True, slots=True)
class RollbackMetadata:
    """Content of a completed rollback; `start` is its instant, `time_taken_ms` in milliseconds."""

    start: str
    time_taken_ms: int
    files_deleted: int
    commits: tuple[str, ...]
    partitions: Mapping[str, RollbackPartition]
    instants: tuple[InstantInfo, ...] = ()
    version: int | None = 1
