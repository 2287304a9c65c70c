"""What a replacecommit or clustering plans.

Rules: `HoodieRequestedReplaceMetadata`, `HoodieClusteringPlan`. Insert overwrite and delete partition request an
    empty one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClusteringSlice:
    """A file slice to rewrite; Hudi writes full paths with scheme."""

    file_id: str | None
    partition_path: str | None
    data_file: str | None
    delta_files: tuple[str, ...] | None = None
    bootstrap_file: str | None = None
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class ClusteringGroup:
    """Slices that are rewritten together into `output_file_groups` new file groups."""

    slices: tuple[ClusteringSlice, ...] | None
    metrics: Mapping[str, float] | None = None
    output_file_groups: int | None = 1
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class Strategy:
    """A Java class by name, with its parameters; the name is shown, never loaded."""

    class_name: str | None
    params: Mapping[str, str] | None = None
    version: int | None = 1


@dataclass(frozen=True, slots=True)
class ClusteringPlan:
    """All groups of one clustering."""

    groups: tuple[ClusteringGroup, ...] | None
    strategy: Strategy | None = None
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = 1
    preserve_meta_columns: bool | None = None
    missing_partitions: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class RequestedReplace:
    """Content of a requested replacecommit or clustering."""

    operation: str | None = None
    plan: ClusteringPlan | None = None
    extra_metadata: Mapping[str, str] | None = None
    version: int | None = None
