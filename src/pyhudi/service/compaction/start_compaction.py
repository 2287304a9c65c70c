"""From a plan on the timeline to tasks: the first part of a run, under the table's lock."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.compact_task import CompactTask, run_compact_task
from pyhudi.kernels.tasks.log_compact_task import LogCompactTask, run_log_compact_task
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.service.compaction.compaction_rollback import rollback_run
from pyhudi.service.compaction.revalidate_slices import planned_slices
from pyhudi.spec.actions.compaction import CompactionPlan
from pyhudi.spec.files.file_group import FileGroupId, FileSlice
from pyhudi.spec.files.file_names import LogFileName, next_log_name
from pyhudi.spec.instant import Action, Instant
from pyhudi.storage.storage_protocol import Storage
from pyhudi.txn.locked_table import LockedTable
from pyhudi.write.input.prepare_rows import TableSchema, record_context

_log = logging.getLogger(__name__)

Task = CompactTask | LogCompactTask
#: MarkLive in the write tokens of log compactions of version 6.
_STAGE = 999_999


@dataclass(frozen=True, slots=True)
class StartedCompaction:
    """A compaction that is inflight: its tasks, and the groups that it leaves alone, with the reason."""

    instant: Instant
    plan: CompactionPlan
    context: RecordContext
    tasks: tuple[Task, ...]
    declined: Mapping[FileGroupId, str]
    #: What others had on the timeline then.
    concurrent_instants: frozenset[Instant]


def concurrent_instants(table: LockedTable, instant: Instant) -> frozenset[Instant]:
    """Return what others have on the timeline: while that is the same, so are the files of a plan."""
    return frozenset(one for one in table.timeline.instants if one.requested != instant.requested)


def start(table: LockedTable, instant: Instant, plan: CompactionPlan, merge_bytes: int) -> StartedCompaction:
    """Roll back what an earlier run left, hold the plan against the files, and put the compaction inflight.

    Raises:
        ConflictError: the earlier run is alive.
        CorruptTableError: a file of the plan is not there.
    """
    requested = rollback_run(table, instant, plan)
    planned = planned_slices(table, instant, plan)
    for group, reason in planned.declined.items():
        _log.warning("%s %s leaves %s alone: %s", instant.action, instant.requested, group, reason)
    stored = table_schema(table.storage, table.config, table.timeline)
    context = record_context(TableSchema(stored.columns, stored.avro_json), table.config)
    tasks = tuple(_task(table, instant, file_slice, number, merge_bytes) for number, file_slice in enumerate(planned.slices))
    concurrent = concurrent_instants(table, instant)
    return StartedCompaction(table.writer.start(requested), plan, context, tasks, planned.declined, concurrent)


def run_task(storage: Storage, context: RecordContext, settings: WriterSettings, task: Task) -> list[TaskResult]:
    """Run one task of a compaction or log compaction."""
    if isinstance(task, CompactTask):
        return [run_compact_task(storage, context, settings, task)]
    return run_log_compact_task(storage, context, settings, task)


def _task(table: LockedTable, instant: Instant, file_slice: FileSlice, number: int, merge_bytes: int) -> Task:
    merge = SliceTask(file_slice, table.timeline.visibility, table.config.layout)
    token = f"{number}-0-0"
    if instant.action is Action.COMPACTION:
        return CompactTask(instant.requested, merge, token, merge_bytes)
    file_id = file_slice.group.file_id
    if table.config.layout > 1:
        return LogCompactTask(instant.requested, merge, LogFileName(file_id, instant.requested, 1, token))
    # A writer that comes meanwhile takes the same version; the token, which is no writer's, keeps the names apart.
    name = next_log_name(file_id, file_slice.base_instant, (log.name for log in file_slice.logs), f"{number}-{_STAGE}-0")
    return LogCompactTask(instant.requested, merge, name)
