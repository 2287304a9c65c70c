"""Restoring a table to an earlier commit, and rolling back its latest one, on request of a script, the command line or SQL."""

from __future__ import annotations

import contextlib
from typing import Final

from pyhudi.errors import ConflictError, UsageError
from pyhudi.locks.exclusive_service import exclusive_service
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service.clustering.clustering_service import Clustering
from pyhudi.service.compaction.compaction_service import Compaction
from pyhudi.service.indexes.run_index_build import LOCK as INDEXING_LOCK
from pyhudi.service.restore import RestoreResult, execute_restore, pending_restore, plan_restore, planned_result, roll_back_commit
from pyhudi.service.restore.execute_restore import plans_of
from pyhudi.spec.actions.rollback import RollbackPlan
from pyhudi.spec.arguments import check_instant
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import Clock
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import locked_table

#: The locks of the services that a restore excludes, with what their holders are doing.
_SERVICES: Final = (
    *((lock.name, lock.doing) for lock in (Compaction.lock, Clustering.lock) if lock is not None),
    (INDEXING_LOCK, "building indexes of"),
)


def restore(storage: Storage, clock: Clock, ids: Ids, target: str | None, *, dry_run: bool, wait_s: float) -> RestoreResult:
    """Restore a table, or continue with a restore that was cut off; see `Services.restore` for errors."""
    check_instant(target, "to")
    with contextlib.ExitStack() as resources:
        services = () if dry_run else _SERVICES  # they run without the table's lock, and would write what is rolled back
        excluded = [resources.enter_context(exclusive_service(storage, name, doing)) for name, doing in services]
        table = resources.enter_context(locked_table(storage, wait_s, clock, ids, restores=True))
        for one in excluded:
            one.check()
        check_notes(table.storage, table.config, table.timeline)
        pending = pending_restore(table)
        if pending is not None:
            begun, plan = pending
            if target not in (None, plan.savepoint):
                raise ConflictError(
                    f"table {storage.uri} cannot be restored to {target}: restore {begun.requested} to {plan.savepoint} was begun and must"
                    " come to its end first, table.services.restore()"
                )
            if dry_run:
                return planned_result(storage, "planned", plan.savepoint or "", plans_of(table, plan).values())
            return execute_restore(table, plan, begun)
        if target is None:
            raise UsageError(f"no restore of table {storage.uri} is pending: say to which commit, restore(to='...')")
        plan = plan_restore(table, target)
        if dry_run or not plan.instants:
            state = "planned" if plan.instants else "nothing to do"
            return planned_result(storage, state, target, plans_of(table, plan).values())
        return execute_restore(table, plan)


def is_completed_commit(storage: Storage, instant: str) -> bool:
    """Tell whether a requested time is that of a completed commit, deltacommit or replacecommit of the active timeline."""
    config = TableConfig(load_properties(storage))
    return _completed(load_timeline(storage, config).find(instant)) is not None


def roll_back_completed(storage: Storage, clock: Clock, ids: Ids, instant: str, *, dry_run: bool, wait_s: float) -> RollbackPlan:
    """Roll back the latest completed commit; see `Services.rollback` for errors."""
    with locked_table(storage, wait_s, clock, ids) as table:
        check_notes(table.storage, table.config, table.timeline)
        commit = _completed(table.timeline.find(instant))
        if commit is None:
            raise UsageError(f"{instant} is no completed commit of table {storage.uri} any more; look at table.history()")
        return roll_back_commit(table, commit, dry_run=dry_run)


def _completed(matches: tuple[Instant, ...]) -> Instant | None:
    return next((one for one in matches if one.is_completed and one.action.writes_data), None)
