"""One task of a log compaction: the log files of a slice, merged with each other, as one more log file that stands for them.

Rules: `FileGroupReaderBasedInlineLogAppendHandle`; the header of every block names the instants that it replaces
(docs/format/log-files.md#which-blocks-count). The base file is not looked at. What stays of a key is what all its versions come to for
whoever merges them with a base file: the version that wins, and before it the delete by commit time that it came after, if there is one.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pyhudi.codec.log.log_content import encode_deletes
from pyhudi.codec.log.log_writer import encode_block
from pyhudi.kernels.arrays.array_types import Indices, Mask
from pyhudi.kernels.arrays.byte_size import rows_of_bytes
from pyhudi.kernels.arrays.ordering_columns import ordering_columns
from pyhudi.kernels.arrays.record_versions import codes, winners
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.log_file.log_rows import LogRows, read_log_rows, slice_blocks
from pyhudi.kernels.log_file.ordering_types import ordering_types
from pyhudi.kernels.log_file.read_log_blocks import block_content
from pyhudi.kernels.log_file.visible_blocks import choose_blocks
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.task_attempt import reserve_name
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.schema.meta_columns import META_COLUMNS, RECORD_KEY
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys
from pyhudi.spec.files.file_group import FileSlice, join_path
from pyhudi.spec.files.file_names import LogFileName
from pyhudi.spec.files.log_block import BlockHeader, BlockType, LogBlock
from pyhudi.spec.files.marker import MarkerType
from pyhudi.spec.table.merge_mode import MergeMode

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


@dataclass(frozen=True, slots=True)
class LogCompactTask:
    """Join the logs of the slice of `merge` at `instant` in the file `name`, which holds the slice's time in version 6."""

    instant: str
    merge: SliceTask
    name: LogFileName

    @property
    def slice(self) -> FileSlice:
        """The slice whose logs are joined."""
        return self.merge.slice

    @property
    def write_token(self) -> str:
        """`<task>-<stage>-<attempt>`."""
        return self.name.write_token or ""

    @property
    def is_named_by_instant(self) -> bool:
        """True when the log file is named by this action's instant (version 8 and later), not by its slice's."""
        return self.name.instant == self.instant

    @property
    def path(self) -> str:
        """Path of that file, relative to the table's base path."""
        return join_path(self.slice.group.partition_path, str(self.name))

    def with_token(self, write_token: str) -> LogCompactTask:
        """Return the same task for another attempt."""
        return replace(self, name=replace(self.name, write_token=write_token))


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """The merged logs of a slice: live rows, and deletes, which apply before the rows."""

    rows: pa.Table
    deleted: DeletedKeys


def run_log_compact_task(storage: Storage, context: RecordContext, settings: WriterSettings, task: LogCompactTask) -> list[TaskResult]:
    """Write the joined log file and say what was done; nothing is written for a slice whose versions must be seen one by one.

    That is so when its blocks hold some columns only, or its table merges by gaps or by a class: a compaction has the base file and does
    those.

    Raises:
        CorruptTableError: a log file is damaged.
        AlreadyExistsError: the task was begun too often.
    """
    started = time.perf_counter()
    blocks = choose_blocks(slice_blocks(storage, task.slice, task.merge.layout), task.merge.visibility, task.merge.layout)
    log_rows = read_log_rows(storage, context, blocks, [*META_COLUMNS, *context.schema.names])
    if context.mixes_versions or any(columns is not None for columns in log_rows.present_columns):
        return []
    joined = join_rows(log_rows, context, task.slice.group.partition_path)
    task = reserve_name(storage, task, MarkerType.CREATE if task.is_named_by_instant else MarkerType.APPEND)
    size = crc = 0
    with storage.open_output(task.path) as output:
        for block in _blocks(joined, context, settings, task, blocks):
            size, crc = size + output.write(block), zlib.crc32(block, crc)
    spent = int((time.perf_counter() - started) * 1000)
    return [TaskResult(_stat(task, joined, blocks, log_rows.rows.num_rows, size, spent), 0, task.path, {task.path: crc})]


