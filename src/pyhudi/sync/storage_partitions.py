"""Which partitions a table has, and which of them commits have written to or emptied since the last synchronisation.

Rules: `HoodieSyncClient.getWrittenPartitionsSince`, `.getDroppedPartitionsSince`. A commit is new to a catalog when it was requested, or
completed, after the times that the catalog has: a writer may have completed after one that began later.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline

REQUESTED: Final = "last_commit_time_sync"
COMPLETED: Final = "last_commit_completion_time_sync"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PartitionChanges:
    """Partition paths; of `is_complete` changes `live` are all partitions of the table, else those written to, and `emptied` those that
    lost all rows.
    """

    live: frozenset[str]
    emptied: frozenset[str]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class TableState:
    """A table at one time of its timeline."""

    storage: Storage
    config: TableConfig
    timeline: Timeline
    use_metadata_table: bool = True

    def reloaded(self) -> TableState:
        """Return the table as it is now."""
        return replace(self, timeline=load_full_timeline(self.storage, self.config))

    def markers(self) -> dict[str, str]:
        """Return the times that a catalog notes once it knows the table as it is now; empty for a table without commits.

        Version 6 keeps no completion times: there they end before the first pending write, which the next sync would pass over.
        """
        instants = self.timeline.data_instants()
        if self.timeline.layout == 1:
            first = min((one.requested for one in self.timeline.pending() if one.action.writes_data), default=None)
            instants = tuple(one for one in instants if first is None or one.requested < first)
        if not instants:
            return {}
        completed = max(self.timeline.effect(one)[0] for one in instants)
        return {REQUESTED: max(one.requested for one in instants), COMPLETED: completed}

    def is_behind(self, properties: Mapping[str, str]) -> bool:
        """Tell whether the properties of a catalog's table name a commit that came after this state was loaded."""
        markers = self.markers()
        return any(properties.get(key, "") > markers.get(key, "") for key in (REQUESTED, COMPLETED))

    def all_partitions(self) -> PartitionChanges:
        """Return all partitions that have files."""
        view = open_view(self.storage, self.config, self.timeline, use_metadata_table=self.use_metadata_table)
        replaced = {group.partition_path for group in view.replaced}
        live = (path for path in view.partition_paths() if path not in replaced or view.latest_slices(path))
        return PartitionChanges(frozenset(live), frozenset(), is_complete=True)

    def partitions_since(self, properties: Mapping[str, str]) -> PartitionChanges:
        """Return what changed since the times in the properties of a catalog's table; all partitions where they do not tell.

        They do not when they are missing, older than the active timeline, or newer than it, when a restore came after them, or when an
        action that was completed after them is archived: a slow write is archived before others that began later. Nor where a damaged
        archive does not tell whether there is one.
        """
        requested, completed = properties.get(REQUESTED, ""), properties.get(COMPLETED, "") or properties.get(REQUESTED, "")
        instants = self.timeline.data_instants()
        if not requested or not instants or requested < instants[0].requested or requested > instants[-1].requested:
            return self.all_partitions()
        if self._may_have_archived_after(completed):
            return self.all_partitions()
        if any(one.action in (Action.RESTORE, Action.ROLLBACK) and one.requested > requested for one in self.timeline.completed()):
            return self.all_partitions()
        written: set[str] = set()
        replaced: set[str] = set()
        for instant in instants:
            if instant.requested <= requested and self.timeline.effect(instant)[0] <= completed:
                continue
            metadata = load_commit_metadata(self.storage, self.config, self.timeline, instant)
            written |= metadata.stats.keys()
            replaced |= (metadata.replaced or {}).keys()
        emptied = self._emptied(replaced)
        return PartitionChanges(frozenset(written - emptied), frozenset(emptied), is_complete=False)

    def _may_have_archived_after(self, time: str) -> bool:
        try:
            return self.timeline.has_archived_after(time)
        except CorruptTableError as error:
            _log.warning("all partitions of %s are compared with the catalog: %s", self.storage.uri, error)
            return True

    def _emptied(self, replaced: set[str]) -> set[str]:
        if not replaced:
            return set()
        view = open_view(self.storage, self.config, self.timeline, use_metadata_table=self.use_metadata_table)
        return {path for path in replaced if not view.latest_slices(path)}
