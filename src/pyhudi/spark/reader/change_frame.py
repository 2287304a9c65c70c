"""Change data as a DataFrame: read on the driver when its files are small, else by Spark's tasks.

The columns are those of Apache Hudi: `op`, `ts_ms`, `before`, `after`, all text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.cdc.change_rows import CHANGE_SCHEMA, ChangeTask, iter_changes
from pyhudi.read.incremental.cdc_query import ChangeData
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.storage.storage_protocol import Storage

#: Files of so many bytes are read on the driver.
LOCAL_BYTES: Final = 32 << 20
_COLUMNS: Final = "op string, ts_ms string, before string, after string"
_TASK: Final = "task"


def change_frame(session: SparkSession, changes: ChangeData) -> DataFrame:
    """Return the change data as a DataFrame; which files are read is decided now.

    Raises:
        UsageError: files that the images need were cleaned away.
        CorruptTableError: a file is damaged or missing; found when tasks read, it is part of Spark's own error.
    """
    tasks = changes.tasks
    if sum(map(_bytes, tasks)) <= LOCAL_BYTES:
        return session.createDataFrame(changes.to_arrow(), _COLUMNS)
    numbers = session.range(0, len(tasks), 1, len(tasks)).withColumnRenamed("id", _TASK)
    return numbers.mapInArrow(_Read(changes.instant_range.storage, changes.snapshot.context, tasks), _COLUMNS)


@dataclass(frozen=True, slots=True)
class _Read:
    """What a task of Spark does: it gets numbers of tasks, and gives their changes."""

    storage: Storage
    context: RecordContext
    tasks: Sequence[ChangeTask]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(_TASK).to_pylist():
                for table in iter_changes(self.storage, self.context, self.tasks[number]):
                    yield table.cast(CHANGE_SCHEMA)


def _bytes(task: ChangeTask) -> int:
    slices = [one.slice for one in (task.before, task.after) if one is not None]
    return sum(log.size for log in task.logs) + sum(map(_slice_bytes, slices))


def _slice_bytes(file_slice: FileSlice) -> int:
    return (file_slice.base.size if file_slice.base else 0) + sum(log.size for log in file_slice.logs)
