"""Rolling back the latest completed commit of a table.

Rules: `BaseHoodieWriteClient.rollback`, `BaseRollbackActionExecutor.validateRollbackCommitSequence`.
"""

from __future__ import annotations

from pyhudi.codec.actions.rollback_codec import encode_rollback_plan
from pyhudi.errors import UsageError
from pyhudi.service.rollback.completed_commits import check_last, plan_commit_rollback
from pyhudi.service.rollback.execute_rollback import execute_rollback
from pyhudi.service.savepoint.cleaned_files import first_cleaned_file, view_at, writes_in_order
from pyhudi.service.savepoint.former_logs import check_logs
from pyhudi.spec.actions.rollback import RollbackPlan
from pyhudi.spec.instant import Action, Instant
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import time_of_service


def roll_back_commit(table: LockedTable, commit: Instant, *, dry_run: bool = False) -> RollbackPlan:
    """Roll back the latest completed commit, deltacommit or replacecommit, and return the plan that did.

    Raises:
        UsageError: a later one is there, it has a savepoint, a clean has deleted files of the commit before it, or that has log files that
            the table cannot have any more.
        UnsupportedError: it was written before the table was upgraded.
    """
    check_last(table, commit)
    before = [one for one in writes_in_order(table.timeline) if one != commit]
    if before:
        _check_state(table, before[-1], f"{commit.action} {commit.requested} of table {table.storage.uri} cannot be rolled back")
    plan = plan_commit_rollback(table, commit)
    if not dry_run:
        rollback = table.writer.request(Action.ROLLBACK, time_of_service(table), encode_rollback_plan(plan, sync=table.ids.sync_marker()))
        execute_rollback(table, rollback, plan)
    return plan


def _check_state(table: LockedTable, before: Instant, refused: str) -> None:
    """Refuse to go back to the commit before when its files are not all there, or are none that the table can have now."""
    view = view_at(table, before)
    if (cleaned := first_cleaned_file(table, before, view)) is not None:
        raise UsageError(f"{refused}: a clean deletes '{cleaned}', which the commit before it, {before.requested}, needs")
    check_logs(table, before, view, refused)
