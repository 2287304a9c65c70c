"""A write whose rows are in this process: from the data to loaded tasks, under an open transaction.

Everything up to `plan_local` reads only; a mistake in the data is found before the write is on the timeline.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.index_protocol import Lookup
from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.tasks.run_task import run_task
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.metadata_table.format.column_types import check_named
from pyhudi.schema.meta_columns import RECORD_KEY, without_meta_columns
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.storage_protocol import Storage
from pyhudi.txn.locked_table import LockedTable
from pyhudi.write.input.data_columns import added_columns
from pyhudi.write.input.prepare_rows import (
    TableSchema,
    evolve_schema,
    keyed_deletes,
    keyed_rows,
    record_context,
    require_columns,
    with_path_columns,
)
from pyhudi.write.input.split_by_partition import split_by_partition
from pyhudi.write.options.index_resolution import refined, settled
from pyhudi.write.options.write_config import WriteConfig
from pyhudi.write.plan.record_size import record_bytes
from pyhudi.write.plan.replace import replaced_groups
from pyhudi.write.plan.small_files import insert_candidates
from pyhudi.write.plan.task_route import LoadedTask, load_tasks
from pyhudi.write.plan.workload_profile import Profile, profile_of
from pyhudi.write.plan.write_plan import Sizing, WritePlan, plan_write
from pyhudi.write.tagging import prepped
from pyhudi.write.tagging.change_facts import holds_changes, tag_changes, user_columns
from pyhudi.write.tagging.keyless import named_rows, names_records, tag_named_updates
from pyhudi.write.tagging.prepped import SliceIndex
from pyhudi.write.tagging.tag import TagOptions, assign_buckets, dedupe_keys, drop_no_op_inserts, tag_rows
from pyhudi.write.tagging.virtual_key_lookup import holds_old_names, with_location

IN_THIS_PROCESS = "the rows were in this process already"


@dataclass(frozen=True, slots=True)
class PlanningContext:
    """What planning needs of a write: the table, its files, and the write's time."""

    table: LockedTable
    view: FileSystemView
    instant: str


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What the caller wants. `located` rows bring the meta columns they were read with, `seen` the commits that they were
    read with; `partitions` names those to replace. With `columns`, updates bring these data columns alone
    (`pyhudi.write.input.partial_columns`).
    """

    operation: Operation
    data: pa.Table | None
    located: bool = False
    partitions: tuple[str, ...] | None = None
    seen: Visibility | None = None
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class LocalWrite:
    """A planned write with its rows; `tagging` is how their records were found."""

    schema: TableSchema
    context: RecordContext
    plan: WritePlan
    profile: Profile
    tasks: Sequence[LoadedTask]
    late: int
    tagging: TagOptions
    new_columns: tuple[str, ...] = ()


def plan_local(
    stage: PlanningContext,
    request: WriteRequest,
    write_config: WriteConfig,
    stored: TableSchema,
    latest: CommitMetadata | None,
    engine: Engine,
    reason: str = IN_THIS_PROCESS,
) -> LocalWrite:
    """Return the planned write; nothing is written.

    Args:
        stage: the table, under its lock when the plan is to be carried out.
        request: operation and data.
        write_config: what the options say.
        stored: the table's schema so far.
        latest: the metadata of the commit before, None when there is none.
        engine: looks keys up.
        reason: why that engine.

    Raises:
        UsageError: the data do not fit the table.
        ConflictError: located rows were read from files that are not the newest any more.
    """
    if request.operation is Operation.DELETE_PARTITION:
        request = _of_named_partitions(stage, request, stored)
    schema = stored
    if request.data is not None and request.operation.deletes_rows:
        schema = with_path_columns(stored, request.data.schema, stage.table.config)
    elif request.data is not None:
        columns = user_columns if request.located else without_meta_columns
        missing = None if request.located or not request.data.num_columns else write_config.missing_columns
        schema = evolve_schema(stored, columns(request.data.schema), stage.table.config, missing)
    check_named(write_config.metadata_table.asked_columns, schema.columns, stage.table.config)
    context = record_context(schema, stage.table.config)
    positions = stage.table.config.is_merge_on_read and write_config.writer.log.positions
    lookup = Lookup(stage.table.storage, stage.view, engine, context, positions, write_config.tagging.drop_known)
    write_config = settled(write_config, lookup, latest)
    tagged, tagging = ([], write_config.tagging) if request.data is None else _tagged(stage, request, request.data, write_config, lookup)
    profile = profile_of(tagged)
    row_bytes = record_bytes(latest, tagged, write_config.writer, threshold=write_config.size_threshold)
    sizing = sizing_of(stage, profile, row_bytes, write_config, request.columns)
    plan = plan_write(
        profile,
        request.operation,
        stage.instant,
        sizing,
        stage.table.ids.file_prefix,
        replaced=replaced_groups(stage.view, request.operation, profile.partitions, request.partitions),
        engine=engine.name,
        reason=reason,
        layout_files=layout_files(write_config.tagging, profile, stage.view),
    )
    late = sum(part.late for part in tagged)
    return LocalWrite(
        schema, context, plan, profile, load_tasks(plan, tagged), late, tagging, added_columns(stored.columns, schema.columns)
    )


def layout_files(tagging: TagOptions, profile: Profile, view: FileSystemView) -> Mapping[str, bytes]:
    """Return files of the table, by path, that must stand before the file groups that a write begins."""
    paths = [path for path, part in profile.partitions.items() if part.opened]
    return tagging.layout.files_before(paths, view) if tagging.layout is not None and paths else {}


def sizing_of(
    stage: PlanningContext, profile: Profile, row_bytes: float, write_config: WriteConfig, columns: tuple[str, ...] | None
) -> Sizing:
    """Return what planning must know of a transaction's table; `columns` as in `WriteRequest`."""
    config = stage.table.config
    files = insert_candidates(
        stage.view, profile, row_bytes, write_config.writer, write_config.small_file_candidates, beside_updates=columns is None
    )
    pending = stage.view.pending_compaction if config.is_merge_on_read and config.layout == 1 else None
    compacting = None if pending is None else {group: compaction.instant for group, compaction in pending.items()}
    return Sizing(files, row_bytes, write_config.writer, config.is_merge_on_read, columns, compacting)


