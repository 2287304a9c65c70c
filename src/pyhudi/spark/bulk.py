"""A bulk write on Spark: every Spark partition writes its rows into new file groups; the rows cross into Python once, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from pyhudi.kernels.write_task import TaskResult
from pyhudi.spark.parquet_source import read_row_groups, split_source
from pyhudi.spark.task_results import RESULT_SCHEMA, answers, results_of
from pyhudi.write.bulk import BulkWrite, write_stream


def bulk_write(frame: DataFrame, work: BulkWrite, file_prefix: str) -> list[TaskResult]:
    """Write a DataFrame's rows.

    Args:
        frame: The data columns.
        work: The write.
        file_prefix: A UUID's text; the file ids are `<prefix>-<number>` with a number of their own for each task and file.

    Raises:
        SchemaError: a value does not fit its column.
        KeyFieldError: a record key is null, or a partition value is not allowed.
    """
    session, columns = frame.sparkSession, frame.columns
    source = split_source(frame, session.sparkContext.defaultParallelism)

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        number, token = task_identity()
        ids = (f"{file_prefix}-{number * FILES_PER_TASK + n}" for n in range(FILES_PER_TASK))
        return answers(lambda: write_stream(work, number, token, batches, ids.__next__))

    def read_and_write(_: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        assert source is not None, "only run when there is a source"
        return write(read_row_groups(source[task_identity()[0]], columns))

    if source is None:
        answered = frame.mapInArrow(write, RESULT_SCHEMA)
    else:
        answered = session.range(0, len(source), 1, len(source)).mapInArrow(read_and_write, RESULT_SCHEMA)
    return results_of([row.result for row in answered.collect()])


#: Upper bound of the files one task writes; keeps the numbers in file ids apart.
FILES_PER_TASK = 1_000_000


def task_identity() -> tuple[int, str]:
    """Return the number of the running Spark task and its write token `<partition>-<stage>-<attempt>`.

    A repeated attempt has another token, so it never meets the files of the one before; those are found by their markers.
    """
    context = TaskContext.get()
    assert context is not None, "runs inside a Spark task"
    number = context.partitionId()
    return number, f"{number}-{context.stageId()}-{context.taskAttemptId()}"
