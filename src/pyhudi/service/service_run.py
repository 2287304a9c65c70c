"""A plan that was just made, and a run of a service that has begun: what becomes of its files, and of those of a process that was taken for
dead and wrote on.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Generic

from pyhudi.locks.exclusive_service import ExclusiveService
from pyhudi.service.table_service import Plan, TableService
from pyhudi.spec.instant import Instant, State
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import delete_markers


@dataclass(frozen=True, slots=True)
class MadePlan(Generic[Plan]):
    """A plan that this process has made under the table's lock, its instant, and the timeline on which it was made."""

    plan: Plan
    instant: Instant
    timeline: Timeline

    def holds(self, timeline: Timeline) -> bool:
        """Tell whether nothing has happened to the table since, by its timeline read again under the lock.

        No action but this one is new then, and none is in another state, or in the archive, or rolled back by a restore.
        """
        others = tuple(one for one in timeline.instants if one.requested != self.instant.requested)
        return others == self.timeline.instants and timeline.restoring == self.timeline.restoring


@dataclass(frozen=True, slots=True)
class StartedRun(Generic[Plan]):
    """A run of a pending instant; `instant` and `plan` are as they were before it."""

    service: TableService[Plan, Any, Any, Any]
    plan: Plan
    instant: Instant
    exclusion: ExclusiveService

    def delete_strays(self, table: LockedTable, named: Collection[str]) -> None:
        """Before the instant completes, delete its files that the run does not name: an earlier run on another machine, taken for dead, may
        have written them since. Readers that list files would see them.
        """
        if self.exclusion.lease is not None and self.instant.state is State.INFLIGHT:
            self._delete_all_but(table, named)

    def end_without_completion(self, table: LockedTable, *, keep_plan: bool) -> str:
        """Roll back what the run wrote, as far as that is its own; return what is left of it, `""` for nothing."""
        requested = self.instant.requested
        completed = next((one for one in table.timeline.find(requested) if one.is_completed), None)
        if completed is not None and self.exclusion.lease is not None:  # another process has taken over, and did it
            if completed.action.writes_data:
                metadata = load_commit_metadata(table.storage, table.config, table.timeline, completed)
                self._delete_all_but(table, {path for stat in metadata.all_stats() for path in stat.files})
            delete_markers(table.storage, requested)
            return f"{completed.action} {requested} was completed by another process"
        if not self.exclusion.is_held:
            return "it is left to the process that has taken over, or to the next run"
        instant = self.service.find(table, requested)
        plan = self.service.load_plan(table, instant)
        if keep_plan:
            self.service.rollback_run(table, instant, plan)
        else:
            self.service.cancel(table, instant, plan)
        return ""

    def _delete_all_but(self, table: LockedTable, named: Collection[str]) -> None:
        for path in self.service.written_files(table, self.instant, self.plan):
            if path not in named:
                table.storage.delete(path)
