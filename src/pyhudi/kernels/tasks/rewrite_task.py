"""One task of a clustering: the rows of some file slices of a partition, ordered, as new base files.

Rules: `SparkSortAndSizeExecutionStrategy`, `SparkSingleFileSortExecutionStrategy`. Every row keeps commit time, sequence number and key.
Memory does not grow with the files but for the sort columns: rows that are too many to be ordered at once are read several times, each time
for the next part of the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.byte_size import byte_size
from pyhudi.kernels.arrays.space_curves import Layout, row_order
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.keys.key_kernels import field_column
from pyhudi.kernels.merge.merge_slice import count_merged, iter_merged
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.carried_file import CarriedFile
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

Order: TypeAlias = npt.NDArray[np.int64]
#: Rows that a batch of the order hands to the writer.
_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """Write the rows of the slices of `merges` to new files at `instant`.

    `files` is how many, about the same number of rows in each; a file ends earlier at `target_bytes`. `sort_columns` order the rows by
    `layout`, dotted names go into structs; without, they stay as they are. `write_token` is `<task>-<stage>-<attempt>`; `limit_bytes` how
    many bytes of logs are merged at once, and `order_bytes` how many bytes of rows are ordered at once.
    """

    instant: str
    partition_path: str
    merges: tuple[SliceTask, ...]
    file_prefix: str
    files: int
    target_bytes: int
    sort_columns: tuple[str, ...]
    layout: Layout
    write_token: str
    limit_bytes: int
    order_bytes: int


def run_rewrite_task(storage: Storage, context: RecordContext, settings: WriterSettings, task: RewriteTask) -> list[TaskResult]:
    """Write the files and say what was done.

    Raises:
        CorruptTableError: a file of the slices is damaged, or holds other rows than it states.
    """
    ensure_partition(storage, task.partition_path, task.instant)
    rows = stated_rows(storage, context, task)
    with RollingFiles(storage, context, settings, task, -(-rows // task.files)) as files:
        for part in _ordered(storage, context, task) if task.sort_columns else rows_of_slices(storage, context, task):
            files.append(part)
    check_rows(storage, task, rows, files.results)
    return files.results


def stated_rows(storage: Storage, context: RecordContext, task: RewriteTask) -> int:
    """Return the number of rows of the slices of a task, by footers and log headers."""
    return sum(count_merged(storage, context, merge, limit_bytes=task.limit_bytes) for merge in task.merges)


def check_rows(storage: Storage, task: RewriteTask, rows: int, results: Sequence[TaskResult]) -> None:
    """Compare the rows that a task wrote with those that its slices state.

    Raises:
        CorruptTableError: they are more or less.
    """
    written = sum(result.stat.num_writes or 0 for result in results)
    if written != rows:  # nothing is committed then: a rewrite may change the order of the rows and nothing else
        raise CorruptTableError(
            f"the slices that {task.instant} rewrites in partition '{task.partition_path}' of table {storage.uri} have {rows} rows by"
            f" footers and log headers, and {written} were read."
        )


def rows_of_slices(
    storage: Storage, context: RecordContext, task: RewriteTask, columns: tuple[str, ...] | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of the slices of a task, one slice after the other; `columns` as in `SliceTask`."""
    for merge in task.merges:
        for batch in iter_merged(storage, context, replace(merge, columns=columns), limit_bytes=task.limit_bytes):
            yield pa.Table.from_batches([batch])


def _ordered(storage: Storage, context: RecordContext, task: RewriteTask) -> Iterator[pa.Table]:
    """Yield the rows in their order."""
    parts, size = [], 0
    source = rows_of_slices(storage, context, task)
    for part in source:
        parts.append(part)
        size += byte_size(part)
        if size > task.order_bytes:
            break
    else:
        table = pa.concat_tables(parts).combine_chunks() if parts else None
        if table is not None:
            yield from _taken(table, row_order(_sort_keys(table, task), task.layout))
        return
    row_bytes = size / sum(part.num_rows for part in parts)
    del parts, part
    yield from _in_passes(storage, context, task, max(1, int(task.order_bytes / row_bytes)))


def _sort_keys(rows: pa.Table, task: RewriteTask) -> pa.Table:
    return pa.table({name: field_column(rows, name) for name in task.sort_columns})


def _in_passes(storage: Storage, context: RecordContext, task: RewriteTask, pass_rows: int) -> Iterator[pa.Table]:
    """Yield the rows in their order, `pass_rows` of them at a time; each time all slices are read."""
    top = tuple(dict.fromkeys(name if name in context.schema.names else name.partition(".")[0] for name in task.sort_columns))
    keys = _sort_keys(pa.concat_tables(rows_of_slices(storage, context, task, top)), task)
    order = row_order(keys, task.layout)
    del keys
    positions = np.empty(len(order), np.int64)
    positions[order] = np.arange(len(order))
    del order
    for first in range(0, len(positions), pass_rows):
        parts, begin = [], 0
        for part in rows_of_slices(storage, context, task):
            part_positions = positions[begin : begin + part.num_rows]
            begin += part.num_rows
            is_in = (part_positions >= first) & (part_positions < first + pass_rows)
            if is_in.any():
                parts.append(part.filter(pa.array(is_in)))
        inside = positions[(positions >= first) & (positions < first + pass_rows)]
        yield from _taken(pa.concat_tables(parts).combine_chunks(), np.argsort(inside))


def _taken(rows: pa.Table, order: Order) -> Iterator[pa.Table]:
    for first in range(0, len(order), _BATCH_ROWS):
        yield rows.take(pa.array(order[first : first + _BATCH_ROWS]))


class RollingFiles:
    """Base files, one after the other; the next one begins when this one has its rows, or its bytes."""

    def __init__(self, storage: Storage, context: RecordContext, settings: WriterSettings, task: RewriteTask, rows: int) -> None:
        """Begin no file yet; `rows` is how many each is to have."""
        self._open: Callable[[int], CarriedFile] = lambda number: CarriedFile(storage, context, settings, file_task(task, number))
        self._rows, self._bytes = rows, task.target_bytes
        self._file: CarriedFile | None = None
        self.results: list[TaskResult] = []

    def append(self, rows: pa.Table) -> None:
        """Write rows to the file that is open, and to further ones when it is full."""
        while rows.num_rows:
            file = self._current()
            room = self._rows - file.rows
            file.append(rows.slice(0, room))
            rows = rows.slice(room)
            self._end_if_full()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self._file is not None and kind is None:
            self._end()
        elif self._file is not None:
            self._file.__exit__(kind, *error)

    def _current(self) -> CarriedFile:
        if self._file is None:
            self._file = self._open(len(self.results))
        return self._file

    def _end_if_full(self) -> None:
        if self._file is not None and (self._file.rows >= self._rows or self._file.written_bytes >= self._bytes):
            self._end()

    def _end(self) -> None:
        assert self._file is not None
        with self._file:
            pass
        self.results.append(self._file.result())
        self._file = None


def file_task(task: RewriteTask, number: int) -> WriteTask:
    """Return the task that writes a file of a rewrite, by its number."""
    return WriteTask(task.instant, task.partition_path, f"{task.file_prefix}-{number}", task.write_token)
