"""The part of `table.services` that reverts what failed writes and runs of services left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from pyhudi.errors import HudiError, UsageError
from pyhudi.progress import progress_bar
from pyhudi.service.indexes import Indexing, is_pending_build
from pyhudi.service.rollback import failed_writes, plan_rollback, roll_back_failed_writes
from pyhudi.service.rollback.damaged_plan import find_damaged_plan, roll_back_without_plan
from pyhudi.service.service_engine import service_runner
from pyhudi.service.service_executor import Service, cancel, exclusive, revert
from pyhudi.spec.actions.rollback import InstantInfo, RollbackPlan
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.options import resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.repair.repair_result import StaleInstant
from pyhudi.table.repair.repair_services import RepairServices
from pyhudi.table.repair.stale_instants import stale_instants
from pyhudi.table.restore_table import is_completed_commit, roll_back_completed
from pyhudi.table.services_by_options import clustering, compaction, service_of
from pyhudi.timeline.clock import time_before
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.locked_table import locked_table


@dataclass(frozen=True, slots=True)
class RollbackServices(RepairServices):
    """Rollbacks of one table.

    Example:
        >>> table.services.rollback(dry_run=True)
        ()
    """

    @progress_bar("rollback")
    def rollback(self, instant: str | None = None, *, dry_run: bool = False) -> tuple[RollbackPlan, ...]:
        """Roll back what failed writes left, and return the plans that did; the next write does the same by itself.

        A pending compaction, log compaction, clustering or build of indexes is rolled back when its instant is given: its plan goes, also
        one that is damaged, and what its runs left. The latest completed commit is rolled back when its instant is given, see also
        `restore`.

        Args:
            instant: the requested time of the failed write, pending service or latest commit; None means all failed writes.
            dry_run: only return the plans.

        Returns:
            One plan for each failed write or pending service: its instant, and the files of each partition that are deleted; none when
            there is nothing to roll back.

        Raises:
            UsageError: the instant is not on the timeline, or it is a completed commit that is not the latest one, has a savepoint, or
                follows on one whose files were cleaned.
            UnsupportedError: the commit was written before the table was upgraded, or a plan is damaged, and the names of files do not
                tell what its runs wrote.
            ConflictError: another process is running the compaction, the clustering or the build.

        Example:
            >>> planned = table.services.compact(mode="schedule")[0].instant
            >>> [plan.instant.action for plan in table.services.rollback(planned)]
            ['compaction']
        """
        if instant is not None and is_pending_build(self.storage, instant):
            self._indexing.cancel(instant, dry_run=dry_run)
            return (RollbackPlan(InstantInfo(instant, Action.INDEXING.value), ()),)
        if instant is not None and (damaged := self._damaged_plan(instant)) is not None:
            return (self._roll_back_without_plan(damaged, dry_run=dry_run),)
        if instant is not None and (service := service_of(self.storage, self._today, instant)) is not None:
            runner = service_runner(self.storage, self.clock, self.ids, resolve({}))
            return (cancel(service, runner, instant, dry_run=dry_run),)
        if instant is not None and is_completed_commit(self.storage, instant):
            return (roll_back_completed(self.storage, self.clock, self.ids, instant, dry_run=dry_run, wait_s=self.wait_s),)
        with locked_table(self.storage, self.wait_s, self.clock, self.ids) as table:
            failed = failed_writes(table)
            if instant is not None and instant not in {one.requested for one in failed}:
                raise UsageError(f"{instant} is no failed write of table {self.storage.uri}; look at table.history().")
            if instant is not None:
                failed = tuple(one for one in failed if one.requested == instant)
            plans = tuple(plan_rollback(table, one) for one in failed)
            if not dry_run:
                roll_back_failed_writes(table, None if instant is None else {instant})
            return plans

    def revert(self, instant: str, *, dry_run: bool = False) -> tuple[str, ...]:
        """Revert what a run of a compaction, log compaction or clustering left that died; its plan stays, to be run again.

        Args:
            instant: the requested time of the pending service.
            dry_run: only return the files.

        Returns:
            The paths of the files that the run wrote and that are deleted.

        Raises:
            UsageError: no such service is pending.
            ConflictError: another process is running it.

        Example:
            >>> table.services.revert(table.services.compact(mode="schedule")[0].instant)
            ()
        """
        service = service_of(self.storage, self._today, instant)
        if service is None:
            raise UsageError(
                f"there is no pending compaction or clustering {instant} of table {self.storage.uri}; look at table.history()."
            )
        return revert(service, service_runner(self.storage, self.clock, self.ids, resolve({})), instant, dry_run=dry_run)

    @progress_bar("rollback")
    def cleanup_stale(self, minutes: int = 180, *, include_writes: bool = False, dry_run: bool = False) -> tuple[StaleInstant, ...]:
        """Revert runs of services, and writes, that have been inflight for long: their processes are dead.

        Services are reverted to their plans (`revert`), writes are rolled back (`rollback`). What another process is running stays.

        Args:
            minutes: how old an inflight action must be at least; 0 is any age.
            include_writes: whether commits and deltacommits are rolled back too; their rows were never visible.
            dry_run: only return what would be reverted.

        Returns:
            One result for each action, the oldest first, with the reason when it could not be reverted.

        Raises:
            UsageError: the age is below 0.

        Example:
            >>> table.services.cleanup_stale()
            ()
        """
        if minutes < 0:
            raise UsageError(f"cleanup_stale(minutes={minutes}): an age in minutes is 0 or more")
        before = time_before(self.clock.now(), seconds=minutes * 60) if minutes else None  # instants may be ahead of the clock
        stale = stale_instants(self.storage, before, include_writes=include_writes)
        return tuple(StaleInstant(one.requested, one.action.value, None) if dry_run else self._revert_stale(one.requested) for one in stale)

    def _damaged_plan(self, instant: str) -> Instant | None:
        config = TableConfig(load_properties(self.storage))
        return find_damaged_plan(self.storage, config, load_timeline(self.storage, config), instant)

    def _roll_back_without_plan(self, instant: Instant, *, dry_run: bool) -> RollbackPlan:
        """Roll back a compaction or clustering whose plan is damaged, while no other process runs one."""
        service: Service[Any] = clustering(resolve({}))
        if instant.action in (Action.COMPACTION, Action.LOG_COMPACTION):
            service = compaction(self._today, resolve({}))
        runner = service_runner(self.storage, self.clock, self.ids, resolve({}))
        with exclusive(service, runner) as exclusion, runner.locked() as table:
            exclusion.check()
            return roll_back_without_plan(table, instant.requested, dry_run=dry_run)

    def _revert_stale(self, requested: str) -> StaleInstant:
        service = service_of(self.storage, self._today, requested)
        action = "commit" if service is None else service.name
        try:
            if service is None:
                self.rollback(requested)
            else:
                self.revert(requested)
        except HudiError as error:
            return StaleInstant(requested, action, rolled_back=False, problem=str(error))
        return StaleInstant(requested, action, rolled_back=True)

    @property
    def _today(self) -> date:
        return self.clock.now().date()

    @property
    def _indexing(self) -> Indexing:
        return Indexing(self.storage, self.clock, self.ids, self.wait_s)
