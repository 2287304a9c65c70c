"""From a resizing on the timeline to tasks: the first part of a run, under the table's lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.fsview.checked_logs import with_checksums
from pyhudi.index.index_options import HASH_FIELDS
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.resize_task import ResizeTask
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.service.clustering.clustering_rollback import rollback_run
from pyhudi.service.clustering.pending_clustering_plans import BucketGroup
from pyhudi.service.clustering.revalidate_groups import PlannedBuckets, planned_buckets
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.txn.locked_table import LockedTable
from pyhudi.write.input.prepare_rows import TableSchema, record_context


@dataclass(frozen=True, slots=True)
class StartedResizing:
    """A resizing that is inflight, its tasks, and the Avro schema that its files have, without meta fields."""

    instant: Instant
    groups: tuple[BucketGroup, ...]
    schema_json: str
    context: RecordContext
    tasks: tuple[ResizeTask, ...]


def start(
    table: LockedTable, instant: Instant, groups: tuple[BucketGroup, ...], hash_fields: Sequence[str] | None, merge_bytes: int
) -> StartedResizing:
    """Roll back what an earlier run left, hold the plan against the table, and put the resizing inflight.

    Args:
        table: the table.
        instant: the pending clustering.
        groups: those of its plan.
        hash_fields: the record key fields that are hashed; all when None.
        merge_bytes: how many bytes of a slice's logs a task holds at once.

    Raises:
        UnsupportedError: the table has virtual keys.
        ConflictError: the earlier run is alive, or a bucket was changed since.
        OptionError: a hash field is no field of the record key.
        CorruptTableError: the plan is damaged, or does not fit the hashing metadata.
    """
    fields = _hashed(table.config, hash_fields)
    requested = rollback_run(table, instant, groups)
    planned = planned_buckets(table, instant, groups)
    stored = table_schema(table.storage, table.config, table.timeline)
    context = record_context(TableSchema(stored.columns, stored.avro_json), table.config)
    tasks = _tasks(table, instant, groups, planned, fields, merge_bytes)
    return StartedResizing(table.writer.start(requested), groups, stored.avro_json, context, tasks)


def _hashed(config: TableConfig, given: Sequence[str] | None) -> tuple[str, ...]:
    if not config.populate_meta_fields:
        raise UnsupportedError(f"table {config.name} has virtual keys, which are not hashed: it has no buckets to resize")
    fields = tuple(given or config.record_key_fields)
    if unknown := [field for field in fields if field not in config.record_key_fields]:
        raise OptionError(f"{HASH_FIELDS} names '{unknown[0]}', which is no record key field of table {config.name}")
    return fields


def _tasks(
    table: LockedTable,
    instant: Instant,
    groups: Sequence[BucketGroup],
    planned: PlannedBuckets,
    fields: tuple[str, ...],
    merge_bytes: int,
) -> tuple[ResizeTask, ...]:
    def merges(slices: Sequence[FileSlice]) -> tuple[SliceTask, ...]:
        checked = (with_checksums(table.storage, table.config, table.timeline, file_slice) for file_slice in slices)
        return tuple(SliceTask(file_slice, table.timeline.visibility, table.config.layout) for file_slice in checked)

    tasks = []
    for number, (group, slices) in enumerate(zip(groups, planned.slices, strict=True)):
        hashing = planned.hashing_by_path[group.partition_path]
        buckets = {index: file_id for index, file_id in enumerate(hashing.file_ids) if file_id in group.new_ids}
        path, token = group.partition_path, f"{number}-0-0"
        tasks.append(ResizeTask(instant.requested, path, merges(slices), hashing.values, buckets, fields, token, merge_bytes))
    return tuple(tasks)
