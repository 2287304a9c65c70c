"""Pending clusterings and their plans, checked: plans are untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyhudi.codec.actions.plan_codec import encode_clustering_plan
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.index.bucket_resizing import Node, parse_nodes
from pyhudi.service.clustering.resize_plan import NODES, NUMBER, PARTITION
from pyhudi.service.clustering.rewrite_plan import RewritePlan, parse_plan
from pyhudi.service.clustering.rewrite_settings import SORT_COLUMNS
from pyhudi.service.plan_sources import with_clustering_sources
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringPlan
from pyhudi.spec.actions.clustering_slices import planned_files
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.pending_clustering import damaged_plan_error, pending_clustering
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable, TableState
from pyhudi.txn.metadata_updates import time_of_service


@dataclass(frozen=True, slots=True)
class BucketGroup:
    """Buckets of one partition that a plan rewrites: the names of the files of their slices, and the nodes that take their place.

    `number` is that of the hashing metadata which the plan was made for.
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
    """A plan to resize buckets of consistent hashing: its groups, checked, and the content of the requested instant."""

    groups: tuple[BucketGroup, ...]
    content: ClusteringPlan


def pending_clusterings(storage: Storage, config: TableConfig, timeline: Timeline) -> tuple[Instant, ...]:
    """Return the pending clusterings of any kind, the oldest first.

    Raises:
        CorruptTableError: a plan is missing or not readable.
    """
    return tuple(one for one in timeline.pending() if pending_clustering(storage, config, one) is not None)


def request_clustering(table: LockedTable, plan: ClusteringPlan) -> Instant:
    """Put the plan of a clustering of any kind on the timeline."""
    action = Action.REPLACE_COMMIT if table.config.layout == 1 else Action.CLUSTERING
    return table.writer.request(
        action, time_of_service(table), encode_clustering_plan(with_clustering_sources(table.storage, plan), sync=table.ids.sync_marker())
    )


def load_resize_plan(table: LockedTable, instant: Instant) -> ResizePlan:
    """Return what the plan of a pending clustering resizes.

    Raises:
        UnsupportedError: it sorts rows.
        CorruptTableError: the plan is damaged, or leads out of the table.
    """
    plan = pending_clustering(table.storage, table.config, instant)
    if plan is None:
        raise CorruptTableError(f"{instant.action} {instant.requested} of table {table.storage.uri} has no plan.")
    sorts = ((plan.strategy.params if plan.strategy else None) or {}).get(SORT_COLUMNS)
    if sorts:
        raise UnsupportedError(
            f"{instant.action} {instant.requested} of table {table.storage.uri} sorts rows by {sorts} while it resizes"
            " buckets of consistent hashing, which is not served. Let Apache Hudi run it."
        )
    try:
        return ResizePlan(groups_of(plan), plan)
    except (CorruptTableError, ValueError, KeyError) as error:
        raise damaged_plan_error(table.storage, table.config, instant, error) from None


def load_rewrite_plan(table: TableState, instant: Instant) -> RewritePlan:
    """Return what the plan of a pending clustering rewrites.

    Raises:
        CorruptTableError: it is damaged, or leads out of the table.
        UnsupportedError: it has slices that this release does not rewrite.
    """
    plan = pending_clustering(table.storage, table.config, instant)
    if plan is None:
        raise CorruptTableError(f"the plan of {instant.action} {instant.requested} of table {table.storage.uri} is missing.")
    try:
        return parse_plan(plan)
    except (CorruptTableError, ValueError) as error:
        raise damaged_plan_error(table.storage, table.config, instant, error) from None


def groups_of(plan: ClusteringPlan) -> tuple[BucketGroup, ...]:
    """Return the groups of a plan that resizes buckets of consistent hashing.

    Raises:
        CorruptTableError: a group holds what it must not.
        KeyError: a group does not say what it is.
        ValueError: the number of its hashing metadata is none.
    """
    return tuple(_group(group) for group in plan.groups or ())


def _group(group: ClusteringGroup) -> BucketGroup:
    extra_metadata = group.extra_metadata or {}
    path, nodes = extra_metadata[PARTITION], parse_nodes(extra_metadata[NODES])
    files = planned_files(group)
    for id_ in files:
        if id_.partition_path != path:
            raise CorruptTableError(f"a group of partition '{path}' holds {id_}")
    if not files or not nodes:
        raise CorruptTableError(f"a group of partition '{path}' holds no file slices, or names no buckets")
    return BucketGroup(path, files, nodes, int(extra_metadata[NUMBER]))