def run_tasks(storage: Storage, write: LocalWrite, settings: WriterSettings, engine: Engine) -> list[TaskResult]:
    """Write the files of a planned write; the largest task begins first, or all others would wait for it at the end."""
    tasks = sorted(write.tasks, key=lambda loaded: loaded.size, reverse=True)
    results = engine.run(functools.partial(_run, storage, write.context, settings), tasks)
    return [result for of_task in results for result in of_task]


def _run(storage: Storage, context: RecordContext, settings: WriterSettings, loaded: LoadedTask) -> list[TaskResult]:
    return run_task(storage, context, settings, loaded.task, loaded.rows)


def _tagged(
    stage: PlanningContext, request: WriteRequest, data: pa.Table, write_config: WriteConfig, lookup: Lookup
) -> tuple[list[TaggedRows], TagOptions]:
    """Return the rows by where they go, and how that was found."""
    tagging, context = write_config.tagging, lookup.context
    if data.num_rows == 0:
        return [], tagging
    if request.located:
        return assign_buckets(_tagged_located(stage, request, data, tagging, lookup), tagging, lookup), tagging
    if names_records(request.operation, stage.table.config):
        return _tagged_by_names(stage, request, data, write_config, lookup)
    keyed = dedupe_keys(_keyed(stage, request, data, tagging, context), tagging, context)
    parts = split_by_partition(keyed)
    tagging = refined(tagging, write_config.index, parts, stage.view)
    return tag_rows(parts, tagging, context, lookup), tagging


