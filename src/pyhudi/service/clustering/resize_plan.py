"""Plans the resizing of buckets of consistent hashing: which buckets are split and which are merged. Pure.

Rules: `BaseConsistentHashingBucketClusteringPlanStrategy`. Buckets that are neither too large nor too small are left alone (Apache Hudi's
plans on Spark rewrite them as well, those on Flink do not). A bucket without rows has no slice: it is neither split nor merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyhudi.index.bucket_resizing import Node, merge, render_nodes, split
from pyhudi.index.consistent_hashing import HashingMetadata
from pyhudi.service.clustering.clustering_settings import RUNS, ClusteringSettings
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringPlan, Strategy
from pyhudi.spec.actions.clustering_slices import render_slice
from pyhudi.spec.actions.compaction import group_metrics
from pyhudi.spec.files.file_group import FileSlice

#: What the groups of a plan say in their extra metadata.
PARTITION = "clustering.group.partition"
NODES = "clustering.group.child.node"
NUMBER = "clustering.group.sequence.no"


@dataclass(frozen=True, slots=True)
class Resizing:
    """Some buckets of a partition, by their slices, and the nodes that take their place."""

    hashing: HashingMetadata
    slices: tuple[FileSlice, ...]
    nodes: tuple[Node, ...]


def resizings(
    hashing: HashingMetadata, slices: Sequence[FileSlice], settings: ClusteringSettings, new_prefix: Callable[[], str]
) -> list[Resizing]:
    """Return how the buckets of one partition are resized, largest splits first, then merges in the order of the hash ranges.

    Args:
        hashing: the partition's hashing metadata.
        slices: the newest slices that may be rewritten, each of a bucket of the partition.
        settings: sizes and numbers to keep to.
        new_prefix: gives file ids, without number, of new buckets.
    """
    indices = {file_id: index for index, file_id in enumerate(hashing.file_ids)}
    by_index = {indices[file_slice.group.file_id]: file_slice for file_slice in slices}
    sizes = {index: _size(file_slice) for index, file_slice in by_index.items()}
    count, began = len(hashing.values), hashing.first_count
    splits: dict[int, tuple[Node, ...]] = {}
    room = max(settings.most_buckets or 0, began) - count
    for index in sorted(sizes, key=lambda index: (-sizes[index], index)):
        if len(splits) >= room or sizes[index] <= settings.split_bytes:
            break
        nodes = split(hashing, index, (new_prefix(), new_prefix()))
        if nodes is not None:
            splits[index] = nodes
    spare = count + len(splits) - min(settings.least_buckets or began, began)
    left = {index: size for index, size in sizes.items() if index not in splits}
    halved = [Resizing(hashing, (by_index[index],), nodes) for index, nodes in splits.items()]
    runs = _runs(count, left, settings.merge_bytes, spare)
    return [*halved, *(Resizing(hashing, tuple(by_index[index] for index in run), merge(hashing, run, new_prefix())) for run in runs)]


def _size(file_slice: FileSlice) -> int:
    return (0 if file_slice.base is None else file_slice.base.size) + sum(log.size for log in file_slice.logs)


def _runs(count: int, sizes: Mapping[int, int], limit: int, spare: int) -> Iterator[list[int]]:
    """Yield runs of neighbours to merge among `count` buckets, of which `spare` can be given up.

    A run grows from a small bucket, backwards, then forwards, by small ones, until it is larger than the limit: so it may pass it once.
    """
    taken: set[int] = set()
    for start in sorted(sizes):
        if start in taken or sizes[start] > limit:
            continue
        run, total = [start], sizes[start]
        for step in (-1, 1):
            while spare > 0 and total <= limit:
                near = (run[0 if step < 0 else -1] + step) % count
                if near in run or near in taken or sizes.get(near, limit + 1) > limit:
                    break
                run.insert(0 if step < 0 else len(run), near)
                total += sizes[near]
                spare -= 1
        if len(run) > 1:
            taken.update(run)
            yield run


def clustering_plan(chosen: Sequence[Resizing], partitions: Sequence[str], settings: ClusteringSettings, uri: str) -> ClusteringPlan:
    """Return the plan that is on the timeline.

    Args:
        chosen: what is resized.
        partitions: the paths that were looked at: Apache Hudi looks at them again next time.
        settings: the size to expect of base files.
        uri: the table's; plans of clustering name files in full.
    """
    return ClusteringPlan(
        groups=tuple(_group(one, settings, uri) for one in chosen),
        strategy=Strategy(RUNS[0], {}),
        extra_metadata={},
        preserve_meta_columns=True,
        missing_partitions=tuple(partitions),
    )


def _group(resizing: Resizing, settings: ClusteringSettings, uri: str) -> ClusteringGroup:
    return ClusteringGroup(
        slices=tuple(render_slice(file_slice, uri) for file_slice in resizing.slices),
        metrics=group_metrics(resizing.slices, settings.default_base_bytes),
        output_file_groups=sum(node.prefix is not None for node in resizing.nodes),
        extra_metadata={
            PARTITION: resizing.slices[0].group.partition_path,
            NODES: render_nodes(resizing.nodes),
            NUMBER: str(resizing.hashing.number),
        },
    )
