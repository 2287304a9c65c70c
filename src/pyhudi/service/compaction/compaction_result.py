"""What a compaction says when it is planned or done."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.service.compaction.start_compaction import StartedCompaction
from pyhudi.spec.actions.compaction import TOTAL_LOG_FILES_SIZE, CompactionPlan
from pyhudi.spec.instant import Action, Instant

PLANNED = "planned"
REQUESTED = "requested"
COMPLETED = "completed"


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """One compaction or log compaction.

    `state` is `planned` (dry run, nothing on the timeline), `requested` or `completed`. `slices` are those of the plan, `declined` of them
    were left alone because others had replaced them. Rows count what stands in the new files, sizes are bytes.
    """

    instant: str | None
    completed: str | None
    action: str
    state: str
    slices: int
    declined: int = 0
    log_files: int = 0
    log_bytes: int = 0
    rows: int = 0
    updated: int = 0
    inserted: int = 0
    deleted: int = 0
    files_written: int = 0
    bytes_written: int = 0
    engine: str | None = None
    seconds: float = 0.0

    def __str__(self) -> str:
        head = f"{self.action} {self.instant or ''} {self.state}".replace("  ", " ")
        logs = f"{self.slices} slices, {self.log_files} log files of {self.log_bytes} bytes"
        if self.state != COMPLETED:
            return f"{head}: {logs}"
        declined = f", {self.declined} declined" if self.declined else ""
        return f"{head}: {logs}{declined}; {self.rows} rows in {self.files_written} files, {self.bytes_written} bytes, {self.seconds:.3f} s"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as values that JSON knows."""
        return dataclasses.asdict(self)


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


def completed_result(
    work: StartedCompaction, done: Instant, retained: Sequence[TaskResult], engine: str, seconds: float
) -> CompactionResult:
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
        seconds=seconds,
    )
