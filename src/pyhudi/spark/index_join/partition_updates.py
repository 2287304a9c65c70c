"""Rows of a global index on Spark: those whose record may be in another partition are routed by
`pyhudi.write.tagging.global_index_routing`.

Most rows find their record in their own partition, or none at all: they are as those of any index. The keys of all others, and keys that
come with several partitions, are few: their rows become one a key, each slice that holds some of them says which records stand and which
rows are late, by a task that reads it, and the index routes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.pandas.types import from_arrow_schema

from pyhudi.index.global_index import GlobalIndex, RecordState, StoredRecordState
from pyhudi.index.index_protocol import LookupContext
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN, FILE_ID_COLUMN, POSITION_COLUMN
from pyhudi.kernels.merge.dedupe import last_of_each_key
from pyhudi.schema.field_paths import head_columns
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spark.engine.task_results import task_identity
from pyhudi.spark.index_join.key_join import STORED_PATH
from pyhudi.spark.jvm.persistence import persisted_until
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.write.tagging.global_index_routing import HIT_SCHEMA, HITS, IS_LIVE, LATE, ROUTE_SCHEMA, SLICE, WINS, evaluate_hits, route_rows
from pyhudi.write.tagging.tag import TagOptions, dedupe_keys

#: Rows of keys that move become one a key so many at a time.
_ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True)
class TaggedFrame:
    """Rows with the file group they go to, null for a new record; `_pyhudi_delete` where some leave one. `late` rows were left out.
    `paths` are the partitions that were looked into, None for all.
    """

    rows: DataFrame
    late: int = 0
    paths: frozenset[str] | None = None


def route_partition_moves(
    joined: DataFrame, index: GlobalIndex, tagging: TagOptions, lookup: LookupContext, persisted: contextlib.ExitStack
) -> TaggedFrame:
    """Return rows by where they go, from the places of their keys in all partitions.

    Args:
        joined: keyed rows, one for each place of a key: with its partition, file id, and position when `lookup` wants that.
        index: decides.
        tagging: how rows of one key become one.
        lookup: what the index may ask.
        persisted: Spark keeps rows until it is closed.

    Raises:
        SchemaError: an ordering field is missing or has no order.
    """
    if not lookup.view.config.partition_fields:
        return TaggedFrame(joined.drop(STORED_PATH))
    joined = persisted_until(persisted, joined)
    keys = persisted_until(persisted, _keys_in_other_partitions(joined))
    if not keys.take(1):
        return TaggedFrame(joined.drop(STORED_PATH))
    location_columns = [name for name in (FILE_ID_COLUMN, POSITION_COLUMN, STORED_PATH) if name in joined.columns]
    rows = joined.join(keys, RECORD_KEY, "left_semi")
    single = persisted_until(persisted, one_a_key(rows.drop(*location_columns), tagging, lookup))
    routes = persisted_until(persisted, _routes(single, rows.select(RECORD_KEY, *location_columns), index, tagging, lookup))
    late = routes.agg(F.sum(LATE)).head()[0] or 0  # type: ignore[index] # an aggregate without groups has a row
    arrived = single.drop(PARTITION_PATH).join(routes.drop(LATE), RECORD_KEY)
    others = joined.join(keys, RECORD_KEY, "left_anti").drop(STORED_PATH).withColumn(DELETE_COLUMN, F.lit(False))
    return TaggedFrame(others.unionByName(arrived.select(*(f"`{name}`" for name in others.columns))), int(late))


def live_records(location_columns: DataFrame, lookup: LookupContext) -> DataFrame | None:
    """Return partition path and key of the rows whose record is in the slice that they go to, as a reader of now sees it.

    Args:
        location_columns: rows with record key, partition path and file id, kept by Spark.
        lookup: what an index may ask.

    Returns:
        None where no slice has logs: then all records of the slices are live.
    """
    locations = (F.col(PARTITION_PATH).alias(STORED_PATH), FILE_ID_COLUMN, F.lit(None).cast("long").alias(POSITION_COLUMN))
    hits = location_columns.filter(F.col(FILE_ID_COLUMN).isNotNull()).select(RECORD_KEY, *locations).distinct()
    file_slices = _slices_of(hits, lookup)
    if not any(file_slice.logs for file_slice in file_slices):
        return None
    evaluate = _hit_evaluator(file_slices, StoredRecordState(lookup, ()))
    numbered = _number_slices(hits, file_slices).repartitionById(len(file_slices), SLICE)
    answers = numbered.mapInArrow(evaluate, from_arrow_schema(HIT_SCHEMA)).filter(F.col(IS_LIVE))
    paths = _slice_numbers(location_columns.sparkSession, file_slices).select(SLICE, F.col(STORED_PATH).alias(PARTITION_PATH))
    return answers.join(F.broadcast(paths), SLICE).select(PARTITION_PATH, RECORD_KEY).distinct()


def _keys_in_other_partitions(joined: DataFrame) -> DataFrame:
    """Return the keys that are in another partition than their row's, and those that come with several partitions."""
    path = F.col(PARTITION_PATH)
    several = F.min(path) < F.max(path)
    others = F.coalesce(F.bool_or(F.col(STORED_PATH) != path), F.lit(False))
    return joined.groupBy(RECORD_KEY).agg((several | others).alias(LATE)).filter(F.col(LATE) & F.col(RECORD_KEY).isNotNull()).drop(LATE)


