"""Pending compactions and log compactions: which they are, and which file groups are taken.

Rules: `CompactionUtils.getAllPendingCompactionOperations`; a file group is in one pending plan at most.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyhudi.fsview.pending_plans import read_plan
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant
from pyhudi.timeline.pending_clustering import clustered_groups
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable

COMPACTIONS = (Action.COMPACTION, Action.LOG_COMPACTION)


def pending_compactions(timeline: Timeline, *actions: Action) -> tuple[Instant, ...]:
    """Return the pending instants of these actions, compaction and log compaction by default, the oldest first."""
    return tuple(one for one in timeline.pending() if one.action in (actions or COMPACTIONS))


def busy_groups(table: LockedTable) -> frozenset[FileGroupId]:
    """Return the file groups that a pending compaction, log compaction or clustering holds.

    Raises:
        CorruptTableError: a pending plan is missing or not readable.
    """
    return frozenset(_groups(table))


def _groups(table: LockedTable) -> Iterator[FileGroupId]:
    for instant in table.timeline.pending():
        if instant.action in COMPACTIONS:
            yield from (operation.group for operation in read_plan(table.storage, table.config, instant).operations or ())
    yield from clustered_groups(table.storage, table.config, table.timeline)
