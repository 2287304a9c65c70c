"""Tags rows that are in this process, and writes them by its threads, or by the engine that the caller names."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.engine.engine_protocol import Engine, driver_host
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UsageError
from pyhudi.index.index_protocol import LookupContext
from pyhudi.index.resolve_index import BatchKeys
from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.tasks.run_task import run_task
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.markers.marker_route import MarkerRoute
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.storage_protocol import Storage
from pyhudi.txn.conflicts.early_detection import ConflictDetector
from pyhudi.write.input.prepare_rows import keyed_deletes, keyed_rows, require_columns, with_path_columns
from pyhudi.write.input.sort_rows import sort_rows
from pyhudi.write.input.split_by_partition import split_by_partition
from pyhudi.write.options.bulk_partitioner import task_numbers
from pyhudi.write.pipeline.write_stage import WriteStage
from pyhudi.write.plan.task_route import LoadedTask, load_tasks
from pyhudi.write.plan.workload_profile import Profile, profile_of
from pyhudi.write.plan.write_plan import WritePlan, group_of
from pyhudi.write.tagging import prepped
from pyhudi.write.tagging.change_facts import holds_changes, tag_changes
from pyhudi.write.tagging.keyless import named_rows, names_records, tag_named_updates
from pyhudi.write.tagging.prepped import SliceIndex
from pyhudi.write.tagging.tag import TagOptions, assign_buckets, dedupe_keys, drop_no_op_inserts, tag_rows
from pyhudi.write.tagging.virtual_key_lookup import holds_old_names, with_location

_TASK = "_pyhudi_bulk_task"
IN_THIS_PROCESS = "the rows were in this process already"


@dataclass(frozen=True, slots=True)
class LocalBatch:
    """Rows of this process with the file group of each; see `TaggedBatch`."""

    stage: WriteStage
    engine: Engine
    rows: Sequence[TaggedRows]
    tagging: TagOptions
    profile: Profile
    partitions: tuple[str, ...] | None
    is_stream: bool = False

    @property
    def late(self) -> int:
        """How many rows were left out."""
        return sum(part.late for part in self.rows)

    def sample(self) -> Sequence[TaggedRows]:
        """Return all rows."""
        return self.rows

    def run_tasks(self, plan: WritePlan, markers: MarkerRoute) -> list[TaskResult]:
        """Write the files of the plan; the largest task begins first, or all others would wait for it at the end."""
        tasks = sorted(load_tasks(plan, self.rows), key=lambda loaded: loaded.size, reverse=True)
        settings = replace(self.stage.config.writer, markers=markers)
        run = functools.partial(_run, self.stage.lookup.storage, self.stage.records, settings, plan.detector)
        return [result for of_task in self.engine.run(run, tasks) for result in of_task]


@dataclass(frozen=True, slots=True)
class LocalTagger:
    """The rows of a write in this process, None for a write without; see `Tagger`."""

    data: pa.Table | None
    reason: str = IN_THIS_PROCESS
    engine: Engine = field(default_factory=LocalEngine)

    @property
    def name(self) -> str:
        """The name of the engine."""
        return self.engine.name

    @property
    def service_engine(self) -> Engine:
        """The engine of the write."""
        return self.engine

    @property
    def driver_host(self) -> str | None:
        """That of the engine."""
        return driver_host(self.engine)

    @property
    def columns(self) -> pa.Schema | None:
        """The columns of the rows."""
        return None if self.data is None else self.data.schema

    @contextlib.contextmanager
    def tag(self, stage: WriteStage) -> Iterator[LocalBatch]:
        """Hand out the rows with the file group of each; see the protocol."""
        partitions, rows = stage.request.partitions, list[TaggedRows]()
        if stage.request.operation is Operation.DELETE_PARTITION:
            partitions, tagging = self._partitions_to_delete(stage), stage.resolve_tagging(None)
        elif self.data is None or not self.data.num_rows:
            tagging = stage.resolve_tagging(None)
        else:
            rows, tagging = _tagged(stage, self.data)
        yield LocalBatch(stage, self.engine, rows, tagging, profile_of(rows), partitions)

    def _partitions_to_delete(self, stage: WriteStage) -> tuple[str, ...]:
        """Return the partition paths of a delete of partitions; where the caller names none, those that its rows lie in are meant."""
        if stage.request.partitions is not None:
            return stage.request.partitions
        if self.data is None:
            raise UsageError("A delete of partitions needs their paths.")
        config = stage.table_config
        require_columns(self.data.schema, config.partition_fields, "a partition field", config)
        columns = with_path_columns(stage.stored, self.data.schema, config).columns
        rows = keyed_deletes(self.data, columns, config, stage.context.instant)
        return tuple(part.partition_path for part in split_by_partition(rows))


def _run(
    storage: Storage, context: RecordContext, settings: WriterSettings, detector: ConflictDetector | None, loaded: LoadedTask
) -> list[TaskResult]:
    if detector is not None:
        detector.check(storage, [group_of(loaded.task)])
    return run_task(storage, context, settings, loaded.task, loaded.rows)


def _tagged(stage: WriteStage, data: pa.Table) -> tuple[list[TaggedRows], TagOptions]:
    """Return the rows by where they go, and how that was found."""
    if stage.request.prepped:
        tagging = stage.resolve_tagging(None)
        return assign_buckets(_tagged_located(stage, data, tagging), tagging, stage.lookup), tagging
    if names_records(stage.request.operation, stage.table_config):
        return _tagged_by_names(stage, data)
    data = _laid_out(stage, data)
    keyed = _keyed(stage, data)
    tagging = stage.resolve_tagging(_batch(stage, keyed))
    if stage.request.operation is not Operation.DELETE and (tagging.looks_up or tagging.precombine):
        require_columns(data.schema, stage.records.ordering_fields, "an ordering field", stage.table_config)
    parts = split_by_partition(dedupe_keys(keyed, tagging, stage.records))
    return tag_rows(parts, tagging, stage.records, _with_positions(stage)), tagging


def _with_positions(stage: WriteStage) -> LookupContext:
    """Return where the index looks, which tells the rewrites of base files in which rows it has found the records."""
    lookup = stage.lookup
    return lookup if stage.table_config.is_merge_on_read else replace(lookup, positions=True)


def _laid_out(stage: WriteStage, data: pa.Table) -> pa.Table:
    """Return the rows of a bulk insert in the order that its layout wants; in this process there is one task."""
    layout = stage.config.bulk
    order = layout.order(stage.table_config, data.schema.names)
    if layout.partitioner is None:
        return sort_rows(data, order) if order else data
    tasks = layout.tasks or 1
    numbers = [task_numbers(layout.name, layout.partitioner, batch, tasks) for batch in data.to_batches()]
    if order:
        data = data.append_column(_TASK, pa.chunked_array(numbers, pa.int64()))
        return sort_rows(data, [_TASK, *order]).drop_columns([_TASK])
    return data.take(pa.array(np.argsort(np.concatenate(numbers), kind="stable"))) if numbers else data


def _batch(stage: WriteStage, keyed: pa.Table) -> BatchKeys | None:
    """Return the keys that are looked up, None when none are."""
    if not stage.config.rules.looks_up:
        return None
    paths = pc.unique(keyed.column(PARTITION_PATH)).to_pylist()
    return BatchKeys(lambda: keyed.num_rows, paths)


def _tagged_by_names(stage: WriteStage, data: pa.Table) -> tuple[list[TaggedRows], TagOptions]:
    """Return rows of a table without record key, which name stored records by meta columns, by where they go; and how that was found."""
    operation, config = stage.request.operation, stage.table_config
    named = named_rows(data, stage.records.incoming_schema, operation, config)
    tagging = stage.resolve_tagging(_batch(stage, named))
    keyed = dedupe_keys(named, tagging, stage.records)

    def looked_up(rows: pa.Table) -> list[TaggedRows]:
        return tag_rows(split_by_partition(rows), tagging, stage.records, stage.lookup)

    if operation is Operation.DELETE:
        return looked_up(keyed), tagging
    return tag_named_updates(keyed, key_generator(config, instant=stage.context.instant), looked_up, stage.lookup), tagging


def _tagged_located(stage: WriteStage, data: pa.Table, tagging: TagOptions) -> list[TaggedRows]:
    """Return rows that bring their locations by where they go."""
    context, lookup = stage.context, stage.lookup
    locations = SliceIndex(context.view, stage.request.read_snapshot)
    if stage.request.operation is Operation.DELETE_PREPPED:
        return prepped.tag_deletes(data, locations)
    if holds_old_names(data.schema):
        data = with_location(data, lookup, context.instant)
    if holds_changes(data.schema):
        return tag_changes(data, functools.partial(_rekeyed, stage), tagging, lookup, locations, context.instant)
    return drop_no_op_inserts(prepped.tag_updates(_rekeyed(stage, data), data, locations), lookup.context)


def _keyed(stage: WriteStage, data: pa.Table) -> pa.Table:
    """Return the rows with record key and partition path.

    Raises:
        KeyFieldError: the data lack a column that says where they belong, or a value of one is not allowed.
    """
    config, deletes = stage.table_config, stage.request.operation is Operation.DELETE
    require_columns(data.schema, config.record_key_fields, "a record key field", config)
    if not (deletes and stage.config.index.is_global):
        require_columns(data.schema, config.partition_fields, "a partition field", config)
    keyed = keyed_deletes if deletes else keyed_rows
    return keyed(data, stage.records.incoming_schema, config, stage.context.instant)


def _rekeyed(stage: WriteStage, data: pa.Table) -> pa.Table:
    """Return located rows with the key and partition path that their values give now; generated keys stay as they
    are.
    """
    keyed = keyed_rows(data, stage.records.incoming_schema, stage.table_config, stage.context.instant)
    if stage.table_config.record_key_fields:
        return keyed
    index = keyed.schema.get_field_index(RECORD_KEY)
    return keyed.set_column(index, pa.field(RECORD_KEY, pa.string()), data.column(RECORD_KEY).cast(pa.string()))
