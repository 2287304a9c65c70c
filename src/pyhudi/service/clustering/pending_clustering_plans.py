"""Pending clusterings that resize hash rings, and what their plans say, checked: plans are untrusted, and most are of other kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.index.bucket_resizing import Node, parse_nodes
from pyhudi.service.clustering.clustering_settings import RUNS, short_name
from pyhudi.service.clustering.resize_plan import NODES, NUMBER, PARTITION
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringPlan
from pyhudi.spec.actions.compaction import CompactionOperation
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable


@dataclass(frozen=True, slots=True)
class BucketGroup:
    """Buckets of one partition that a plan rewrites: the names of the files of their slices, and the nodes that take their place.

    `number` is that of the ring which the plan was made for.
    """

    partition_path: str
    files: Mapping[FileGroupId, frozenset[str]]
    nodes: tuple[Node, ...]
    number: int

    @property
    def new_ids(self) -> frozenset[str]:
        """The file ids of the new buckets."""
        return frozenset(node.file_id for node in self.nodes if node.file_id is not None)


@dataclass(frozen=True, slots=True)
class ResizePlan:
    """A plan to resize hash rings: its groups, checked, and the content of the requested instant."""

    groups: tuple[BucketGroup, ...]
    content: ClusteringPlan


def pending_clusterings(storage: Storage, config: TableConfig, timeline: Timeline) -> tuple[Instant, ...]:
    """Return the pending clusterings of any kind, the oldest first.

    Raises:
        CorruptTableError: a plan is missing or not readable.
    """
    return tuple(one for one in timeline.pending() if pending_clustering(storage, config, one) is not None)


def load_resize_plan(table: LockedTable, instant: Instant) -> ResizePlan:
    """Return what the plan of a pending clustering resizes.

    Raises:
        UnsupportedError: it is no resizing of hash rings, or sorts rows.
        CorruptTableError: the plan is damaged, or leads out of the table.
    """
    plan = pending_clustering(table.storage, table.config, instant)
    if plan is None:
        raise CorruptTableError(f"{instant.action} {instant.requested} of table {table.storage.uri} has no plan.")
    _check_served(plan, instant, table.storage.uri)
    try:
        return ResizePlan(groups_of(plan), plan)
    except (CorruptTableError, ValueError, KeyError) as error:
        raise CorruptTableError(f"the plan of {instant.action} {instant.requested} of table {table.storage.uri}: {error}") from None


def groups_of(plan: ClusteringPlan) -> tuple[BucketGroup, ...]:
    """Return the groups of a plan that resizes hash rings.

    Raises:
        CorruptTableError: a group holds what it must not.
        KeyError: a group does not say what it is.
        ValueError: the number of its ring is none.
    """
    return tuple(_group(group) for group in plan.groups or ())


def _check_served(plan: ClusteringPlan, instant: Instant, uri: str) -> None:
    strategy = plan.strategy
    name = short_name("" if strategy is None else strategy.class_name or "")
    sorts = None if strategy is None else (strategy.params or {}).get("hoodie.clustering.plan.strategy.sort.columns")
    if name not in map(short_name, RUNS):
        what = f"is run by {name or 'a class that it does not name'}"
    elif sorts:
        what = f"sorts rows by {sorts}"
    else:
        return
    raise UnsupportedError(
        f"{instant.action} {instant.requested} of table {uri} {what}: this release runs clusterings that resize hash rings, and no others."
        " Let Apache Hudi run it."
    )


def _group(group: ClusteringGroup) -> BucketGroup:
    extra = group.extra or {}
    path, nodes = extra[PARTITION], parse_nodes(extra[NODES])
    files: dict[FileGroupId, frozenset[str]] = {}
    for file_slice in group.slices or ():
        # The same checks of names and paths as for the slices of a compaction.
        id_ = CompactionOperation(None, file_slice.file_id, file_slice.partition_path).group
        if id_.partition_path != path:
            raise CorruptTableError(f"a group of partition '{path}' holds file group {id_}")
        named = (file_slice.data_file or "", *(file_slice.delta_files or ()))
        files[id_] = frozenset(name.rpartition("/")[2] for name in named if name)
    if not files or not nodes:
        raise CorruptTableError(f"a group of partition '{path}' holds no file slices, or names no buckets")
    return BucketGroup(path, files, nodes, int(extra[NUMBER]))
