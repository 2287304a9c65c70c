"""One task of a write: the new version of one file group in one base file.

Rules: `HoodieCreateHandle`, `HoodieWriteMergeHandle`, `HoodieConcatHandle`; write statistics as in `HoodieWriteStat`.
The marker precedes the file, so that whatever a killed task leaves behind can be found. Rows pass by in batches:
memory does not grow with the file.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO, Protocol

import pyarrow as pa

from pyhudi.kernels.arrays.event_times import EventTimes
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.base_file_writer import BaseFileWriter
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.meta_column_writer import MetaColumnWriter
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.cdc.change_log_writer import ChangeLog
from pyhudi.kernels.keys.keyed_rows import keyed_batches, live_rows
from pyhudi.kernels.merge.merge_join import IncomingRows, in_order
from pyhudi.kernels.tasks.base_rewrite import open_rewrite
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, join_path
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.spec.files.marker import MarkerType

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class WriteTask:
    """What to write: the new base file `file_id` of a partition, on top of `base` when the group exists.

    `append_only` keeps rows whose key is there already (operation insert); otherwise incoming rows replace stored ones.
    `write_token` is `<task partition>-<stage>-<attempt>`.
    """

    instant: str
    partition_path: str
    file_id: str
    write_token: str
    base: BaseFile | None = None
    append_only: bool = False

    def with_token(self, write_token: str) -> WriteTask:
        """Return the same task for another attempt."""
        return replace(self, write_token=write_token)

    @property
    def file_name(self) -> BaseFileName:
        """Name of the file that the task writes."""
        return BaseFileName(self.file_id, self.write_token, self.instant)

    @property
    def path(self) -> str:
        """Path of that file, relative to the table's base path."""
        return join_path(self.partition_path, str(self.file_name))


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What a task did; `file` is relative to the table's base path.

    `late_dropped` counts rows that came too late; None where that shows only when log files are merged. `log_crc32` has the CRC-32 of
    each log file that the task wrote, by path; the statistics state the lengths.
    """

    stat: WriteStat
    late_dropped: int | None
    file: str
    log_crc32: Mapping[str, int] = field(default_factory=dict)


class RowCounts(Protocol):
    """How many rows of a file are new, changed, and deleted."""

    @property
    def inserts(self) -> int:
        """New rows."""
        ...

    @property
    def updates(self) -> int:
        """Changed rows."""
        ...

    @property
    def deletes(self) -> int:
        """Deleted rows."""
        ...


@dataclass(slots=True)
class _Counts:
    inserts: int = 0
    updates: int = 0
    deletes: int = 0
    late_dropped: int = 0


def run_write_task(
    storage: Storage,
    context: RecordContext,
    settings: WriterSettings,
    task: WriteTask,
    rows: pa.Table | Iterable[pa.RecordBatch],
) -> TaskResult:
    """Write one base file and say what was done.

    Args:
        storage: the table's storage.
        context: what the rows of the table look like and how they merge.
        settings: how base files are written.
        task: which file to write, on top of which.
        rows: the record key, the data columns, and optionally a boolean `_pyhudi_delete` and the `_pyhudi_position` of the record in the
            base file; keys are unique unless `append_only`.

    Raises:
        SchemaError: a row does not fit the table.
        CorruptTableError: the file before is damaged.
        AlreadyExistsError: the file was written already.
    """
    started = time.perf_counter()
    kind = MarkerType.CREATE if task.base is None else MarkerType.MERGE
    settings.markers.create(storage, task.instant, task.path, kind)
    ensure_partition(storage, task.partition_path, task.instant)
    log = _change_log(storage, context, settings, task)
    with storage.open_output(task.path) as output, log or contextlib.nullcontext():
        counts, writer = _write(storage, context, settings, task, output, keyed_batches(rows, context), log)
        size = output.tell()
    spent = int((time.perf_counter() - started) * 1000)
    stat = _with_event_times(_stat(task, counts, writer.rows, size, spent), writer.event_times)
    if log is None:
        return TaskResult(stat, counts.late_dropped, task.path)
    return TaskResult(replace(stat, cdc_stats=log.stats), counts.late_dropped, task.path, log.crc32)


def _change_log(storage: Storage, context: RecordContext, settings: WriterSettings, task: WriteTask) -> ChangeLog | None:
    """Return the log of what changes on top of a base file, if the table has one; all rows of a new file are new."""
    if context.change_log is None or task.base is None:
        return None
    return ChangeLog(storage, context, settings, task)


def _write(
    storage: Storage,
    context: RecordContext,
    settings: WriterSettings,
    task: WriteTask,
    output: BinaryIO,
    rows: Iterator[pa.Table],
    log: ChangeLog | None,
) -> tuple[_Counts, BaseFileWriter]:
    """Write the file; return what was done, and the writer, which knows how many rows it has."""
    stamp = MetaColumnWriter(task.instant, task.write_token.split("-", 1)[0], task.partition_path, str(task.file_name))
    if task.base is None:
        with BaseFileWriter(output, context, settings, KeyFilter.for_rows_after(storage, None, context, settings)) as writer:
            return _create(context, writer, stamp, rows, None), writer
    incoming = None if task.append_only else pa.concat_tables(rows)
    with open_rewrite(storage, context, settings, task.base, str(task.file_name), output, incoming) as (writer, old):
        if incoming is not None:
            return _merge(context, writer, stamp, old, incoming, log), writer
        for _, batch in old:
            writer.append(stamp.carried_over(batch, context.file_schema), known_keys=True)
        return _create(context, writer, stamp, rows, log), writer


def _create(
    context: RecordContext, writer: BaseFileWriter, stamp: MetaColumnWriter, rows: Iterable[pa.Table], log: ChangeLog | None
) -> _Counts:
    counts = _Counts()
    for batch in rows:
        live = live_rows(batch, context)
        writer.append(stamp.new(live, context.file_schema))
        if log is not None:
            log.inserted(live)
        counts.inserts += live.num_rows
    return counts


def _merge(
    context: RecordContext,
    writer: BaseFileWriter,
    stamp: MetaColumnWriter,
    old: Iterator[tuple[int, pa.Table]],
    rows: pa.Table,
    log: ChangeLog | None,
) -> _Counts:
    counts = _Counts()
    incoming = IncomingRows(rows, context)
    for begin, batch in old:
        merged = incoming.merge(batch, begin)
        if merged.replacements.num_rows:
            replaced = stamp.new(merged.replacements, context.file_schema)
            rows_after = in_order([stamp.carried_over(batch, context.file_schema), replaced], merged.order)
        else:
            rows_after = stamp.carried_over(merged.retained, context.file_schema)
        writer.append(rows_after, known_keys=True)
        if log is not None and len(merged.changed):
            log.replaced(batch.take(pa.array(merged.changed)), merged.replacements)
        counts.updates += merged.replacements.num_rows
        counts.deletes += merged.deleted
    inserts = incoming.inserts()
    writer.append(stamp.new(inserts, context.file_schema))
    if log is not None:
        log.inserted(inserts)
    counts.inserts = inserts.num_rows
    counts.late_dropped = incoming.late_dropped
    return counts


def _stat(task: WriteTask, counts: _Counts, rows: int, size: int, spent_ms: int) -> WriteStat:
    stat = base_file_stat(FileGroupId(task.partition_path, task.file_id), task.path, task.base, counts, rows=rows, size=size)
    return replace(stat, total_create_ms=spent_ms) if task.base is None else replace(stat, total_upsert_ms=spent_ms)


def _with_event_times(stat: WriteStat, times: EventTimes | None) -> WriteStat:
    return stat if times is None else replace(stat, min_event_time=times.least, max_event_time=times.greatest)


def base_file_stat(group: FileGroupId, path: str, base: BaseFile | None, counts: RowCounts, *, rows: int, size: int) -> WriteStat:
    """Return the statistics of a base file of `rows` rows and `size` bytes that was written at `path`, after `base`; without times."""
    return WriteStat(
        file_id=group.file_id,
        path=path,
        prev_commit="null" if base is None else base.name.instant,
        partition_path=group.partition_path,
        num_writes=rows,
        num_deletes=counts.deletes,
        num_update_writes=counts.updates,
        num_inserts=counts.inserts,
        total_write_bytes=size,
        file_size_in_bytes=size,
        prev_base_file=None if base is None else str(base.name),
    )
