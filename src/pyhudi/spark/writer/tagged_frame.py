"""Rows of a distributed write with the file group each belongs to, counted for the plan, then written group by group."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi.errors import KeyFieldError, UsageError
from pyhudi.index.rows import TaggedRows, with_sure_positions
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN, FILE_ID_COLUMN, POSITION_COLUMN
from pyhudi.kernels.merge.dedupe import last_of_each_key, precombine
from pyhudi.kernels.tasks.run_task import GroupTask, run_task
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.markers.marker_route import MarkerRoute
from pyhudi.schema.meta_columns import FILE_NAME, PARTITION_PATH, RECORD_KEY
from pyhudi.spark.engine.task_results import RESULT_SCHEMA, answers, results_of, task_identity
from pyhudi.spark.index_join.duplicate_keys import drop_deleted_duplicates
from pyhudi.spark.index_join.key_columns import named_records, refuse_unmade, with_keys, with_table_types
from pyhudi.spark.index_join.key_search import KeySearch
from pyhudi.spark.index_join.named_rows import locate_updates, named_frame
from pyhudi.spark.index_join.partition_updates import TaggedFrame
from pyhudi.spark.input.small_input import fetch_rows
from pyhudi.spark.jvm.interrupted_jobs import jobs_end_with_call
from pyhudi.spark.jvm.persistence import persisted_until
from pyhudi.spark.writer.merged_changes import changed_rows
from pyhudi.spark.writer.task_routes import Routes, route
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.storage.storage_protocol import Storage
from pyhudi.txn.conflicts.early_detection import ConflictDetector
from pyhudi.write.input.prepare_rows import require_unique
from pyhudi.write.pipeline.write_stage import WriteStage
from pyhudi.write.plan.workload_profile import PartitionProfile, Profile
from pyhudi.write.plan.write_plan import WritePlan, group_of
from pyhudi.write.tagging.change_facts import one_change
from pyhudi.write.tagging.keyless import names_records
from pyhudi.write.tagging.prepped import SliceIndex
from pyhudi.write.tagging.tag import KeyRules, TagOptions, check_moves

_SAMPLE_ROWS = 20_000
_OTHER_ROWS = (
    "the DataFrame gave rows of other partitions when it ran again, as one of a random function or of a limit without order may:"
    " cache() it, then write it. Nothing was written."
)


@dataclass(frozen=True, slots=True)
class SparkBatch:
    """Rows with record key, partition path and file id (null for a new key), kept by Spark, and their counts; see `TaggedBatch`.

    `merges` says that they are the changes of a MERGE.
    """

    stage: WriteStage
    tagging: TagOptions
    rows: DataFrame
    profile: Profile
    late: int = 0
    merges: bool = False
    is_stream: bool = False

    @property
    def partitions(self) -> tuple[str, ...] | None:
        """Those of the request."""
        return self.stage.request.partitions

    def run_tasks(self, plan: WritePlan, markers: MarkerRoute) -> list[TaskResult]:
        """Write the files of a plan, each by the Spark task that its rows are sent to."""
        tasks = tuple(assignment.task for assignment in plan.assignments)
        stage = self.stage
        settings = replace(stage.config.writer, markers=markers)
        work = _Work(stage.lookup.storage, stage.records, settings, self.tagging.rules, tasks, self.merges, plan.detector)

        def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return answers(lambda: _write(work, batches))

        with_routes = route(self.rows, _routes(plan, self.profile))
        return results_of([row.result for row in with_routes.mapInArrow(task, RESULT_SCHEMA).collect()])

    def sample(self) -> list[TaggedRows]:
        """Return some rows without file id, to tell how large a record is."""
        some = fetch_rows(self.rows.drop(FILE_ID_COLUMN, PARTITION_PATH).limit(_SAMPLE_ROWS))
        return [TaggedRows("", (), some)]


@contextlib.contextmanager
def group_rows(stage: WriteStage, frame: DataFrame, tagging: TagOptions) -> Iterator[SparkBatch]:
    """Find the file group of every row and count; Spark keeps the rows until the block ends.

    Raises:
        KeyFieldError: a record key is null or empty, or a partition value is not allowed.
        ConflictError: prepped rows were read from files that are not the newest any more.
    """
    prepped, lookup, tasks = stage.request.prepped, stage.lookup, stage.config.shuffle_tasks
    files = SliceIndex(stage.context.view, stage.request.read_snapshot)
    check_moves(tagging, lookup)
    with jobs_end_with_call(frame.sparkSession.sparkContext), contextlib.ExitStack() as retained:
        if DELETE_COLUMN in frame.columns:
            rows, late = _merge_changes(stage, frame, KeySearch(tagging, replace(lookup, positions=False), retained, tasks))
            rows = persisted_until(retained, rows)
            yield SparkBatch(stage, tagging, rows, _profile(rows, files, begins=False), late, merges=True)
            return
        tagged = TaggedFrame(_locate_rows(frame)) if prepped else _locate(stage, frame, KeySearch(tagging, lookup, retained, tasks))
        rows = persisted_until(retained, _deletes(tagged.rows) if tagging.operation.deletes_rows else tagged.rows)
        profile = _profile(rows, files, begins=tagging.layout is not None and not prepped)
        if tagged.paths is not None and not profile.partitions.keys() <= tagged.paths:
            raise UsageError(_OTHER_ROWS)
        live = rows
        if (
            not prepped
            and tagging.layout is None
            and any(file_slice.logs for part in profile.partitions.values() for file_slice in part.updates)
        ):
            live = drop_deleted_duplicates(rows, replace(lookup, positions=False))
        yield SparkBatch(stage, tagging, live, profile if live is rows else _profile(live, files, begins=False), tagged.late)


def _deletes(rows: DataFrame) -> DataFrame:
    known = [name for name in (RECORD_KEY, PARTITION_PATH, FILE_ID_COLUMN, POSITION_COLUMN) if name in rows.columns]
    return rows.select(*known, F.lit(True).alias(DELETE_COLUMN)).filter(F.col(FILE_ID_COLUMN).isNotNull())


def _merge_changes(stage: WriteStage, frame: DataFrame, search: KeySearch) -> tuple[DataFrame, int]:
    """Return the rows of a MERGE with the file group each belongs to, and how many were late."""
    as_upsert, late = replace(search.tagging, operation=Operation.UPSERT), 0

    def locate(keyed: DataFrame) -> DataFrame:
        nonlocal late
        result = replace(search, tagging=as_upsert).locate(keyed)
        late = result.late
        return drop_deleted_duplicates(result.rows, search.lookup)

    source = persisted_until(search.persisted, frame)  # what the statement's query gives
    return changed_rows(source, stage.table_config, stage.context.instant, locate), late


def _locate(stage: WriteStage, frame: DataFrame, search: KeySearch) -> TaggedFrame:
    """Return the rows of an operation that looks keys up, or makes new records, with the file group each belongs to."""
    tagging, columns = search.tagging, search.lookup.context.incoming_schema
    config, instant = stage.table_config, stage.context.instant
    if names_records(tagging.operation, config):
        named = named_frame(frame, columns, tagging.operation, config)
        return search.locate(named) if tagging.operation is Operation.DELETE else locate_updates(named, search, instant)
    return search.locate(_add_keys(stage, frame, tagging, columns))


def _locate_rows(frame: DataFrame) -> DataFrame:
    """Rows that were just read bring key, partition and file; the file's name is checked before it is trusted."""
    return frame.withColumnRenamed(FILE_NAME, FILE_ID_COLUMN)


