"""What clusterings plan, which are table services and no writes. Rules: `ClusteringUtils`."""

from __future__ import annotations

from collections.abc import Mapping

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.clustering import ClusteringPlan, RequestedReplace
from pyhudi.spec.actions.compaction import CompactionOperation
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import instant_path, read_action
from pyhudi.timeline.timeline import Timeline

#: The actions by which clusterings are filed; in layout 1 they share the one of writes that replace files.
_ACTIONS = (Action.CLUSTERING, Action.REPLACE_COMMIT)
#: In the names of the classes that resize buckets of consistent hashing: `SparkConsistentBucketClusteringExecutionStrategy` and others.
_RESIZING = "Consistent"


def pending_clustering(storage: Storage, config: TableConfig, instant: Instant) -> ClusteringPlan | None:
    """Return what a pending instant is going to cluster; None of any other action, and of one that was rolled back since it was listed.

    Raises:
        CorruptTableError: its plan is missing or not readable.
    """
    if instant.action not in _ACTIONS:
        return None
    try:
        request = read_action(storage, config, Instant(instant.requested, instant.action, State.REQUESTED))
    except FileNotFoundError as error:
        if was_rolled_back(storage, config, instant):
            return None
        raise damaged_plan_error(storage, config, instant, "its file is missing") from error
    except CorruptTableError as error:
        raise damaged_plan_error(storage, config, instant, error) from error
    plan = request.plan if isinstance(request, RequestedReplace) else None
    if plan is None and instant.action is Action.CLUSTERING:
        raise damaged_plan_error(storage, config, instant, "its file holds none")
    return plan


def clustering_plan(storage: Storage, config: TableConfig, instant: Instant) -> ClusteringPlan | None:
    """Return what an instant of the active timeline clusters or has clustered; None of any other action, and when its request is missing.

    Raises:
        CorruptTableError: the plan is not readable.
    """
    if not instant.is_completed:
        return pending_clustering(storage, config, instant)
    for action in _ACTIONS if instant.action in _ACTIONS else ():
        requested = Instant(instant.requested, action, State.REQUESTED)
        if storage.stat(instant_path(config, requested)) is not None:
            request = read_action(storage, config, requested)
            return request.plan if isinstance(request, RequestedReplace) else None
    return None


def was_rolled_back(storage: Storage, config: TableConfig, instant: Instant) -> bool:
    """Tell whether a pending instant has left the timeline since it was listed: a rollback deletes the request as the last of its files."""
    return storage.stat(instant_path(config, instant)) is None


def damaged_plan_error(storage: Storage, config: TableConfig, instant: Instant, problem: object) -> CorruptTableError:
    """Return the error that refuses the plan of a pending clustering or compaction."""
    return CorruptTableError(
        f"the plan of {instant.action} {instant.requested} of table {storage.uri} is damaged: {problem}. Nothing of it is run. Put"
        f" '{config.timeline_path}/{instant.requested}.{instant.action}.requested' back from a copy of the table, or roll it back:"
        f" HudiTable.open('{storage.uri}').services.rollback('{instant.requested}')."
    )


def resizes_buckets(plan: ClusteringPlan) -> bool:
    """Tell whether a plan resizes the buckets of consistent hashing: writers would have to write to old buckets and new ones."""
    name = "" if plan.strategy is None else plan.strategy.class_name or ""
    return _RESIZING in name.rpartition(".")[2]


def clustered_groups(storage: Storage, config: TableConfig, timeline: Timeline) -> Mapping[FileGroupId, Instant]:
    """Return the file groups that pending clusterings are going to replace, and the clustering of each.

    Raises:
        CorruptTableError: a plan is missing or not readable, or leads out of the table.
    """
    groups: dict[FileGroupId, Instant] = {}
    for instant in timeline.pending():
        plan = pending_clustering(storage, config, instant)
        for group in (plan.groups or ()) if plan is not None else ():
            for file_slice in group.slices or ():
                # The same checks of names and paths as for the slices of a compaction.
                try:
                    id_ = CompactionOperation(None, file_slice.file_id, file_slice.partition_path).group
                except CorruptTableError as error:
                    raise damaged_plan_error(storage, config, instant, error) from None
                groups[id_] = instant
    return groups
