"""A write whose rows stay in Spark: keys and file groups by Spark expressions and a join, each file group written by one Spark task.

The steps and the plan are those of the local engine (`pyhudi.write`): profile, plan, start, tasks, commit. Rows cross into Python once, in
the task that writes them. Rules: `SparkUpsertCommitActionExecutor`, `BaseSparkCommitActionExecutor`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UnsupportedError
from pyhudi.index.choose_index import asks_record_index
from pyhudi.index.index_protocol import Lookup
from pyhudi.index.key_encoding import with_key_encoding
from pyhudi.index.simple_index import PartitionIndex
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.metadata_table.format.column_types import check_named
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.schema.meta_columns import is_meta_column, without_meta_columns
from pyhudi.service.inline_services import InlineServices
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spark.input.small_input import estimated_rows
from pyhudi.spark.jvm.error_translation import translate_pickling_errors
from pyhudi.spark.jvm.frame_schema import arrow_schema
from pyhudi.spark.writer.bulk_insert import bulk_write
from pyhudi.spark.writer.tagged_frame import GroupedRows, group_rows, write_groups
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.options import resolve
from pyhudi.spec.table.key_generator import KeyGeneratorType
from pyhudi.spec.visibility import Visibility
from pyhudi.table.open_table import OpenTable
from pyhudi.table.write_table import commit, create_layout_files, state_before
from pyhudi.txn.transaction import Transaction, begin
from pyhudi.write.bulk_insert_plan import BulkWrite
from pyhudi.write.input.data_columns import MissingColumns, added_columns
from pyhudi.write.input.prepare_rows import TableSchema, evolve_schema, record_context, require_columns, with_path_columns
from pyhudi.write.local_write import PlanningContext, layout_files, sizing_of
from pyhudi.write.options.index_resolution import is_laid_out_by_keys, lookup_pays, settled
from pyhudi.write.options.write_config import WriteConfig, choose
from pyhudi.write.plan.record_size import record_bytes
from pyhudi.write.plan.replace import replaced_groups
from pyhudi.write.plan.workload_profile import inflight_metadata
from pyhudi.write.plan.write_plan import WritePlan, plan_write
from pyhudi.write.tagging.change_facts import user_columns
from pyhudi.write.write_result import WriteResult, count_results, write_result

ENGINE_NAME = "spark"


@dataclass(frozen=True, slots=True)
class DistributedRequest:
    """What to write; the fields are those of `pyhudi.write.local_write.WriteRequest`."""

    operation: Operation
    frame: DataFrame
    located: bool = False
    partitions: tuple[str, ...] | None = None
    seen: Visibility | None = None
    columns: tuple[str, ...] | None = None


def serves(table: OpenTable, request: DistributedRequest, options: Mapping[str, str]) -> str | None:
    """Return why Spark tasks cannot do this write, or None when they can."""
    if request.operation is Operation.DELETE_PARTITION:
        return "a delete of partitions writes no rows"
    write_config = choose(resolve(options), with_key_encoding(table.storage, table.config), request.operation)
    if DELETE_COLUMN in request.frame.columns:
        return _unserved_merge(table, write_config)
    if write_config.tagging.operation is Operation.UPSERT and write_config.tagging.index.is_global and not write_config.tagging.precombine:
        return "several rows of one key against a global index are served by the local engine only"
    if not table.config.populate_meta_fields and (write_config.tagging.looks_up or request.operation.deletes_rows):
        return "virtual keys are looked up by the local engine only"
    if request.operation is Operation.UPSERT and not table.config.record_key_fields and table.config.is_merge_on_read:
        return "which records of a merge-on-read table without record key still stand is told by the local engine only"
    if write_config.tagging.fail_known:
        return "an insert that fails for known keys is served by the local engine only"
    if write_config.tagging.drop_known and table.config.is_merge_on_read:
        return "which keys of a merge-on-read table still stand is told by the local engine only"
    return None


def _unserved_merge(table: OpenTable, write_config: WriteConfig) -> str | None:
    """Return why Spark tasks cannot write the changes of a MERGE, or None when they can."""
    if not table.config.populate_meta_fields:
        return "virtual keys are looked up by the local engine only"
    if is_laid_out_by_keys(table.storage, table.config):
        return "new rows of a MERGE are sent to their buckets by the local engine only"
    if write_config.tagging.index.is_global and not table.config.ordering_fields:
        return "without an ordering field a MERGE against a global index is served by the local engine only"
    if table.config.key_generator is KeyGeneratorType.USER_PROVIDED:
        return "a key generator of the user's sees the rows of a MERGE in the local engine only"
    return None


@translate_pickling_errors()
def write_distributed(table: OpenTable, request: DistributedRequest, options: Mapping[str, str], reason: str) -> WriteResult:
    """Write a DataFrame's rows in one commit, by Spark tasks.

    Raises:
        UnsupportedError: what `serves` says.
        HudiError: as `pyhudi.table.write_table.write` does.
    """
    started = time.perf_counter()
    if (unserved := serves(table, request, options)) is not None:
        raise UnsupportedError(f"this write cannot be done by Spark tasks: {unserved}; leave pyhudi.engine at auto.")
    resolved = resolve(options)
    write_config = choose(resolved, table.config, request.operation)
    services = InlineServices(table.storage, table.clock, table.ids, resolved)
    services.before_write(table.config)
    with begin(
        table.storage,
        request.operation,
        wait_s=write_config.lock_wait_s,
        clock=table.clock,
        ids=table.ids,
        roll_back=roll_back_failed_writes,
        metadata_table=write_config.metadata_table,
        notes=write_config.notes,
    ) as txn:
        stored, latest = state_before(txn.table)
        schema = _schema_after(stored, request, txn, None if request.located else write_config.missing_columns)
        check_named(write_config.metadata_table.asked_columns, schema.columns, txn.table.config)
        context = record_context(schema, txn.table.config)
        if (
            not request.located
            and (write_config.tagging.looks_up or write_config.tagging.precombine)
            and not request.operation.deletes_rows
        ):
            require_columns(arrow_schema(request.frame), context.ordering_fields, "an ordering field", txn.table.config)
        lookup = Lookup(txn.table.storage, txn.view, LocalEngine(), context)
        write_config = _for_tasks(settled(write_config, lookup, latest), lookup, request.frame)
        layout = write_config.tagging.layout
        if request.operation is Operation.BULK_INSERT and layout is None:
            (plan, results), late = _write_bulk(txn, request, write_config, schema, reason), 0
        else:
            plan, results, late = _write_grouped(txn, request, write_config, schema, lookup, latest, reason)
        nothing = plan.changes_nothing and not results
        committed = None if nothing else commit(txn, plan, results, schema, new_in_logs=layout is not None)
    services.after_commit(txn.table, committed)
    added = added_columns(stored.columns, schema.columns)
    return write_result(committed, plan, count_results(results, late), write_config.tagging, time.perf_counter() - started, added)


def _for_tasks(write_config: WriteConfig, lookup: Lookup, frame: DataFrame) -> WriteConfig:
    """Return the choices with an index that suits Spark's tasks: a record index that nobody named is asked where that costs less."""
    tagging, by_join = write_config.tagging, "Spark's tasks find keys by a join with those of the files"
    if tagging.layout is not None:
        return write_config
    if not asks_record_index(tagging.index):
        return replace(write_config, tagging=replace(tagging, reason=f"{tagging.reason}; {by_join}"))
    if write_config.index.name is not None:
        return replace(write_config, tagging=replace(tagging, reason=f"{tagging.reason}; Spark's tasks ask its file groups"))
    files = [file for path in lookup.view.partition_paths() for file in lookup.view.latest_base_files(path)]
    rows, size = estimated_rows(frame), sum(file.size for file in files)
    counted = f"{tagging.reason}; about {rows} rows, by Spark's estimate, against base files of {size >> 20} MiB"
    if lookup_pays(rows, size):
        return replace(write_config, tagging=replace(tagging, reason=f"{counted}: Spark's tasks ask its file groups"))
    return replace(write_config, tagging=replace(tagging, index=PartitionIndex(), reason=f"{counted}: {by_join}"))


