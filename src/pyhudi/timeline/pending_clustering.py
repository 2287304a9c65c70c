"""What clusterings plan, which are table services and no writes. Rules: `ClusteringUtils`."""

from __future__ import annotations

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.clustering import ClusteringPlan, RequestedReplace
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import instant_path, read_action

#: The actions by which clusterings are filed; in layout 1 they share the one of writes that replace files.
_ACTIONS = (Action.CLUSTERING, Action.REPLACE_COMMIT)


def pending_clustering(storage: Storage, config: TableConfig, instant: Instant) -> ClusteringPlan | None:
    """Return what a pending instant is going to cluster; None of any other action.

    Raises:
        CorruptTableError: its plan is missing or not readable.
    """
    if instant.action not in _ACTIONS:
        return None
    try:
        request = read_action(storage, config, Instant(instant.requested, instant.action, State.REQUESTED))
    except FileNotFoundError as error:
        raise CorruptTableError(f"{instant.action} {instant.requested} of table {storage.uri} has no plan.") from error
    return request.plan if isinstance(request, RequestedReplace) else None


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
