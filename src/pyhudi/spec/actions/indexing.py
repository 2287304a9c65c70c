"""What an indexing action plans and what it did.

Rules: `HoodieIndexPlan`, `HoodieIndexCommitMetadata`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IndexedPartition:
    """One partition of the metadata table, and the instant up to which it is built."""

    metadata_partition: str | None
    upto: str | None
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class Indexing:
    """Content of a requested or completed indexing action."""

    partitions: tuple[IndexedPartition, ...]
    version: int | None = 1