def join_rows(log_rows: LogRows, context: RecordContext, partition_path: str) -> JoinedRows:
    """Return what stays of each key."""
    groups = codes(log_rows.keys)
    values = ordering_columns(log_rows.rows, context.ordering_fields)
    ordering = values if context.merge_mode is MergeMode.EVENT_TIME_ORDERING else []
    indices = np.sort(winners(groups, ordering, log_rows.commit_time_deletes))
    deleted = log_rows.deletes | log_rows.commit_time_deletes
    wiped = _wiped_before(groups, log_rows.commit_time_deletes, indices)
    deleted_indices = indices[deleted[indices]]
    keys = log_rows.rows.column(RECORD_KEY)
    entries: list[tuple[str, object]] = [(keys[index].as_py(), COMMIT_TIME_DELETE) for index in wiped.tolist()]
    entries += [
        (keys[index].as_py(), COMMIT_TIME_DELETE if log_rows.commit_time_deletes[index] or not values else _ordering(values, index))
        for index in deleted_indices.tolist()
    ]
    return JoinedRows(
        log_rows.rows.take(pa.array(indices[~deleted[indices]])),
        DeletedKeys(
            keys=tuple(key for key, _ in entries),
            partition_paths=(partition_path,) * len(entries),
            ordering=tuple(value for _, value in entries),
        ),
    )


def _wiped_before(groups: Indices, commit_time_deletes: Mask, row_indices: Indices) -> Indices:
    """Return the winners that are after a delete by commit time of their key: it takes the base file's row, whatever that is worth."""
    if not commit_time_deletes.any():
        return row_indices[:0]
    wiped = np.zeros(int(groups.max()) + 1, bool)
    wiped[groups[commit_time_deletes]] = True
    result: Indices = row_indices[wiped[groups[row_indices]] & ~commit_time_deletes[row_indices]]
    return result


def _ordering(values: Sequence[pa.ChunkedArray], index: int) -> object:
    ordering = tuple(column[index].as_py() for column in values)
    return ordering[0] if len(ordering) == 1 else ordering


def _blocks(
    joined: JoinedRows, context: RecordContext, settings: WriterSettings, task: LogCompactTask, replaced: Sequence[LogBlock]
) -> Iterator[bytes]:
    """Yield deletes first: a row that came after one must stay."""
    instants = tuple(dict.fromkeys(block.header.instant or "" for block in replaced))
    header = BlockHeader(instant=task.instant, schema_json=context.avro_schema_json, replaces=instants)
    if joined.deleted.keys or not joined.rows.num_rows:
        yield encode_block(BlockType.DELETE, header, encode_deletes(joined.deleted, ordering_types(context)))
    rows = joined.rows.select(context.file_schema.names).cast(context.file_schema)
    step = rows_of_bytes(rows, settings.log.block_bytes)
    for start in range(0, rows.num_rows, step):
        content = block_content(rows.slice(start, step), context.avro_schema_json, settings)
        yield encode_block(settings.log.block_type, header, content)


def _stat(task: LogCompactTask, joined: JoinedRows, blocks: Sequence[LogBlock], records: int, size: int, spent_ms: int) -> WriteStat:
    base = task.slice.base
    before = () if task.is_named_by_instant else tuple(str(log.name) for log in reversed(task.slice.logs))
    return WriteStat(
        file_id=task.slice.group.file_id,
        path=task.path,
        prev_commit=task.slice.base_instant if base is None else base.name.instant,
        partition_path=task.slice.group.partition_path,
        num_writes=joined.rows.num_rows,
        num_deletes=len(set(joined.deleted.keys) - set(joined.rows.column(RECORD_KEY).to_pylist())),
        num_update_writes=joined.rows.num_rows,
        total_write_bytes=size,
        file_size_in_bytes=size,
        log_version=task.name.version,
        log_offset=0,
        base_file="" if task.is_named_by_instant or base is None else str(base.name),
        log_files=(*before, str(task.name)),
        total_upsert_ms=spent_ms,
        total_log_records=records,
        total_log_files_compacted=len(task.slice.logs),
        total_log_size_compacted=sum(block.content_size for block in blocks if block.type.holds_rows),
        total_log_blocks=len(blocks),
        total_updated_records_compacted=joined.rows.num_rows,
    )
