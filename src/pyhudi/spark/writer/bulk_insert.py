"""A bulk write on Spark: every Spark partition writes its rows into new file groups; the rows cross into Python once, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.types import IntegerType, StructField, StructType

from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.spark.engine.task_results import RESULT_SCHEMA, answers, results_of, task_identity
from pyhudi.spark.input.parquet_source import read_row_groups, split_source
from pyhudi.spark.jvm.interrupted_jobs import jobs_end_with_call
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.write.bulk_insert_plan import BulkWrite, write_stream
from pyhudi.write.options.bulk_layout import BulkLayout, SortMode
from pyhudi.write.options.bulk_partitioner import BulkInsertPartitioner, task_numbers

_TASK = "_pyhudi_bulk_task"


def arrange(frame: DataFrame, layout: BulkLayout, config: TableConfig) -> DataFrame:
    """Return a DataFrame with its rows sorted and spread over tasks as a layout wants; the same one where it wants nothing.

    Raises:
        OptionError: a column to sort by does not exist.
    """
    order = layout.order(config, frame.columns)
    if layout.partitioner is not None:
        frame = _spread(frame, layout.name, layout.partitioner, layout.tasks or frame.sparkSession.sparkContext.defaultParallelism)
        return frame.sortWithinPartitions(*order) if order else frame
    spread = config.partition_fields if layout.mode.gathers_partitions else ()
    if layout.mode is SortMode.GLOBAL_SORT and order:
        if layout.tasks is None:
            return frame.orderBy(*order)
        frame = frame.repartitionByRange(layout.tasks, *order)
    elif spread:
        frame = frame.repartition(*spread) if layout.tasks is None else frame.repartition(layout.tasks, *spread)
    elif layout.tasks is not None:
        frame = frame.coalesce(layout.tasks)
    return frame.sortWithinPartitions(*order) if order else frame


def _spread(frame: DataFrame, name: str, partitioner: BulkInsertPartitioner, tasks: int) -> DataFrame:
    """Return the rows in the Spark partitions that a partitioner of the user's says."""

    def number(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.append_column(_TASK, pa.array(task_numbers(name, partitioner, batch, tasks), pa.int32()))

    numbered = frame.mapInArrow(number, StructType([*frame.schema.fields, StructField(_TASK, IntegerType())]))
    return numbered.repartitionById(tasks, F.col(_TASK)).drop(_TASK)


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
    with jobs_end_with_call(session.sparkContext):
        return results_of([row.result for row in answered.collect()])


#: Upper bound of the files one task writes; keeps the numbers in file ids apart.
FILES_PER_TASK = 1_000_000
