"""Tags rows that stay in Spark: keys and file groups by Spark expressions and a join; each file group is written by one Spark task.

The steps of the write are those of every engine (`pyhudi.table.write_pipeline`). Rows cross into Python once, in the task that writes them.
Rules: `SparkUpsertCommitActionExecutor`, `BaseSparkCommitActionExecutor`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import DataFrame

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.index.resolve_index import BatchKeys, is_laid_out_by_keys
from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.markers.marker_route import MarkerRoute
from pyhudi.schema.meta_columns import is_meta_column
from pyhudi.spark.engine.task_engine import SparkEngine
from pyhudi.spark.input.small_input import estimated_rows
from pyhudi.spark.jvm.frame_schema import arrow_schema
from pyhudi.spark.writer.bulk_insert import arrange, bulk_write
from pyhudi.spark.writer.repeated_source import RepeatedSource
from pyhudi.spark.writer.tagged_frame import group_rows
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.table.open_table import OpenTable
from pyhudi.write.input.prepare_rows import require_columns
from pyhudi.write.options.write_config import WriteConfig
from pyhudi.write.pipeline.write_stage import TaggedBatch, WriteStage
from pyhudi.write.plan.workload_profile import Profile
from pyhudi.write.plan.write_plan import WritePlan
from pyhudi.write.tagging.keyless import names_records
from pyhudi.write.tagging.tag import TagOptions

ENGINE_NAME = "spark"


def unserved_write(table: OpenTable, frame: DataFrame, config: WriteConfig) -> str | None:
    """Return why Spark tasks cannot do a write, or None when they can."""
    rules = config.rules
    if rules.operation is Operation.DELETE_PARTITION:
        return "a delete of partitions writes no rows"
    if DELETE_COLUMN in frame.columns:
        return _unserved_merge(table, config)
    if rules.operation is Operation.UPSERT and config.index.is_global and not rules.precombine:
        return "several rows of one key against a global index are served by the local engine only"
    if not table.config.populate_meta_fields and (rules.looks_up or rules.operation.deletes_rows):
        return "virtual keys are looked up by the local engine only"
    if rules.fail_known:
        return "an insert that fails for known keys is served by the local engine only"
    if rules.drop_known and table.config.is_merge_on_read:
        return "which keys of a merge-on-read table still stand is known to the local engine only"
    return None


def _unserved_merge(table: OpenTable, config: WriteConfig) -> str | None:
    """Return why Spark tasks cannot write the changes of a MERGE, or None when they can."""
    if not table.config.populate_meta_fields:
        return "virtual keys are looked up by the local engine only"
    if is_laid_out_by_keys(table.storage, table.config):
        return "new rows of a MERGE are sent to their buckets by the local engine only"
    if config.index.is_global and not table.config.ordering_fields:
        return "without an ordering field a MERGE against a global index is served by the local engine only"
    if table.config.key_generator is KeyGeneratorType.USER_PROVIDED:
        return "a key generator of the user's sees the rows of a MERGE in the local engine only"
    return None


@dataclass(frozen=True, slots=True)
class SparkTagger:
    """The rows of a write in Spark; see `Tagger`. `source` hands them out where the write may be repeated."""

    frame: DataFrame
    reason: str
    source: RepeatedSource | None = None

    @property
    def name(self) -> str:
        """`spark`."""
        return ENGINE_NAME

    @property
    def engine(self) -> LocalEngine:
        """The work of an index outside the join is done by threads of the driver."""
        return LocalEngine()

    @property
    def service_engine(self) -> None:
        """Table services that follow the write run in threads of the driver."""
        return

    @property
    def driver_host(self) -> str:
        """The address by which executors reach the driver."""
        return SparkEngine(self.frame.sparkSession).driver_host

    @property
    def columns(self) -> pa.Schema:
        """The columns of the rows."""
        return arrow_schema(self.frame)

    @contextlib.contextmanager
    def tag(self, stage: WriteStage) -> Iterator[TaggedBatch]:
        """Hand out the rows with the file group of each; see the protocol."""
        tagging = stage.resolve_tagging(self._batch(stage))
        frame = self.frame if self.source is None else self.source.rows()
        if not stage.request.prepped and not stage.request.operation.deletes_rows:
            self._require_columns(stage, tagging)
        if stage.request.operation is Operation.BULK_INSERT and tagging.layout is None:
            yield SparkStream(stage, frame, tagging)
            return
        with group_rows(stage, frame, tagging) as batch:
            yield batch

    def _batch(self, stage: WriteStage) -> BatchKeys:
        return BatchKeys(lambda: estimated_rows(self.frame), stage.context.view.partition_paths(), by_join=True)

    def _require_columns(self, stage: WriteStage, tagging: TagOptions) -> None:
        config, data = stage.table_config, self.columns
        if not names_records(stage.request.operation, config):
            require_columns(data, config.record_key_fields, "a record key field", config)
            require_columns(data, config.partition_fields, "a partition field", config)
        if tagging.looks_up or tagging.precombine:
            require_columns(data, stage.records.ordering_fields, "an ordering field", config)


@dataclass(frozen=True, slots=True)
class SparkStream:
    """Rows of a bulk insert: each Spark partition writes its own to new file groups as they come; see `TaggedBatch`."""

    stage: WriteStage
    frame: DataFrame
    tagging: TagOptions
    profile: Profile = field(default_factory=Profile)
    late: int = 0
    is_stream: bool = True

    @property
    def partitions(self) -> tuple[str, ...] | None:
        """Those of the request."""
        return self.stage.request.partitions

    def sample(self) -> Sequence[TaggedRows]:
        """Return no rows: each task estimates the size of a record from its own."""
        return ()

    def run_tasks(self, plan: WritePlan, markers: MarkerRoute) -> list[TaskResult]:
        """Write the rows; the plan of a stream has no tasks."""
        assert plan.is_stream, "planned for a stream"
        stage, table = self.stage, self.stage.context.table
        work = stage.bulk_write(markers)
        frame = arrange(_data_columns(self.frame), stage.config.bulk, table.config)
        return bulk_write(frame, work, table.ids.file_prefix())


def _data_columns(frame: DataFrame) -> DataFrame:
    """Leave out the meta columns that rows read from a table bring along."""
    return frame.select(*(f"`{name}`" for name in frame.columns if not is_meta_column(name)))
