"""What a write says when it is done."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.notebook_html import ShownResult
from pyhudi.txn.transaction import Committed
from pyhudi.write.plan.write_plan import WritePlan
from pyhudi.write.tagging.tag import TagOptions


@dataclass(frozen=True, slots=True)
class Counts:
    """Records by what became of them, and what was written for it; `late_dropped` is None when that is not known yet."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    late_dropped: int | None = 0
    files_written: int = 0
    bytes_written: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class WriteResult(ShownResult):
    """What a write did.

    `instant` and `completed` are instant times, None when there was nothing to commit. `late_dropped` rows came later than
    what is stored (a smaller ordering value); None when ordered rows went to log files, of which only whoever merges them can tell.
    `bytes_written` are those of base and log files. `index` is the kind of index that found the records, None when none was asked,
    and `index_reason` says why it was that one. `new_columns` are those that the write added to the table,
    `widened_columns` those that it gave a wider type; fields of structs by dotted names. `failed_services` says what failed after the
    commit, which is visible all the same: table services, the commit callback, the synchronisation with catalogs.
    """

    instant: str | None
    completed: str | None
    operation: Operation
    inserted: int
    updated: int
    deleted: int
    late_dropped: int | None
    files_written: int
    bytes_written: int
    engine: str
    engine_reason: str
    index: str | None
    seconds: float
    index_reason: str = ""
    new_columns: tuple[str, ...] = ()
    widened_columns: tuple[str, ...] = ()
    failed_services: tuple[str, ...] = ()

    def __str__(self) -> str:
        name = self.operation.value.lower()
        if self.instant is None:
            return f"{name}: nothing to do, nothing committed ({self.seconds:.3f} s)"
        counts = [f"{count} {word}" for count, word in self._sum_counts() if count] or ["no rows"]
        files = f"{self.files_written} file{'' if self.files_written == 1 else 's'}"
        added = f"; new columns: {', '.join(self.new_columns)}" if self.new_columns else ""
        widened = f"; widened columns: {', '.join(self.widened_columns)}" if self.widened_columns else ""
        failed = "".join(f"; {failure}" for failure in self.failed_services)
        written = f"{files}, {_size(self.bytes_written)}, {self.seconds:.3f} s ({self.engine})"
        return f"{name} {self.instant}: {', '.join(counts)}; {written}{added}{widened}{failed}"

    def to_dict(self) -> dict[str, str | int | float | list[str] | None]:
        """Return the fields as values that JSON knows; `ignored` is the former name of `late_dropped`, there for one release."""
        fields = dataclasses.asdict(self)
        lists = {name: list(fields[name]) for name in ("new_columns", "widened_columns", "failed_services")}
        return {**fields, "ignored": self.late_dropped, "operation": self.operation.value, **lists}

    @property
    def ignored(self) -> int | None:
        """Former name of `late_dropped`, for one release."""
        warnings.warn("WriteResult.ignored is now WriteResult.late_dropped", DeprecationWarning, stacklevel=2)
        return self.late_dropped

    def _sum_counts(self) -> list[tuple[int | None, str]]:
        return [(self.inserted, "inserted"), (self.updated, "updated"), (self.deleted, "deleted"), (self.late_dropped, "ignored as late")]


def count_results(results: Sequence[TaskResult], late: int = 0) -> Counts:
    """Add up what tasks did; `late` rows were left out before they came to a task."""
    stats = [result.stat for result in results]
    late_rows = [result.late_dropped for result in results if result.late_dropped is not None]
    return Counts(
        inserted=sum(stat.num_inserts for stat in stats),
        updated=sum(stat.num_update_writes for stat in stats),
        deleted=sum(stat.num_deletes for stat in stats),
        late_dropped=sum(late_rows) + late if len(late_rows) == len(results) else None,
        files_written=len(stats),
        bytes_written=sum(stat.total_write_bytes for stat in stats),
    )


def write_result(committed: Committed | None, plan: WritePlan, counts: Counts, tagging: TagOptions, seconds: float) -> WriteResult:
    """Return the result of a planned write; `committed` is None when there was nothing to commit, `tagging` how records were found."""
    instant = None if committed is None else committed.instant
    return WriteResult(
        instant=None if instant is None else instant.requested,
        completed=None if instant is None else instant.completed,
        operation=plan.operation,
        engine=plan.engine,
        engine_reason=plan.reason,
        index=tagging.index.name if tagging.looks_up else None,
        seconds=seconds,
        index_reason=tagging.resolved.reason if tagging.looks_up else "",
        **dataclasses.asdict(counts),
    )


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} GB"
