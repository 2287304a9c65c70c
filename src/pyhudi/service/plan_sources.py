"""The source files of skeletons in the plans of services: Apache Hudi, when it runs a plan, finds them there and not in the index.

Rules: `CompactionOperation.getBaseFile`, `ClusteringOperation.getBootstrapFilePath`.
"""

from __future__ import annotations

from dataclasses import replace

from pyhudi.fsview.bootstrap_index import source_of
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringPlan, ClusteringSlice
from pyhudi.spec.actions.compaction import CompactionOperation, CompactionPlan
from pyhudi.spec.files.bootstrap_source import is_skeleton
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.storage.storage_protocol import Storage


def with_compaction_sources(storage: Storage, plan: CompactionPlan) -> CompactionPlan:
    """Return a plan whose operations name the source files of their skeletons.

    Raises:
        CorruptTableError: the bootstrap index does not name a source file.
    """

    def named(operation: CompactionOperation) -> CompactionOperation:
        source = _source(storage, operation.partition_path, operation.data_file)
        return operation if source is None else replace(operation, bootstrap_file=source)

    return replace(plan, operations=None if plan.operations is None else tuple(map(named, plan.operations)))


def with_clustering_sources(storage: Storage, plan: ClusteringPlan) -> ClusteringPlan:
    """Return a plan whose slices name the source files of their skeletons; errors as in `with_compaction_sources`."""

    def named(file_slice: ClusteringSlice) -> ClusteringSlice:
        source = _source(storage, file_slice.partition_path, file_slice.data_file)
        return file_slice if source is None else replace(file_slice, bootstrap_file=source)

    def group_of(group: ClusteringGroup) -> ClusteringGroup:
        return group if group.slices is None else replace(group, slices=tuple(map(named, group.slices)))

    return replace(plan, groups=None if plan.groups is None else tuple(map(group_of, plan.groups)))


def _source(storage: Storage, partition_path: str | None, data_file: str | None) -> str | None:
    name = parse_base_file_name((data_file or "").rpartition("/")[2])
    if name is None or not is_skeleton(name.instant):
        return None
    return source_of(storage, BaseFile(partition_path or "", name, size=0)).uri