def one_a_key(rows: DataFrame, tagging: TagOptions, lookup: LookupContext) -> DataFrame:
    """Return one row for each key, by the rule of the table."""
    context, deletes = lookup.context, tagging.operation is Operation.DELETE

    def reduce(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for run in _runs_of_keys(batches):
            single = last_of_each_key(run, within_partition=False) if deletes else dedupe_keys(run, tagging, context)
            yield from single.select(run.schema.names).cast(run.schema).to_batches()

    return rows.repartition(RECORD_KEY).sortWithinPartitions(RECORD_KEY).mapInArrow(reduce, rows.schema)


def _runs_of_keys(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield rows that come sorted by key some at a time, those of one key together."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(part.num_rows for part in waiting) >= _ROWS_AT_ONCE:
            rows = pa.Table.from_batches(waiting)
            keys = rows.column(RECORD_KEY)
            last = pc.index(keys, keys[-1]).as_py()
            if last:
                yield rows.slice(0, last)
            waiting = rows.slice(last).to_batches()
    if waiting:
        yield pa.Table.from_batches(waiting)


def _routes(single: DataFrame, locations: DataFrame, index: GlobalIndex, tagging: TagOptions, lookup: LookupContext) -> DataFrame:
    """Return where the rows of keys go: the columns of `ROUTE_SCHEMA`."""
    hits = locations.filter(F.col(FILE_ID_COLUMN).isNotNull())
    if POSITION_COLUMN not in locations.columns:
        hits = hits.withColumn(POSITION_COLUMN, F.lit(None).cast("long"))
    file_slices = _slices_of(hits, lookup)
    record_state = index.record_state(lookup) if tagging.operation is Operation.UPSERT else StoredRecordState(lookup, ())
    verdicts = _evaluate_hits(single, _number_slices(hits.distinct(), file_slices), file_slices, record_state)
    known = verdicts.groupBy(RECORD_KEY).agg(F.collect_list(F.struct(*verdicts.columns[1:])).alias(HITS))
    requested_rows = single.select(RECORD_KEY, PARTITION_PATH).join(known, RECORD_KEY, "left")

    def send(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from route_rows(index, pa.Table.from_batches([batch]), file_slices, positions=lookup.positions).to_batches()

    return requested_rows.mapInArrow(send, from_arrow_schema(ROUTE_SCHEMA))


def _slices_of(hits: DataFrame, lookup: LookupContext) -> tuple[FileSlice, ...]:
    """Return the slices that hold some of the keys, in the order of the table."""
    named = {(row[0], row[1]) for row in hits.select(STORED_PATH, FILE_ID_COLUMN).distinct().collect()}
    paths = sorted({path for path, _ in named})
    return tuple(
        file_slice for path in paths for file_slice in lookup.view.latest_slices(path) if (path, file_slice.group.file_id) in named
    )


def _number_slices(hits: DataFrame, file_slices: Sequence[FileSlice]) -> DataFrame:
    numbers = _slice_numbers(hits.sparkSession, file_slices)
    return hits.join(F.broadcast(numbers), [STORED_PATH, FILE_ID_COLUMN]).select(RECORD_KEY, SLICE, POSITION_COLUMN)


def _slice_numbers(spark: SparkSession, file_slices: Sequence[FileSlice]) -> DataFrame:
    columns = {
        STORED_PATH: pa.array([file_slice.group.partition_path for file_slice in file_slices], pa.string()),
        FILE_ID_COLUMN: pa.array([file_slice.group.file_id for file_slice in file_slices], pa.string()),
        SLICE: pa.array(range(len(file_slices)), pa.int32()),
    }
    return spark.createDataFrame(pa.table(columns))


def _evaluate_hits(single: DataFrame, hits: DataFrame, file_slices: Sequence[FileSlice], record_state: StoredRecordState) -> DataFrame:
    """Return what the slices say of the keys that they hold: the columns of `HIT_SCHEMA`."""
    if not file_slices or not (record_state.ordering_fields or any(file_slice.logs for file_slice in file_slices)):
        return hits.withColumns({IS_LIVE: F.lit(True), WINS: F.lit(True)})
    rows = single.select(RECORD_KEY, *(f"`{name}`" for name in head_columns(record_state.ordering_fields))).join(hits, RECORD_KEY)
    evaluate = _hit_evaluator(file_slices, record_state)
    return rows.repartitionById(len(file_slices), SLICE).mapInArrow(evaluate, from_arrow_schema(HIT_SCHEMA))


def _hit_evaluator(
    file_slices: Sequence[FileSlice], record_state: RecordState
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def evaluate(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts = [batch for batch in batches if batch.num_rows]
        if parts:
            number = task_identity()[0]
            rows = pa.Table.from_batches(parts).drop_columns([SLICE])
            yield from evaluate_hits(rows, number, file_slices[number], record_state).to_batches()

    return evaluate
