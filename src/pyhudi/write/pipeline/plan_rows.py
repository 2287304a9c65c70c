"""From a request to a plan, for every engine: schema, index, tagging, counts, plan. Nothing is written.

What is wrong with options or data is found here, before the write is on the timeline.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from pyhudi.errors import OptionError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.fsview.unmerged_logs import check_merged
from pyhudi.index.bucket_numbers import shared_file_id
from pyhudi.index.index_protocol import LookupContext
from pyhudi.kernels.arrays.event_times import has_event_time
from pyhudi.metadata_table.format.column_types import check_named
from pyhudi.schema.meta_columns import without_meta_columns
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.files.file_names import stage_of_logs
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.timeline.pending_clustering import clustered_groups
from pyhudi.write.input.data_columns import added_columns, widened_columns
from pyhudi.write.input.prepare_rows import TableSchema, evolve_schema, record_context, with_path_columns
from pyhudi.write.input.stated_columns import stated_schema
from pyhudi.write.options.write_config import EVENT_TIME_FIELD, WriteConfig
from pyhudi.write.pipeline.write_stage import PlanningContext, TaggedBatch, Tagger, WriteRequest, WriteStage
from pyhudi.write.plan.insert_placement import insert_candidates, record_bytes
from pyhudi.write.plan.replace import replaced_groups
from pyhudi.write.plan.workload_profile import Profile
from pyhudi.write.plan.write_plan import Sizing, WritePlan, plan_write
from pyhudi.write.tagging.change_facts import user_columns
from pyhudi.write.tagging.tag import TagOptions


@dataclass(frozen=True, slots=True)
class PlannedWrite:
    """A write with everything decided: the table's schema before it and after it, its tagged rows and the plan of its tasks."""

    stored: TableSchema
    schema: TableSchema
    batch: TaggedBatch
    plan: WritePlan
    new_columns: tuple[str, ...]
    widened_columns: tuple[str, ...]


@contextlib.contextmanager
def plan_rows(
    context: PlanningContext,
    stored: TableSchema,
    latest: CommitMetadata | None,
    request: WriteRequest,
    config: WriteConfig,
    tagger: Tagger,
) -> Iterator[PlannedWrite]:
    """Hand out the planned write; its rows are kept until the block ends.

    Args:
        context: the table, under its lock when the plan is to be carried out.
        stored: the table's schema so far.
        latest: the metadata of the commit before, None when there is none.
        request: what to write.
        config: what the options say.
        tagger: the rows.

    Raises:
        UsageError: options or data do not fit the table.
        ConflictError: located rows were read from files that are not the newest any more.
        UnsupportedError: the table is copy-on-write, and has rows in log files.
    """
    stage = _stage(context, stored, latest, request, config, tagger)
    with tagger.tag(stage) as batch:
        before, after = stored.columns, stage.schema.columns
        widened = tuple(column.path for column in widened_columns(before, after))
        yield PlannedWrite(stored, stage.schema, batch, _plan(stage, batch, tagger), added_columns(before, after), widened)


def _stage(
    context: PlanningContext,
    stored: TableSchema,
    latest: CommitMetadata | None,
    request: WriteRequest,
    config: WriteConfig,
    tagger: Tagger,
) -> WriteStage:
    table = context.table
    schema = _schema_after(stored, tagger.columns, request, config, table.config)
    check_named(config.metadata_table.named_columns, schema.columns, table.config)
    positions = table.config.is_merge_on_read and config.writer.log.positions
    records = replace(record_context(schema, table.config), event_time_field=_event_time_field(schema, config))
    lookup = LookupContext(table.storage, context.view, tagger.engine, records, positions, config.rules.drop_known)
    return WriteStage(context, request, config, stored, schema, latest, lookup)


def _event_time_field(schema: TableSchema, config: WriteConfig) -> str | None:
    """Return the field of event times, None where they are not tracked.

    Raises:
        OptionError: the table has no such field, or it holds no times.
    """
    name = config.event_time_field
    if name is not None and not has_event_time(schema.columns, name):
        columns = ", ".join(schema.columns.names)
        raise OptionError(f"{EVENT_TIME_FIELD}={name} is no column of numbers, text, timestamps or dates; the columns are {columns}.")
    return name


def _schema_after(
    stored: TableSchema, columns: pa.Schema | None, request: WriteRequest, config: WriteConfig, table: TableConfig
) -> TableSchema:
    """Return the schema of the table after a write of rows with these columns."""
    if columns is None or request.operation is Operation.DELETE_PARTITION:
        return stored
    if request.operation.deletes_rows:
        return with_path_columns(stored, columns, table)
    data = user_columns(columns) if request.prepped else stated_schema(without_meta_columns(columns), config.stated_columns)
    return evolve_schema(stored, data, table, None if request.prepped or not columns.names else config.missing_columns)


def _plan(stage: WriteStage, batch: TaggedBatch, tagger: Tagger) -> WritePlan:
    context, operation, profile = stage.context, stage.request.operation, batch.profile
    if batch.is_stream:
        return WritePlan(operation, (), None, tagger.name, tagger.reason, is_stream=True)
    if not (stage.table_config.is_merge_on_read or operation.replaces or operation is Operation.BULK_INSERT):
        check_merged(context.view, profile.partitions, f"a write of operation {operation} is refused")
    row_bytes = record_bytes(stage.latest, batch.sample(), stage.config.writer, threshold=stage.config.size_threshold)
    return plan_write(
        profile,
        operation,
        context.instant,
        _sizing(stage, profile, row_bytes),
        context.table.ids.file_prefix,
        replaced=replaced_groups(context.view, operation, profile.partitions, batch.partitions),
        engine=tagger.name,
        reason=tagger.reason,
        layout_files=_layout_files(batch.tagging, profile, context.view),
    )


def _sizing(stage: WriteStage, profile: Profile, row_bytes: float) -> Sizing:
    """Return what planning must know of the table's files."""
    config, view, columns = stage.config, stage.context.view, stage.request.columns
    table = stage.context.table
    settings = config.writer.bounded_by_rows(row_bytes)
    files = insert_candidates(
        view,
        profile,
        row_bytes,
        settings,
        config.small_file_candidates,
        allow_updated_groups=columns is None,
        clustered=clustered_groups(table.storage, table.config, table.timeline),
    )
    is_merge_on_read = stage.table_config.is_merge_on_read
    pending = view.pending_compaction if is_merge_on_read and stage.table_config.layout == 1 else None
    compacting = None if pending is None else {group: compaction.instant for group, compaction in pending.items()}
    shared_ids = _shared_ids(profile, view) if config.concurrency.is_non_blocking else None
    log_stage = stage_of_logs(stage.context.instant) if pending is not None and config.concurrency.has_several_writers else 0
    return Sizing(files, row_bytes, settings, is_merge_on_read, columns, compacting, shared_ids, log_stage)


def _shared_ids(profile: Profile, view: FileSystemView) -> Mapping[tuple[str, str], str]:
    """Return the file ids of the buckets that begin with a write, by partition path and beginning: all writers give a bucket the same."""
    return {
        (path, beginning): shared_file_id(beginning, path, view.replaced)
        for path, part in profile.partitions.items()
        for beginning in part.new_buckets
    }


def _layout_files(tagging: TagOptions, profile: Profile, view: FileSystemView) -> Mapping[str, bytes]:
    """Return files of the table, by path, that must be written before the file groups that a write begins."""
    paths = [path for path, part in profile.partitions.items() if part.new_buckets]
    return tagging.layout.required_files(paths, view) if tagging.layout is not None and paths else {}