def _schema_after(stored: TableSchema, request: DistributedRequest, txn: Transaction, missing: MissingColumns | None) -> TableSchema:
    columns = user_columns if request.located else without_meta_columns
    config, data = txn.table.config, columns(arrow_schema(request.frame))
    if request.operation.deletes_rows:
        return with_path_columns(stored, data, config)
    require_columns(data, config.record_key_fields, "a record key field", config)
    require_columns(data, config.partition_fields, "a partition field", config)
    return evolve_schema(stored, data, config, missing)


def _write_bulk(
    txn: Transaction, request: DistributedRequest, write_config: WriteConfig, schema: TableSchema, reason: str
) -> tuple[WritePlan, list[TaskResult]]:
    table = txn.table
    context = record_context(schema, table.config)
    generator = key_generator(table.config, instant=txn.instant)
    work = BulkWrite(table.storage, context, write_config.writer, table.config, generator, txn.instant)
    txn.start(None, schema_json=schema.avro_json, history=history_of(schema.columns))
    results = bulk_write(_data_columns(request.frame), work, table.ids.file_prefix())
    return WritePlan(request.operation, (), None, ENGINE_NAME, reason), results


def _data_columns(frame: DataFrame) -> DataFrame:
    """Leave out the meta columns that rows read from a table bring along."""
    return frame.select(*(f"`{name}`" for name in frame.columns if not is_meta_column(name)))


def _write_grouped(
    txn: Transaction,
    request: DistributedRequest,
    write_config: WriteConfig,
    schema: TableSchema,
    lookup: Lookup,
    latest: object,
    reason: str,
) -> tuple[WritePlan, list[TaskResult], int]:
    with group_rows(txn, request.frame, write_config, lookup, located=request.located, seen=request.seen) as grouped:
        plan = _plan(txn, request, write_config, grouped, latest, reason)
        results: list[TaskResult] = []
        if not plan.changes_nothing:
            profile = inflight_metadata(grouped.profile, request.operation)
            txn.start(profile, schema_json=schema.avro_json, history=history_of(schema.columns))
            create_layout_files(txn.table.storage, plan)
            results = write_groups(txn.table.storage, lookup.context, write_config, plan, grouped)
    return plan, results, grouped.late


def _plan(
    txn: Transaction,
    request: DistributedRequest,
    write_config: WriteConfig,
    grouped: GroupedRows,
    latest: object,
    reason: str,
) -> WritePlan:
    partitions = grouped.profile.partitions
    row_bytes = record_bytes(latest, grouped.sample(), write_config.writer, threshold=write_config.size_threshold)  # type: ignore[arg-type]
    return plan_write(
        grouped.profile,
        request.operation,
        txn.instant,
        sizing_of(PlanningContext(txn.table, txn.view, txn.instant), grouped.profile, row_bytes, write_config, request.columns),
        txn.table.ids.file_prefix,
        replaced=replaced_groups(txn.view, request.operation, partitions, request.partitions),
        engine=ENGINE_NAME,
        reason=reason,
        layout_files=layout_files(write_config.tagging, grouped.profile, txn.view),
    )
