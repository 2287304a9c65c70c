"""What a compaction reports when it is planned or done."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.service.compaction.start_compaction import StartedCompaction
from pyhudi.service.table_service import COMPLETED, PLANNED, REQUESTED, ServiceResult
from pyhudi.spec.actions.compaction import TOTAL_LOG_FILES_SIZE, CompactionPlan
from pyhudi.spec.instant import Action, Instant


@dataclass(frozen=True, slots=True, repr=False)
class CompactionResult(ServiceResult):
    """One compaction or log compaction; further fields as in `ServiceResult`.

    `slices` are those of the plan, with `log_files` of `log_bytes` bytes; `declined` of them were left alone because others had replaced
    them.
    """

    action: str
    slices: int
    declined: int = 0
    log_files: int = 0
    log_bytes: int = 0
    updated: int = 0
    inserted: int = 0
    deleted: int = 0

    def __str__(self) -> str:
        declined = f", {self.declined} declined" if self.declined and self.state == COMPLETED else ""
        return self.describe(self.action, f"{self.slices} slices, {self.log_files} log files of {self.log_bytes} bytes{declined}")


def planned_result(action: Action, plan: CompactionPlan, instant: Instant | None) -> CompactionResult:
    """Return the result of a plan; `instant` is None when it is not on the timeline."""
    operations = plan.operations or ()
    return CompactionResult(
        instant=None if instant is None else instant.requested,
        completed=None,
        action=action.value,
        state=PLANNED if instant is None else REQUESTED,
        slices=len(operations),
        log_files=sum(len(one.delta_files or ()) for one in operations),
        log_bytes=sum(int(one.metric(TOTAL_LOG_FILES_SIZE)) for one in operations),
    )


def completed_result(work: StartedCompaction, done: Instant, retained: Sequence[TaskResult], engine: str) -> CompactionResult:
    """Return the result of a compaction that is visible; `retained` are the results that are in it."""
    stats = [result.stat for result in retained]
    return dataclasses.replace(
        planned_result(work.instant.action, work.plan, work.instant),
        completed=done.completed,
        state=COMPLETED,
        declined=len(work.plan.operations or ()) - len({(stat.partition_path, stat.file_id) for stat in stats}),
        rows=sum(stat.num_writes for stat in stats),
        updated=sum(stat.num_update_writes for stat in stats),
        inserted=sum(stat.num_inserts for stat in stats),
        deleted=sum(stat.num_deletes for stat in stats),
        files_written=len(stats),
        bytes_written=sum(stat.total_write_bytes for stat in stats),
        engine=engine,
    )
