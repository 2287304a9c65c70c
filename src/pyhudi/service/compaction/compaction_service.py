"""Compaction and log compaction as table services.

Rules: `ScheduleCompactionActionExecutor`, `RunCompactionActionExecutor`. From the plan on, new log files of the planned groups
belong to the next slice (`fsview`), so writers continue while it runs.
"""

from __future__ import annotations

import dataclasses
import functools
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from pyhudi.codec.actions.plan_codec import encode_compaction_plan
from pyhudi.errors import UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.fsview.pending_plans import read_plan
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.service.compaction.compaction_plan import plan_compaction, plan_log_compaction
from pyhudi.service.compaction.compaction_result import CompactionResult, completed_result, planned_result
from pyhudi.service.compaction.compaction_rollback import cancel, rollback_run, written_files
from pyhudi.service.compaction.compaction_settings import CompactionSettings
from pyhudi.service.compaction.pending_compactions import COMPACTIONS, busy_groups, pending_compactions
from pyhudi.service.compaction.revalidate_slices import planned_slices
from pyhudi.service.compaction.start_compaction import StartedCompaction, concurrent_instants, run_task, start
from pyhudi.service.plan_sources import with_compaction_sources
from pyhudi.service.rewrite_commit import check_inflight, commit_rewrite, paths_of
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.table_service import ServiceLock, TableService, find_instant
from pyhudi.spec.actions.commit import Operation, WriteStat
from pyhudi.spec.actions.compaction import CompactionPlan
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import time_of_service

_log = logging.getLogger(__name__)

Planner = Callable[[FileSystemView, CompactionSettings, Collection[FileGroupId]], CompactionPlan]
_PLANNERS: Final[Mapping[Action, Planner]] = {Action.COMPACTION: plan_compaction, Action.LOG_COMPACTION: plan_log_compaction}
_OPERATIONS: Final = {Action.COMPACTION: Operation.COMPACT, Action.LOG_COMPACTION: Operation.LOG_COMPACT}


@dataclass(frozen=True, slots=True)
class Compaction(TableService[CompactionPlan, StartedCompaction, list[TaskResult], CompactionResult]):
    """Compaction, or log compaction, of a merge-on-read table."""

    settings: CompactionSettings
    action: Action = Action.COMPACTION

    name: ClassVar[str] = "compaction"
    lock: ClassVar[ServiceLock | None] = ServiceLock("compaction", "compacting")

    def pending(self, storage: Storage, config: TableConfig, timeline: Timeline) -> tuple[Instant, ...]:  # noqa: ARG002 - no plan is read
        """Return the pending instants of the action."""
        return pending_compactions(timeline, self.action)

    def find(self, table: LockedTable, requested: str) -> Instant:
        """Return the pending compaction or log compaction of a requested time; either is run, whichever this one plans."""
        return find_instant(table, requested, self.name, lambda one: one.action in COMPACTIONS)

    def earlier_services(self) -> tuple[Compaction, ...]:
        """Before a compaction is planned, pending log compactions run too: their groups could not be in its plan."""
        return (self,) if self.action is Action.LOG_COMPACTION else (dataclasses.replace(self, action=Action.LOG_COMPACTION), self)

    def plan(self, table: LockedTable) -> CompactionPlan | None:
        """Return what is to be compacted now.

        Raises:
            UsageError: the table is copy-on-write.
            OptionError: a strategy goes by days and a partition is named for none.
        """
        if not table.config.is_merge_on_read:
            raise UsageError(f"table {table.storage.uri} is copy-on-write: it has no log files to compact.")
        view = open_view(table.storage, table.config, table.timeline)
        plan = _PLANNERS[self.action](view, self.settings, busy_groups(table))
        return plan if plan.operations else None

    def request(self, table: LockedTable, plan: CompactionPlan) -> Instant:
        """Put the plan on the timeline."""
        return table.writer.request(
            self.action,
            time_of_service(table),
            encode_compaction_plan(with_compaction_sources(table.storage, plan), sync=table.ids.sync_marker()),
        )

    def load_plan(self, table: LockedTable, instant: Instant) -> CompactionPlan:
        """Return the plan of a pending compaction; see `read_plan`."""
        return read_plan(table.storage, table.config, instant)

    def start(self, table: LockedTable, instant: Instant, plan: CompactionPlan, runner: ServiceRunner) -> StartedCompaction:
        """Start the compaction; see `pyhudi.service.compaction.start_compaction.start`."""
        return start(table, instant, plan, runner.merge_bytes)

    def run_tasks(self, runner: ServiceRunner, work: StartedCompaction) -> list[TaskResult]:
        """Merge each slice of the plan."""
        function = functools.partial(run_task, runner.storage, work.context, runner.writer)
        return [result for results in runner.run(function, work.tasks) for result in results]

    def complete(self, table: LockedTable, work: StartedCompaction, outcome: list[TaskResult], engine: str) -> CompactionResult:
        """Complete the compaction.

        Groups that others replaced while the tasks ran are left out, and their new files deleted: what others did stays.
        """
        check_inflight(table, work.instant)
        retained = _retained(table, work, outcome)
        operation = _OPERATIONS[work.instant.action]
        done = commit_rewrite(
            table, work.instant, retained, work.context, engine, operation=operation, compacted=True, rolling=self.settings.rolling
        )
        return completed_result(work, done, retained, engine)

    def planned_result(self, plan: CompactionPlan, instant: Instant | None) -> CompactionResult:
        """Return the result of a plan."""
        return planned_result(self.action if instant is None else instant.action, plan, instant)

    def rollback_run(self, table: LockedTable, instant: Instant, plan: CompactionPlan) -> None:
        """Delete what a dead run of the plan wrote."""
        rollback_run(table, instant, plan)

    def written_files(self, table: LockedTable, instant: Instant, plan: CompactionPlan) -> tuple[str, ...]:
        """Return the paths of the files that runs of a plan left."""
        return written_files(table, instant, plan)

    def written_by(self, outcome: list[TaskResult]) -> frozenset[str]:
        """Return the paths of the files that tasks wrote."""
        return paths_of(outcome)

    def cancel(self, table: LockedTable, instant: Instant, plan: CompactionPlan) -> None:
        """Take the plan off the timeline; see `pyhudi.service.compaction.compaction_rollback.cancel`."""
        cancel(table, instant, plan)


def _retained(table: LockedTable, work: StartedCompaction, results: Sequence[TaskResult]) -> list[TaskResult]:
    instant = work.instant
    is_alone = concurrent_instants(table, instant) == work.concurrent_instants
    declined = work.declined if is_alone else planned_slices(table, instant, work.plan).declined
    for group in declined.keys() - work.declined.keys():
        _log.warning("%s %s leaves %s out: %s", instant.action, instant.requested, group, declined[group])
    return [result for result in results if _group(result.stat) not in declined]


def _group(stat: WriteStat) -> FileGroupId:
    return FileGroupId(stat.partition_path or "", stat.file_id or "")
