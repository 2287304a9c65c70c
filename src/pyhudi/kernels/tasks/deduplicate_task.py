"""One task of a deduplication: the rows of some file slices of a partition, one for each record key, as new base files.

Commit time and sequence number of the rows stay. Memory grows with the keys of the slices alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.merge.retained_rows import KEY_COLUMNS, DuplicateRule, retained_rows
from pyhudi.kernels.tasks.rewrite_task import RewriteTask, RollingFiles, rows_of_slices
from pyhudi.kernels.tasks.write_task import TaskResult

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


def run_deduplicate_task(
    storage: Storage, context: RecordContext, settings: WriterSettings, rule: DuplicateRule, task: RewriteTask
) -> list[TaskResult]:
    """Write the files and say what was done.

    Raises:
        CorruptTableError: a file of the slices is damaged.
        UsageError: as in `retained_rows`.
    """
    ensure_partition(storage, task.partition_path, task.instant)
    keys = pa.concat_tables(part.select(KEY_COLUMNS) for part in rows_of_slices(storage, context, task, KEY_COLUMNS))
    retained = retained_rows(keys, rule)
    rows, begin = int(retained.sum()), 0
    with RollingFiles(storage, context, settings, task, -(-rows // task.files)) as files:
        for part in rows_of_slices(storage, context, task):
            files.append(part.filter(pa.array(retained[begin : begin + part.num_rows])))
            begin += part.num_rows
    written = sum(result.stat.num_writes or 0 for result in files.results)
    if (begin, written) != (len(retained), rows):  # nothing is committed then
        raise CorruptTableError(
            f"the slices that {task.instant} rewrites in partition '{task.partition_path}' of table {storage.uri} gave {len(retained)} keys"
            f" and {begin} rows; {rows} were to stay and {written} were written."
        )
    return files.results
