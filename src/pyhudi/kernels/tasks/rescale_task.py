"""One task of a rescaling: all rows of a partition, as the base files of another number of buckets.

Rules: `BucketIdentifier`; write statistics as in `HoodieCreateHandle`. Every row keeps commit time, sequence number and key. Rows pass by
in batches; each bucket has a row group in memory, which is the smaller the more buckets there are. A bucket without rows gets no file.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.bucket_hash import list_hashes
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.merge.merge_slice import count_merged, iter_merged
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.carried_file import CarriedFile
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask
from pyhudi.schema.meta_columns import RECORD_KEY

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

#: Bytes of rows that wait in the files of all buckets together, and in that of one at the least.
_WAITING_BYTES: Final = 1 << 30
_LEAST_GROUP_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class RescaleTask:
    """Move the rows of all slices of a partition to `buckets` buckets at `instant`.

    `hash_fields` are the record key fields that are hashed. `file_prefix` is a new file id, of which a bucket replaces the beginning by its
    number. `write_token` is `<task>-<stage>-<attempt>`, `limit_bytes` how many bytes of logs are merged at once.
    """

    instant: str
    partition_path: str
    merges: tuple[SliceTask, ...]
    buckets: int
    hash_fields: tuple[str, ...]
    file_prefix: str
    write_token: str
    limit_bytes: int


def run_rescale_task(storage: Storage, context: RecordContext, settings: WriterSettings, task: RescaleTask) -> list[TaskResult]:
    """Write the base files of the buckets and say what was done.

    Raises:
        CorruptTableError: a file of the slices is damaged, or holds other rows than it states.
    """
    ensure_partition(storage, task.partition_path, task.instant)
    rows = sum(count_merged(storage, context, merge, limit_bytes=task.limit_bytes) for merge in task.merges)
    group_bytes = min(settings.row_group_bytes, max(_LEAST_GROUP_BYTES, _WAITING_BYTES // task.buckets))
    files: dict[int, CarriedFile] = {}
    with contextlib.ExitStack() as open_files:
        for merge in task.merges:
            for batch in iter_merged(storage, context, merge, limit_bytes=task.limit_bytes):
                part = pa.Table.from_batches([batch])
                numbers = list_hashes(batch.column(RECORD_KEY), task.hash_fields) % task.buckets
                for number in np.unique(numbers).tolist():
                    if number not in files:
                        file = CarriedFile(storage, context, replace(settings, row_group_bytes=group_bytes), _file_task(task, number))
                        files[number] = open_files.enter_context(file)
                    files[number].append(part.filter(pa.array(numbers == number)))
    results = [file.result() for file in files.values()]
    written = sum(result.stat.num_writes or 0 for result in results)
    if written != rows:
        raise CorruptTableError(
            f"the slices of partition '{task.partition_path}' of table {storage.uri} have {rows} rows by footers and log headers, and"
            f" {written} were read."
        )
    return results


def _file_task(task: RescaleTask, number: int) -> WriteTask:
    return WriteTask(task.instant, task.partition_path, f"{number:08d}{task.file_prefix[8:]}-0", task.write_token)
