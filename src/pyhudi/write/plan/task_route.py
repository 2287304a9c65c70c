"""Brings tagged rows to the tasks of a plan, in this process. Rows are cut and joined, not copied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.index.rows import TaggedRows, join_rows
from pyhudi.kernels.arrays.byte_size import byte_size
from pyhudi.kernels.tasks.run_task import GroupTask
from pyhudi.kernels.tasks.write_task import WriteTask
from pyhudi.write.plan.write_plan import TaskAssignment, WritePlan


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """A task and the rows it writes."""

    task: GroupTask
    rows: pa.Table

    @property
    def size(self) -> int:
        """About how many bytes pass by: those of the rows, and those of a base file that is written again."""
        base = self.task.base if isinstance(self.task, WriteTask) else None
        return byte_size(self.rows) + (0 if base is None else base.size)


def load_tasks(plan: WritePlan, tagged: Iterable[TaggedRows]) -> list[LoadedTask]:
    """Return the plan's tasks with their rows; `tagged` are the rows whose profile was planned."""
    by_partition: dict[str, list[TaskAssignment]] = defaultdict(list)
    for assignment in plan.assignments:
        by_partition[assignment.task.partition_path].append(assignment)
    return [loaded for part in tagged for loaded in _load(by_partition[part.partition_path], part)]


def _load(assignments: list[TaskAssignment], part: TaggedRows) -> Iterator[LoadedTask]:
    updates = {file_slice.group.file_id: rows for file_slice, rows in part.updates}
    new_buckets = dict(part.new_buckets)
    assert (len(updates), len(new_buckets)) == (len(part.updates), len(part.new_buckets)), "each file group gets its rows at once"
    start = 0
    for assignment in assignments:
        rows = [part.inserts.slice(start, assignment.inserts)] if assignment.inserts else []
        start += assignment.inserts
        if assignment.new_buckets is not None:
            rows.insert(0, new_buckets[assignment.new_buckets])
        elif assignment.updates:
            rows.insert(0, updates[assignment.task.file_id])
        yield LoadedTask(assignment.task, join_rows(rows))
