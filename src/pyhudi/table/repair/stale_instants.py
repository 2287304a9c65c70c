"""Actions that have been inflight for so long that nobody can be running them. Rules: `CleanupStaleInflightCommitsProcedure`."""

from __future__ import annotations

from datetime import datetime

from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import format_instant, zone_of
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.pending_clustering import pending_clustering

_SERVICES = (Action.COMPACTION, Action.LOG_COMPACTION)


def stale_instants(storage: Storage, before: datetime | None, *, include_writes: bool) -> tuple[Instant, ...]:
    """Return the inflight instants that were requested before a time (None: at any time), the oldest first;
    writes of rows only when asked for.
    """
    config = TableConfig(load_properties(storage))
    bound = None if before is None else format_instant(before, zone_of(config.timeline_zone))
    stale = (
        one for one in load_timeline(storage, config).pending() if one.state is State.INFLIGHT and (bound is None or one.requested < bound)
    )
    return tuple(
        one
        for one in stale
        if one.action in _SERVICES or pending_clustering(storage, config, one) is not None or (include_writes and one.action.writes_data)
    )
