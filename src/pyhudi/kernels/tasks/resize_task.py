"""One task of a resizing: file slices, merged, as the base files of the buckets that take their place.

Rules: `SingleSparkJobConsistentHashingExecutionStrategy`; write statistics as in `HoodieCreateHandle`. Every row keeps commit time,
sequence number and key. Rows pass by in batches: memory does not grow with the files. A bucket without rows gets no file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from pyhudi.errors import OptionError
from pyhudi.kernels.arrays.bucket_hash import bucket_indices, consistent_hashes
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.merge.merge_slice import iter_merged
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.carried_file import CarriedFile
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask
from pyhudi.schema.meta_columns import RECORD_KEY

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

_HASH_FIELDS: Final = "hoodie.bucket.index.hash.field"


@dataclass(frozen=True, slots=True)
class ResizeTask:
    """Move the rows of some slices to the buckets of consistent hashing at `instant`.

    `ends` are where the new hash ranges end; `buckets` are the file ids to write, by the numbers of their hash ranges.
    `hash_fields` are the record key fields that are hashed. `write_token` is `<task>-<stage>-<attempt>`, `limit_bytes` how many bytes
    of logs are merged at once.
    """

    instant: str
    partition_path: str
    merges: tuple[SliceTask, ...]
    ends: tuple[int, ...]
    buckets: Mapping[int, str]
    hash_fields: tuple[str, ...]
    write_token: str
    limit_bytes: int


def run_resize_task(storage: Storage, context: RecordContext, settings: WriterSettings, task: ResizeTask) -> list[TaskResult]:
    """Write the base files of the new buckets and say what was done.

    Raises:
        OptionError: a row belongs to none of the buckets: other fields are hashed than the table was written by.
        CorruptTableError: a file of the slices is damaged.
    """
    ensure_partition(storage, task.partition_path, task.instant)
    files: dict[int, CarriedFile] = {}
    with contextlib.ExitStack() as open_files:
        for index, rows in _route_rows(storage, context, task):
            if index not in files:
                bucket = WriteTask(task.instant, task.partition_path, task.buckets[index], task.write_token)
                files[index] = open_files.enter_context(CarriedFile(storage, context, settings, bucket))
            files[index].append(rows)
    return [file.result() for file in files.values()]


def _route_rows(storage: Storage, context: RecordContext, task: ResizeTask) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of the slices with the numbers of their buckets."""
    for merge in task.merges:
        for batch in iter_merged(storage, context, merge, limit_bytes=task.limit_bytes):
            rows = pa.Table.from_batches([batch])
            indices = bucket_indices(task.ends, consistent_hashes(batch.column(RECORD_KEY), task.hash_fields))
            for index in np.unique(indices).tolist():
                if index not in task.buckets:
                    key = rows.column(RECORD_KEY)[int(np.flatnonzero(indices == index)[0])]
                    raise OptionError(
                        f"record '{key}' of {merge.slice.group} in table {storage.uri} does not belong to its bucket when"
                        f" {', '.join(task.hash_fields)} is hashed: {_HASH_FIELDS} must name the fields that the table was written by."
                    )
                yield index, rows.filter(pa.array(indices == index))