def _tagged_by_names(
    stage: PlanningContext, request: WriteRequest, data: pa.Table, write_config: WriteConfig, lookup: Lookup
) -> tuple[list[TaggedRows], TagOptions]:
    """Return rows of a table without record key, which name stored records by meta columns, by where they go; and how that was found."""
    tagging, context, config = write_config.tagging, lookup.context, stage.table.config
    keyed = dedupe_keys(named_rows(data, context.incoming_schema, request.operation, config), tagging, context)
    tagging = refined(tagging, write_config.index, split_by_partition(keyed), stage.view)

    def looked_up(rows: pa.Table) -> list[TaggedRows]:
        return tag_rows(split_by_partition(rows), tagging, context, lookup)

    if request.operation is Operation.DELETE:
        return looked_up(keyed), tagging
    return tag_named_updates(keyed, key_generator(config, instant=stage.instant), looked_up, lookup), tagging


def _tagged_located(stage: PlanningContext, request: WriteRequest, data: pa.Table, tagging: TagOptions, lookup: Lookup) -> list[TaggedRows]:
    """Return rows that bring their places by where they go."""
    indices = SliceIndex(stage.view, request.seen)
    if request.operation is Operation.DELETE_PREPPED:
        return prepped.tag_deletes(data, indices)
    if holds_old_names(data.schema):
        data = with_location(data, lookup, stage.instant)
    if holds_changes(data.schema):
        return tag_changes(data, functools.partial(_rekeyed, stage, context=lookup.context), tagging, lookup, indices, stage.instant)
    return drop_no_op_inserts(prepped.tag_updates(_rekeyed(stage, data, lookup.context), data, indices), lookup.context)


def _keyed(stage: PlanningContext, request: WriteRequest, data: pa.Table, tagging: TagOptions, context: RecordContext) -> pa.Table:
    """Return the rows with record key and partition path.

    Raises:
        KeyFieldError: the data lack a column that says where they belong, or a value of one is not allowed.
    """
    config = stage.table.config
    if request.operation is Operation.DELETE:
        require_columns(data.schema, config.record_key_fields, "a record key field", config)
        if not tagging.index.is_global:
            require_columns(data.schema, config.partition_fields, "a partition field", config)
        return keyed_deletes(data, context.incoming_schema, config, stage.instant)
    require_columns(data.schema, config.record_key_fields, "a record key field", config)
    require_columns(data.schema, config.partition_fields, "a partition field", config)
    if tagging.looks_up or tagging.precombine:
        require_columns(data.schema, context.ordering_fields, "an ordering field", config)
    return keyed_rows(data, context.incoming_schema, config, stage.instant)


def _of_named_partitions(stage: PlanningContext, request: WriteRequest, stored: TableSchema) -> WriteRequest:
    """Return a delete of partitions that names them; where the caller does not, those that its rows lie in are meant."""
    partitions = request.partitions
    if partitions is None:
        if request.data is None:
            raise UsageError("A delete of partitions needs their paths.")
        config = stage.table.config
        require_columns(request.data.schema, config.partition_fields, "a partition field", config)
        columns = with_path_columns(stored, request.data.schema, config).columns
        rows = keyed_deletes(request.data, columns, config, stage.instant)
        partitions = tuple(part.partition_path for part in split_by_partition(rows))
    return WriteRequest(request.operation, None, partitions=partitions)


def _rekeyed(stage: PlanningContext, data: pa.Table, context: RecordContext) -> pa.Table:
    """Return located rows with the key and partition path that their values give now; generated keys stay as they
    are.
    """
    keyed = keyed_rows(data, context.incoming_schema, stage.table.config, stage.instant)
    if stage.table.config.record_key_fields:
        return keyed
    index = keyed.schema.get_field_index(RECORD_KEY)
    return keyed.set_column(index, pa.field(RECORD_KEY, pa.string()), data.column(RECORD_KEY).cast(pa.string()))
