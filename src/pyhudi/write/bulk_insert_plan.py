"""A stream of rows into new file groups, without knowing beforehand how many there are: what one task of a bulk insert does.

Rules: `BulkInsertDataInternalWriterHelper` (a new file when the last one is full, one file a partition of the table). Memory is bounded:
rows of a table without partitions pass through, those of a partitioned one are gathered up to `CHUNK_BYTES`, then written by partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from pyhudi.kernels.arrays.byte_size import byte_size
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.size_estimate import row_bytes
from pyhudi.kernels.keys.key_kernels import key_columns
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask, run_write_task
from pyhudi.keygen.auto import AutoKeys
from pyhudi.keygen.choose_generator import KeyGenerator
from pyhudi.schema.evolve import conform
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.write.input.split_by_partition import split_by_partition

CHUNK_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class BulkWrite:
    """What every task of a bulk write knows. Pickles."""

    storage: Storage
    context: RecordContext
    settings: WriterSettings
    config: TableConfig
    generator: KeyGenerator
    instant: str


def write_stream(
    work: BulkWrite, number: int, write_token: str, batches: Iterable[pa.RecordBatch], new_file_id: Callable[[], str]
) -> Iterator[TaskResult]:
    """Write all rows of a stream and yield one result for each file.

    Args:
        work: The write.
        number: The task's number, which goes into the keys of a table without record key.
        write_token: `<task partition>-<stage>-<attempt>`.
        batches: Data columns, in any order and of any type that fits the table's.
        new_file_id: Gives ids that no other task gives.

    Raises:
        SchemaError: a value does not fit its column.
        KeyFieldError: a record key is null, or a partition value is not allowed.
    """
    keyed = _add_keys(work, number, batches)
    file_slices = _by_partition(keyed) if work.config.partition_fields else _by_size(work, keyed)
    for path, rows in file_slices:
        task = WriteTask(work.instant, path, new_file_id(), write_token, append_only=True)
        yield run_write_task(work.storage, work.context, work.settings, task, rows)


def _add_keys(work: BulkWrite, number: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows with record key and partition path before the data."""
    first_row = 0
    generator = work.generator
    if isinstance(generator, AutoKeys):
        generator = replace(generator, task_partition=number)
    for batch in batches:
        if not batch.num_rows:
            continue
        rows = conform(pa.Table.from_batches([batch]), work.context.incoming_schema)
        keys, paths = key_columns(rows, generator, first_row=first_row)
        first_row += rows.num_rows
        yield rows.add_column(0, RECORD_KEY, keys).add_column(1, PARTITION_PATH, paths)


def _by_size(work: BulkWrite, keyed: Iterator[pa.Table]) -> Iterator[tuple[str, Iterable[pa.RecordBatch]]]:
    """Yield streams that fill one file each."""
    keyed = (rows.drop_columns([PARTITION_PATH]) for rows in keyed)
    first = next(keyed, None)
    while first is not None:
        size = row_bytes(first, work.settings)
        room = max(1, int(work.settings.bounded_by_rows(size).max_file_bytes / size))
        stream = _FileStream(first, keyed, room)
        yield "", stream
        first = stream.next_first


class _FileStream:
    """The rows of one file, taken from a longer stream; `next_first` is what begins the next file."""

    def __init__(self, first: pa.Table, rest: Iterator[pa.Table], room: int) -> None:
        self._first, self._rest, self._room = first, rest, room
        self.next_first: pa.Table | None = None

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        written = self._first.num_rows
        yield from self._first.to_batches()
        for keyed in self._rest:
            if written + keyed.num_rows > self._room:
                self.next_first = keyed
                return
            written += keyed.num_rows
            yield from keyed.to_batches()


def _by_partition(keyed: Iterator[pa.Table]) -> Iterator[tuple[str, pa.Table]]:
    """Yield the rows of each partition of a chunk of the stream."""
    waiting: list[pa.Table] = []
    size = 0
    for rows in keyed:
        waiting.append(rows)
        size += byte_size(rows)
        if size >= CHUNK_BYTES:
            yield from _partitions(waiting)
            waiting, size = [], 0
    if waiting:
        yield from _partitions(waiting)


def _partitions(chunk: list[pa.Table]) -> Iterator[tuple[str, pa.Table]]:
    for part in split_by_partition(pa.concat_tables(chunk).unify_dictionaries()):
        yield part.partition_path, part.rows
