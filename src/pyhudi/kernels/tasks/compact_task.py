"""One task of a compaction: a file slice, merged, as the new base file of its group.

Rules: `FileGroupReaderBasedMergeHandle`; write statistics as in `HoodieWriteStat`. Every row keeps commit time, sequence number and key;
the file name is the new file's. Rows pass by in batches: memory does not grow with the file.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.base_file_writer import BaseFileWriter
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.kernels.base_file.meta_column_writer import MetaColumnWriter
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.cdc.compaction_log import log_compaction
from pyhudi.kernels.merge.merge_slice import MergeCounts, iter_merged
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.task_attempt import reserve_name
from pyhudi.kernels.tasks.write_task import TaskResult, base_file_stat
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.file_group import FileSlice, join_path
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.spec.files.marker import MarkerType

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class CompactTask:
    """Compact the slice of `merge` at `instant`.

    `write_token` is `<task>-<stage>-<attempt>`, `limit_bytes` how many bytes of logs are merged at once.
    """

    instant: str
    merge: SliceTask
    write_token: str
    limit_bytes: int

    @property
    def slice(self) -> FileSlice:
        """The slice that is compacted."""
        return self.merge.slice

    @property
    def file_name(self) -> BaseFileName:
        """Name of the file that the task writes."""
        return BaseFileName(self.slice.group.file_id, self.write_token, self.instant)

    @property
    def path(self) -> str:
        """Path of that file, relative to the table's base path."""
        return join_path(self.slice.group.partition_path, str(self.file_name))

    def with_token(self, write_token: str) -> CompactTask:
        """Return the same task for another attempt."""
        return replace(self, write_token=write_token)


def run_compact_task(storage: Storage, context: RecordContext, settings: WriterSettings, task: CompactTask) -> TaskResult:
    """Write the base file of a compacted slice and say what was done.

    Raises:
        CorruptTableError: a file of the slice is damaged.
        AlreadyExistsError: the task was begun too often.
    """
    started = time.perf_counter()
    group, base = task.slice.group, task.slice.base
    kind = MarkerType.CREATE if base is None else MarkerType.MERGE
    task = reserve_name(storage, task, kind)
    ensure_partition(storage, group.partition_path, task.instant)
    stamp = MetaColumnWriter(task.instant, task.write_token.split("-", 1)[0], group.partition_path, str(task.file_name))
    counts = MergeCounts()
    with storage.open_output(task.path) as output:
        with BaseFileWriter(output, context, settings, KeyFilter.for_rows_after(storage, task.slice.base, context, settings)) as writer:
            for batch in iter_merged(storage, context, task.merge, limit_bytes=task.limit_bytes, counts=counts):
                # The rows of the logs come first; the filter of the file before knows the keys of all others.
                stays = writer.rows >= counts.updates + counts.inserts
                writer.append(stamp.carried_over(pa.Table.from_batches([batch]), context.file_schema), known_keys=stays)
        size = output.tell()
    changes = log_compaction(storage, context, settings, task, task.merge, task.limit_bytes)
    spent = int((time.perf_counter() - started) * 1000)
    stat = _stat(task, counts, writer.rows, size, spent)
    if changes is None:
        return TaskResult(stat, 0, task.path)
    return TaskResult(replace(stat, cdc_stats=changes.stats), 0, task.path, changes.crc32)


def _stat(task: CompactTask, counts: MergeCounts, rows: int, size: int, spent_ms: int) -> WriteStat:
    return replace(
        base_file_stat(task.slice.group, task.path, task.slice.base, counts, rows=rows, size=size),
        total_upsert_ms=spent_ms,
        total_log_files_compacted=len(task.slice.logs),
        total_log_records=counts.log_records,
        total_log_size_compacted=counts.log_bytes,
        total_log_blocks=counts.log_blocks,
        total_updated_records_compacted=counts.updates + counts.inserts + counts.deletes,
    )
