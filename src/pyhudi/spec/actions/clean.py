"""What a clean plans and what it did.

Rules: `HoodieCleanerPlan`, `HoodieCleanMetadata`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CleanPlan:
    """Content of a requested clean; `files` are the paths to delete by partition path, `retained_from` the earliest
    instant kept and `retained_action` its action. `sources` are files to delete that the table was bootstrapped from, by partition path.
    """

    policy: str
    retained_from: str | None = None
    last_completed: str = ""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    partitions_to_delete: tuple[str, ...] = ()
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = 2
    retained_action: str | None = None
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CleanPartition:
    """What a clean did in one partition."""

    partition_path: str
    policy: str
    delete_patterns: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    is_partition_deleted: bool = False


@dataclass(frozen=True, slots=True)
class CleanMetadata:
    """Content of a completed clean; `start` is its instant, `time_taken_ms` in milliseconds.

    `sources` says what was done with files that the table was bootstrapped from.
    """

    start: str
    time_taken_ms: int
    files_deleted: int
    retained_from: str
    last_completed: str
    partitions: Mapping[str, CleanPartition]
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = 2
    sources: Mapping[str, CleanPartition] = field(default_factory=dict)