def _add_keys(stage: WriteStage, frame: DataFrame, tagging: TagOptions, columns: pa.Schema) -> DataFrame:
    config, instant = stage.table_config, stage.context.instant
    if tagging.operation is not Operation.DELETE:
        typed = with_table_types(frame, columns)
    else:
        typed = named_records(frame, columns, config, anywhere=tagging.index.is_global)
    return with_keys(typed, key_generator(config, instant=instant), instant)


def _profile(rows: DataFrame, slice_index: SliceIndex, *, begins: bool) -> Profile:
    """Return the counts of rows; `begins` when a file id that no file group has is how a new one begins."""
    counted = rows.groupBy(PARTITION_PATH, FILE_ID_COLUMN).agg(F.count("*"), F.count_if(F.col(RECORD_KEY).isNull())).collect()
    refuse_unmade(row[0] for row in counted)
    if any(row[0] is None for row in counted):
        raise UsageError(_OTHER_ROWS)
    if bad := sum(row[3] for row in counted):
        raise KeyFieldError(
            f"{bad} rows have no record key: every key field ({', '.join(slice_index.view.config.record_key_fields)}) is null or empty"
            " there."
        )
    parts: dict[str, PartitionProfile] = {}
    for path, file_id, count, _ in sorted(counted, key=lambda row: (row[0], row[1] or "")):
        part = parts.get(path, PartitionProfile())
        if file_id is None:
            parts[path] = replace(part, inserts=count)
        elif begins and not slice_index.knows(path, file_id):
            parts[path] = replace(part, new_buckets={**part.new_buckets, file_id: count})
        else:
            file_slice = slice_index.slice_of(path, file_id)
            parts[path] = replace(part, updates={**part.updates, file_slice: part.updates.get(file_slice, 0) + count})
    return Profile(parts)


