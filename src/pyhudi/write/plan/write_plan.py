"""From a profile to the plan of a write: one task for each file group that gets a new base file, or log files.

Pure: the same profile, files and ids give the same plan, whichever engine carries it out. Rules: `UpsertPartitioner`,
`SparkUpsertDeltaCommitPartitioner`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.kernels.log_file.append_task import AppendTask
from pyhudi.kernels.tasks.run_task import GroupTask
from pyhudi.kernels.tasks.write_task import WriteTask
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice
from pyhudi.spec.files.file_names import LogFileName, next_log_name
from pyhudi.txn.conflicts.early_detection import ConflictDetector
from pyhudi.write.plan.insert_placement import InsertGroup, pack_inserts, spread_inserts
from pyhudi.write.plan.workload_profile import PartitionProfile, Profile

_APPENDING = frozenset({Operation.INSERT, Operation.BULK_INSERT, Operation.INSERT_OVERWRITE, Operation.INSERT_OVERWRITE_TABLE})
_PACKING = frozenset({Operation.INSERT, Operation.UPSERT, Operation.UPSERT_PREPPED, Operation.DELETE, Operation.DELETE_PREPPED})


@dataclass(frozen=True, slots=True)
class TaskAssignment:
    """One task of a write, with how many located records and how many new ones of its partition it gets.

    `new_buckets` is how the id of its file group begins where the group begins with rows that belong to no other; they count as located.
    """

    task: GroupTask
    updates: int
    inserts: int
    new_buckets: str | None = None


@dataclass(frozen=True, slots=True)
class WritePlan:
    """All tasks of a write.

    Assignments of one partition follow each other; new records of a partition go to its tasks in their order, `inserts` to
    each, which is also the weight by which an engine may spread them. `replaced` is set by operations that complete as
    a replacecommit. `layout_files` are files of the table, by path, that must be written before the data are. A stream is written as it
    comes, without assignments. `detector` is asked before each task writes, where conflicts are detected early.
    """

    operation: Operation
    assignments: tuple[TaskAssignment, ...]
    replaced: Mapping[str, tuple[str, ...]] | None
    engine: str
    reason: str
    layout_files: Mapping[str, bytes] = field(default_factory=dict)
    is_stream: bool = False
    detector: ConflictDetector | None = None

    @property
    def groups(self) -> frozenset[FileGroupId]:
        """The file groups that the tasks write to, those that begin with the write too."""
        return frozenset(group_of(assignment.task) for assignment in self.assignments)

    @property
    def changes_nothing(self) -> bool:
        """True when there is nothing to commit."""
        replaces = any((self.replaced or {}).values()) or self.operation is Operation.INSERT_OVERWRITE_TABLE
        return not self.assignments and not replaces and not self.is_stream

    @property
    def changed_groups(self) -> frozenset[FileGroupId]:
        """The file groups of the table that the tasks write to; not those that begin with the write, nor those that it replaces."""
        return frozenset(filter(None, (_changed_group(assignment.task) for assignment in self.assignments)))

    @property
    def replaced_groups(self) -> frozenset[FileGroupId]:
        """The file groups that the write replaces."""
        return frozenset(FileGroupId(path, file_id) for path, ids in (self.replaced or {}).items() for file_id in ids)


def group_of(task: GroupTask) -> FileGroupId:
    """Return the file group that a task writes to."""
    return FileGroupId(task.partition_path, task.file_id)


def _changed_group(task: GroupTask) -> FileGroupId | None:
    if isinstance(task, AppendTask):
        return None if task.begins_group else task.slice.group
    return None if task.base is None else FileGroupId(task.partition_path, task.file_id)


@dataclass(frozen=True, slots=True)
class Sizing:
    """What planning must know of the table: the base files that may take new records by partition path, the bytes of a
    record in a file, the limits, whether updates go to log files, and the columns they bring there when not all.

    `compacting` is None where log files are named by the write; in version 6 they are named by their slice, and it holds
    the instants of the slices that pending compactions have begun. `shared_ids` are the file ids of the buckets that begin with the write,
    by partition path and beginning, where other writers may begin the same ones; None where the file ids are random. `log_stage` is the
    stage in the write tokens of log files: of version 6, those of concurrent writers differ in nothing else.
    """

    files: Mapping[str, Sequence[BaseFile]]
    row_bytes: float
    settings: WriterSettings
    merge_on_read: bool = False
    columns: tuple[str, ...] | None = None
    compacting: Mapping[FileGroupId, str] | None = None
    shared_ids: Mapping[tuple[str, str], str] | None = None
    log_stage: int = 0


def plan_write(
    profile: Profile,
    operation: Operation,
    instant: str,
    sizing: Sizing,
    file_prefix: Callable[[], str],
    *,
    replaced: Mapping[str, tuple[str, ...]] | None = None,
    engine: str = "local",
    reason: str = "",
    layout_files: Mapping[str, bytes] | None = None,
) -> WritePlan:
    """Return the plan of a write.

    Args:
        profile: what the write touches.
        operation: decides whether new records are packed into small files and whether keys may repeat.
        instant: the write's requested time.
        sizing: files and limits.
        file_prefix: gives the first part of new file ids.
        replaced: file ids by partition that the write replaces.
        engine: the name of the engine that will carry the plan out.
        reason: why that engine.
        layout_files: files that must be there before the data.
    """
    numbers = itertools.count()
    ids = _file_ids(file_prefix, one_prefix=operation not in _PACKING)
    assignments = []
    for path, part in profile.partitions.items():
        for file_slice, updates, group in _groups(path, part, operation, sizing, ids.__next__):
            number = next(numbers)
            if file_slice is not None and sizing.merge_on_read and not group.count:
                name = log_name(file_slice, instant, f"{number}-{sizing.log_stage}-0", sizing)
                task: GroupTask = AppendTask(instant, file_slice, name, sizing.columns)
            else:
                base = group.base if file_slice is None else file_slice.base
                task = WriteTask(instant, path, group.file_id, f"{number}-0-0", base, append_only=operation in _APPENDING)
            assignments.append(TaskAssignment(task, updates, group.count))
        for beginning, count in part.new_buckets.items():
            task = _first_task(path, beginning, operation, instant, f"{next(numbers)}-0-0", sizing, file_prefix)
            assignments.append(TaskAssignment(task, count, 0, beginning))
    return WritePlan(operation, tuple(assignments), replaced, engine, reason, layout_files or {})


def _first_task(
    path: str, beginning: str, operation: Operation, instant: str, token: str, sizing: Sizing, file_prefix: Callable[[], str]
) -> GroupTask:
    """Return the task that begins a bucket: with a base file, or, where others may begin it at the same time, with a log file."""
    if sizing.shared_ids is None:
        return WriteTask(instant, path, _complete_buckets(beginning, file_prefix), token, append_only=operation in _APPENDING)
    file_id = sizing.shared_ids[path, beginning]
    if operation is Operation.BULK_INSERT:
        return WriteTask(instant, path, file_id, token, append_only=True)
    first_slice = FileSlice(FileGroupId(path, file_id), instant, None)
    return AppendTask(instant, first_slice, LogFileName(file_id, instant, 1, token), sizing.columns)


def _groups(
    path: str, part: PartitionProfile, operation: Operation, sizing: Sizing, new_file_id: Callable[[], str]
) -> Iterator[tuple[FileSlice | None, int, InsertGroup]]:
    """Yield the slice of each group that gets updates (None for others), their number, and the inserts that join them."""
    if operation in _PACKING:
        files = sizing.files.get(path, ())
        taking = pack_inserts(part.inserts, files, sizing.row_bytes, sizing.settings, new_file_id)
    else:
        taking = spread_inserts(part.inserts, sizing.row_bytes, sizing.settings, new_file_id)
    by_file = {group.file_id: group for group in taking}
    for file_slice, updates in part.updates.items():
        yield file_slice, updates, by_file.pop(file_slice.group.file_id, InsertGroup(file_slice.group.file_id, file_slice.base, 0))
    for group in by_file.values():
        yield None, 0, group


def log_name(file_slice: FileSlice, instant: str, write_token: str, sizing: Sizing) -> LogFileName:
    """Return the name of the log file that a write appends to a slice: it holds the write's own time, in version 6 the
    slice's.
    """
    file_id = file_slice.group.file_id
    if sizing.compacting is None:
        return LogFileName(file_id, instant, 1, write_token)
    begun = sizing.compacting.get(file_slice.group, file_slice.base_instant)
    return next_log_name(file_id, begun, (log.name for log in file_slice.logs), write_token)


def _complete_buckets(beginning: str, file_prefix: Callable[[], str]) -> str:
    """Return a new file id that begins so."""
    whole = f"{file_prefix()}-0"
    return beginning + whole[len(beginning) :]


def _file_ids(file_prefix: Callable[[], str], *, one_prefix: bool) -> Iterator[str]:
    """Return new file ids: numbers after one prefix (bulk writes), or number 0 after a new prefix each time, as in
    Hudi.
    """
    if one_prefix:
        prefix = file_prefix()
        return (f"{prefix}-{number}" for number in itertools.count())
    return (f"{file_prefix()}-0" for _ in itertools.count())
