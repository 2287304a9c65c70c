"""What a compaction or log compaction plans.

Rules: `HoodieCompactionPlan`, `HoodieCompactionOperation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyhudi.spec.clustering import Strategy


@dataclass(frozen=True, slots=True)
class CompactionOperation:
    """One file slice to compact; file names are relative to the partition in plans of version 2."""

    base_instant: str | None
    file_id: str | None
    partition_path: str | None
    data_file: str | None = None
    delta_files: tuple[str, ...] | None = None
    metrics: Mapping[str, float] | None = None
    bootstrap_file: str | None = None


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """Content of a requested compaction."""

    operations: tuple[CompactionOperation, ...] | None
    extra: Mapping[str, str] | None = None
    version: int | None = 2
    strategy: Strategy | None = None
    preserve_meta_columns: bool | None = None
    missing_partitions: tuple[str, ...] | None = None
