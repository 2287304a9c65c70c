"""One task of a write to a merge-on-read table: updates and deletes of one file group, appended to it in log files.

Rules: `HoodieAppendHandle`, `HoodieDeltaWriteStat`; docs/format/data-files.md#routing-in-merge-on-read-tables,
docs/format/timeline.md#write-statistics-of-an-append. The marker precedes the file, as with base files; nothing of the file group is
read.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from pyhudi.kernels.arrays.event_times import EventTimes
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.base_file.write_columns import commit_time_deletes, marked_deletes
from pyhudi.kernels.keys.keyed_rows import keyed_batches
from pyhudi.kernels.log_file.append_task import AppendTask
from pyhudi.kernels.log_file.read_log_blocks import data_blocks, delete_block
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.file_names import LogFileName
from pyhudi.spec.files.marker import MarkerType

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class _Counts:
    rows: int
    deletes: int
    min_event_time: int | None = None
    max_event_time: int | None = None


def run_append_task(
    storage: Storage, context: RecordContext, settings: WriterSettings, task: AppendTask, rows: pa.Table | Iterable[pa.RecordBatch]
) -> list[TaskResult]:
    """Write the log files of one append and say what was done, one result for each file.

    Args:
        storage: the table's storage.
        context: what the rows of the table look like.
        settings: how log files are written.
        task: which file group, under which name.
        rows: the record key, the data columns, and optionally `_pyhudi_delete` and `_pyhudi_position`; keys are unique.

    Raises:
        SchemaError: a row does not fit the table.
        AlreadyExistsError: the file was written already.
    """
    started = time.perf_counter()
    keyed = pa.concat_tables(keyed_batches(rows, context))
    by_commit_time = commit_time_deletes(keyed)
    is_delete = by_commit_time | marked_deletes(keyed, context)
    live, deletes = (
        (keyed, keyed.slice(0, 0)) if not is_delete.any() else (keyed.filter(pa.array(~is_delete)), keyed.filter(pa.array(is_delete)))
    )
    blocks = _blocks(live, deletes, context, settings, task)
    written = list(_write_files(storage, settings, task, blocks))
    spent = int((time.perf_counter() - started) * 1000)
    counts = _Counts(live.num_rows, deletes.num_rows, *_event_times(live, context))
    nothing = _Counts(0, 0)
    late = None if context.compared_fields and not by_commit_time.all() else 0
    # Which rows went to which file is nowhere asked for: the first file's statistics count them all.
    return [
        TaskResult(_stat(context, task, name, size, nothing if number else counts, spent), late, task.path(name), {task.path(name): crc})
        for number, (name, size, crc) in enumerate(written)
    ]


def _event_times(rows: pa.Table, context: RecordContext) -> tuple[int | None, int | None]:
    """Return the least and the greatest event time of rows, where they are tracked and the rows have all columns."""
    if context.event_time_field is None or context.event_time_field.partition(".")[0] not in rows.column_names:
        return None, None
    times = EventTimes(context.event_time_field)
    times.extend(rows)
    return times.least, times.greatest


def _blocks(live: pa.Table, deletes: pa.Table, context: RecordContext, settings: WriterSettings, task: AppendTask) -> Iterator[bytes]:
    if live.num_rows:
        yield from data_blocks(live, context, settings, task)
    if deletes.num_rows:
        yield delete_block(deletes, context, settings, task)


def _write_files(
    storage: Storage, settings: WriterSettings, task: AppendTask, blocks: Iterator[bytes]
) -> Iterator[tuple[LogFileName, int, int]]:
    """Write the blocks into as many files as their sizes need; yields name, size and CRC-32 of each."""
    name, block = task.name, next(blocks, None)
    while block is not None:
        path, size, crc = task.path(name), 0, 0
        marker = MarkerType.CREATE if task.is_named_by_instant else MarkerType.APPEND
        settings.markers.create(storage, task.instant, path, marker)
        if task.begins_group:
            ensure_partition(storage, task.partition_path, task.instant)
        with storage.open_output(path) as output:
            while block is not None and (size == 0 or size < settings.log.file_bytes):
                output.write(block)
                size, crc = size + len(block), zlib.crc32(block, crc)
                block = next(blocks, None)
        yield name, size, crc
        name = replace(name, version=name.version + 1)


def _stat(context: RecordContext, task: AppendTask, name: LogFileName, size: int, counts: _Counts, spent_ms: int) -> WriteStat:
    """Return the statistics of one file; where changes are captured, and of a file named by its slice, they tell the slice's files."""
    base, before = _files_before(task) if context.change_log is None else _slice_files(task)
    return WriteStat(
        file_id=task.file_id,
        path=task.path(name),
        prev_commit=task.name.instant if context.change_log is None else task.slice.base_instant,
        partition_path=task.partition_path,
        num_writes=counts.rows,
        num_deletes=counts.deletes,
        num_update_writes=0 if task.begins_group else counts.rows,
        num_inserts=counts.rows if task.begins_group else 0,
        total_write_bytes=size,
        file_size_in_bytes=size,
        log_version=name.version,
        log_offset=0,
        base_file=base,
        log_files=(*before, str(name)),
        min_event_time=counts.min_event_time,
        max_event_time=counts.max_event_time,
        total_upsert_ms=spent_ms,
    )


def _slice_files(task: AppendTask) -> tuple[str, tuple[str, ...]]:
    """Return the names of the base file and the log files of the slice: Apache Hudi's readers of changes take the images from them."""
    base = task.slice.base
    return "" if base is None else str(base.name), tuple(str(log.name) for log in task.slice.logs)


def _files_before(task: AppendTask) -> tuple[str, tuple[str, ...]]:
    """Return the names of the base file and the log files of the slice that the log is named by; none where it has its own name."""
    if task.is_named_by_instant:
        return "", ()
    base, instant = task.slice.base, task.name.instant
    logs = tuple(str(log.name) for log in task.slice.logs if log.name.instant == instant)
    return str(base.name) if base is not None and base.name.instant == instant else "", logs