@dataclass(frozen=True, slots=True)
class _Work:
    """What every task knows. Pickles."""

    storage: Storage
    context: RecordContext
    settings: WriterSettings
    rules: KeyRules
    tasks: tuple[GroupTask, ...]
    merges: bool
    detector: ConflictDetector | None = None


def _routes(plan: WritePlan, profile: Profile) -> Routes:
    """Return which task takes what; a located row of a base file names the file, all others the bare file id."""
    base_names = {
        file_slice.group: str(file_slice.base.name)
        for part in profile.partitions.values()
        for file_slice in part.updates
        if file_slice.base
    }
    groups: dict[tuple[str, str], int] = {}
    inserts: dict[str, list[tuple[int, float]]] = {}
    for number, assignment in enumerate(plan.assignments):
        if assignment.updates:
            path, file_id = assignment.task.partition_path, assignment.new_buckets or assignment.task.file_id
            groups[path, file_id] = number
            if (name := base_names.get(FileGroupId(path, file_id))) is not None:
                groups[path, name] = number
        if assignment.inserts:
            inserts.setdefault(assignment.task.partition_path, []).append((number, float(assignment.inserts)))
    shares = {path: [(number, count / sum(c for _, c in counts)) for number, count in counts] for path, counts in inserts.items()}
    return Routes(groups, shares, len(plan.assignments))


def _write(work: _Work, batches: Iterable[pa.RecordBatch]) -> Iterator[TaskResult]:
    number, token = task_identity()
    parts = [batch for batch in batches if batch.num_rows]
    if not parts:
        return
    rows = with_sure_positions(pa.Table.from_batches(parts))
    if work.merges:
        rows = one_change(rows, work.context)
    elif work.rules.operation.deletes_rows:
        rows = last_of_each_key(rows)  # a delete by key has no ordering value
    elif work.rules.precombine:
        rows = precombine(rows, work.context)
    elif work.rules.operation is Operation.UPSERT:
        require_unique(rows, work.rules.combine_option)
    task = work.tasks[number].with_token(token)
    if work.detector is not None:
        work.detector.check(work.storage, [group_of(task)])
    yield from run_task(work.storage, work.context, work.settings, task, rows.drop_columns([PARTITION_PATH]))
