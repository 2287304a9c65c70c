"""The rewriting of file groups, sorted or joined: clustering of any table that is not laid out by buckets.

Rules: `SparkExecuteClusteringCommitActionExecutor`, `MultipleSparkJobExecutionStrategy`. Each run writes new file groups; the commit
replaces those of the plan in one step.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pyhudi.errors import ConflictError
from pyhudi.fsview.checked_logs import with_checksums
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.log_file.rollback_blocks import instants_in
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.join_files import run_join_task
from pyhudi.kernels.tasks.rewrite_task import RewriteTask, run_rewrite_task
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.service.clustering.clustering_result import ClusteringResult, completed, planned_rewrite
from pyhudi.service.clustering.clustering_settings import ClusteringSettings
from pyhudi.service.clustering.pending_clustering_plans import load_rewrite_plan, pending_clusterings, request_clustering
from pyhudi.service.clustering.plan_rewrite import check_sort_columns, plan_rewrite
from pyhudi.service.clustering.rewrite_plan import RewriteGroup, RewritePlan
from pyhudi.service.clustering.rewrite_settings import STREAM_COPY
from pyhudi.service.rewrite_commit import check_inflight, commit_rewrite, paths_of
from pyhudi.service.rollback.rollback_service_run import delete_run, is_untouched
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.table_service import TableService
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.conflicts.pending_ingestion import check_ingestion
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import marked_files
from pyhudi.write.input.prepare_rows import TableSchema, record_context


@dataclass(frozen=True, slots=True)
class StartedRewrite:
    """A rewriting that is inflight, and its tasks, one for each group of the plan."""

    instant: Instant
    plan: RewritePlan
    context: RecordContext
    tasks: tuple[RewriteTask, ...]


@dataclass(frozen=True, slots=True)
class GroupRewriting(TableService[RewritePlan, StartedRewrite, list[TaskResult], ClusteringResult]):
    """The rewriting of the file groups of a table."""

    settings: ClusteringSettings

    name: ClassVar[str] = "clustering"

    def pending(self, storage: Storage, config: TableConfig, timeline: Timeline) -> tuple[Instant, ...]:
        """Return the pending clusterings of any kind."""
        return pending_clusterings(storage, config, timeline)

    def plan(self, table: LockedTable) -> RewritePlan | None:
        """Return what is to be rewritten now; see `plan_rewrite`."""
        schema = table_schema(table.storage, table.config, table.timeline).columns
        return plan_rewrite(table, schema, self.settings.rewrite, self.settings.default_base_bytes)

    def request(self, table: LockedTable, plan: RewritePlan) -> Instant:
        """Put the plan on the timeline."""
        return request_clustering(table, plan.content)

    def load_plan(self, table: LockedTable, instant: Instant) -> RewritePlan:
        """Return the plan of a pending clustering.

        Raises:
            CorruptTableError: it is damaged, or leads out of the table.
            UnsupportedError: it has slices that this release does not rewrite.
        """
        return load_rewrite_plan(table, instant)

    def start(self, table: LockedTable, instant: Instant, plan: RewritePlan, runner: ServiceRunner) -> StartedRewrite:
        """Roll back what an earlier run left, check that the slices of the plan are the newest, and put the rewriting inflight.

        Raises:
            ConflictError: the earlier run is alive, or a slice was changed since.
            OptionError: a sort column of the plan does not exist.
        """
        requested = _rollback(table, instant, plan)
        slices = _current_slices(table, instant, plan.groups)
        stored = table_schema(table.storage, table.config, table.timeline)
        check_sort_columns(plan.sort_columns, stored.columns, table.config)
        context = record_context(TableSchema(stored.columns, stored.avro_json), table.config)
        tasks = tuple(self._task(table, instant, plan, number, slices[number], runner) for number in range(len(plan.groups)))
        return StartedRewrite(table.writer.start(requested), plan, context, tasks)

    def _task(
        self, table: LockedTable, instant: Instant, plan: RewritePlan, number: int, slices: Sequence[FileSlice], runner: ServiceRunner
    ) -> RewriteTask:
        checked = (with_checksums(table.storage, table.config, table.timeline, file_slice) for file_slice in slices)
        settings, group = self.settings.rewrite, plan.groups[number]
        return RewriteTask(
            instant.requested,
            group.partition_path,
            tuple(SliceTask(file_slice, table.timeline.visibility, table.config.layout) for file_slice in checked),
            table.ids.file_prefix(),
            group.outputs,
            settings.target_bytes,
            _columns_in_files(plan.sort_columns, table.config),
            plan.layout or settings.layout,
            f"{number}-0-0",
            runner.merge_bytes,
            settings.order_bytes,
        )

    def run_tasks(self, runner: ServiceRunner, work: StartedRewrite) -> list[TaskResult]:
        """Write the new files of each group of the plan."""
        strategy = work.plan.content.strategy
        is_copy = strategy is not None and strategy.class_name == STREAM_COPY and not work.plan.sort_columns
        function = functools.partial(run_join_task if is_copy else run_rewrite_task, runner.storage, work.context, runner.writer)
        return [result for results in runner.run(function, work.tasks) for result in results]

    def complete(self, table: LockedTable, work: StartedRewrite, outcome: list[TaskResult], engine: str) -> ClusteringResult:
        """Replace the groups of the plan by the new ones.

        Raises:
            ConflictError: a slice was changed while the tasks ran, or is being changed by a write that is preferred; nothing is visible.
        """
        check_inflight(table, work.instant)
        check_ingestion(table, work.instant, {id_ for group in work.plan.groups for id_ in group.files}, self.settings.ingestion)
        _current_slices(table, work.instant, work.plan.groups)
        replaced = _replaced(work.plan.groups)
        rolling = self.settings.rolling
        done = commit_rewrite(
            table, work.instant, outcome, work.context, engine, operation=Operation.CLUSTER, replaced=replaced, rolling=rolling
        )
        return completed(planned_rewrite(work.plan, done), done, outcome, engine)

    def planned_result(self, plan: RewritePlan, instant: Instant | None) -> ClusteringResult:
        """Return the result of a plan."""
        return planned_rewrite(plan, instant)

    def rollback_run(self, table: LockedTable, instant: Instant, plan: RewritePlan) -> None:
        """Delete what a dead run of the plan wrote."""
        _rollback(table, instant, plan)

    def written_files(self, table: LockedTable, instant: Instant, plan: RewritePlan) -> tuple[str, ...]:
        """Return the paths of the files that runs of a plan left."""
        return _written_files(table, instant, plan)

    def written_by(self, outcome: list[TaskResult]) -> frozenset[str]:
        """Return the paths of the files that tasks wrote."""
        return paths_of(outcome)

    def cancel(self, table: LockedTable, instant: Instant, plan: RewritePlan) -> None:
        """Take the plan off the timeline with what its runs wrote."""
        check_notes(table.storage, table.config, table.timeline)
        table.writer.remove(_rollback(table, instant, plan))


def _columns_in_files(columns: Sequence[str], config: TableConfig) -> tuple[str, ...]:
    """Return the columns to sort by that files hold: the rows of a partition share the value of one that is only in its path."""
    dropped = config.partition_fields if config.drop_partition_columns else ()
    return tuple(name for name in columns if name not in dropped)


def _rollback(table: LockedTable, instant: Instant, plan: RewritePlan) -> Instant:
    if is_untouched(table, instant):
        return Instant(instant.requested, instant.action, State.REQUESTED)
    return delete_run(table, instant, _partitions(plan), _written_files(table, instant, plan))


def _written_files(table: LockedTable, instant: Instant, plan: RewritePlan) -> tuple[str, ...]:
    """Return the base files of the instant: those that markers name, and what else lies in the partitions of the plan."""
    paths = set(marked_files(table.storage, instant.requested) or ())
    for partition in _partitions(plan):
        paths.update(status.path for status in table.storage.list(partition))
    names = ((path, parse_base_file_name(path.rpartition("/")[2])) for path in paths)
    return tuple(sorted(path for path, name in names if name and name.instant == instant.requested))


def _partitions(plan: RewritePlan) -> list[str]:
    return sorted({group.partition_path for group in plan.groups})


def _current_slices(table: LockedTable, instant: Instant, groups: Sequence[RewriteGroup]) -> list[list[FileSlice]]:
    """Return the newest slices of the groups, which must be those of the plan."""
    view = FileSystemView(table.storage, table.config, table.timeline)
    latest = {path: {one.group: one for one in view.latest_slices(path)} for path in {group.partition_path for group in groups}}
    slices: list[list[FileSlice]] = []
    for group in groups:
        slices.append([])
        for id_, names in group.files.items():
            file_slice = latest[group.partition_path].get(id_)
            if file_slice is None or _names(file_slice) - _names_of_nobody(table, file_slice, names) != names:
                raise ConflictError(
                    f"{id_} of table {table.storage.uri} is not what it was when it was planned: a writer has changed or replaced it, and"
                    f" {instant.action} {instant.requested} cannot be run. Nothing of it is visible. Roll it back, then cluster again:"
                    f" HudiTable.open('{table.storage.uri}').services.rollback('{instant.requested}')."
                )
            slices[-1].append(file_slice)
    return slices


def _names(file_slice: FileSlice) -> frozenset[str]:
    base = () if file_slice.base is None else (str(file_slice.base.name),)
    return frozenset((*base, *(str(log.name) for log in file_slice.logs)))


def _names_of_nobody(table: LockedTable, file_slice: FileSlice, planned: Collection[str]) -> frozenset[str]:
    """Return the names of log files of version 6 that came after the plan and hold blocks of no completed write: what a writer that lost
    left, with the block that rolls it back.
    """
    if table.config.layout > 1:
        return frozenset()
    new = (log for log in file_slice.logs if str(log.name) not in planned)
    written = ((str(log.name), instants_in(table.storage, log.path, log.size)) for log in new)
    return frozenset(name for name, instants in written if not any(one is not None and _is_of_write(table, one) for one in instants))


def _is_of_write(table: LockedTable, requested: str) -> bool:
    """Tell whether an instant is that of a completed write, which may be archived, and not that of a rollback."""
    is_rollback = any(one.action is Action.ROLLBACK for one in table.timeline.find(requested))
    return not is_rollback and table.timeline.is_committed(requested)


def _replaced(groups: Sequence[RewriteGroup]) -> Mapping[str, tuple[str, ...]]:
    ids: dict[str, list[str]] = defaultdict(list)
    for group in groups:
        ids[group.partition_path] += [id_.file_id for id_ in group.files]
    return {path: tuple(names) for path, names in ids.items()}
