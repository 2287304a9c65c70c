"""A write of rows, for every engine: services that are due before - lock - plan - start - tasks - commit - a short clean - unlock - the
other services that are due.

An engine takes part by `pyhudi.write.pipeline.write_stage.Tagger`: `pyhudi.write.pipeline.local_tagger` for rows in this process,
`pyhudi.spark.writer.spark_tagger` for rows in Spark.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Sequence

from pyhudi.errors import AlreadyExistsError
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.clustering.update_strategy import give_way
from pyhudi.service.inline_services import InlineServices
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.extra_metadata import ENGINE_KEY, ENGINE_REASON_KEY, LOG_INSERTS_KEY, WRITER_KEY
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.open_table import OpenTable
from pyhudi.timeline.instant_details import read_commit
from pyhudi.txn.locked_table import TableState
from pyhudi.txn.release import VERSION
from pyhudi.txn.schema_record import record_version
from pyhudi.txn.transaction import Committed, Transaction, begin
from pyhudi.write.input.prepare_rows import TableSchema
from pyhudi.write.options.validate_options import check_agreement
from pyhudi.write.options.write_config import WriteConfig
from pyhudi.write.pipeline.plan_rows import PlannedWrite, plan_rows
from pyhudi.write.pipeline.write_stage import PlanningContext, Tagger, WriteRequest
from pyhudi.write.plan.workload_profile import inflight_metadata
from pyhudi.write.plan.write_plan import WritePlan
from pyhudi.write.write_result import WriteResult, count_results, write_result


def write_rows(table: OpenTable, request: WriteRequest, config: WriteConfig, tagger: Tagger, *, started: float) -> WriteResult:
    """Write rows to a table in one commit; nothing is committed where nothing changes.

    Args:
        table: the table.
        request: what to do with the rows.
        config: what the options say.
        tagger: the rows, and the engine that they are in.
        started: when the caller began, by `time.perf_counter`, for the seconds of the result.

    Raises:
        HudiError: as `pyhudi.table.write_table.write` does.
    """
    services = InlineServices(table.storage, table.clock, table.ids, config.options, tagger.service_engine)
    services.before_write(table.config)
    with (
        begin(
            table.storage,
            request.operation,
            wait_s=config.lock_wait_s,
            clock=table.clock,
            ids=table.ids,
            roll_back=functools.partial(roll_back_failed_writes, settings=config.failed_writes, writes=True),
            metadata_table=config.metadata_table,
            extra_metadata=config.extra_metadata,
            version=table.config.version,
            failed_writes=config.failed_writes,
        ) as txn,
        _planned(table, txn, request, config, tagger) as work,
    ):
        results, committed = _carry_out(txn, request.operation, work, config)
        run_services = services.before_unlock(txn.table, committed, txn.view)
    run_services()
    counts = count_results(results, work.batch.late)
    return write_result(committed, work.plan, counts, work.batch.tagging, time.perf_counter() - started, work.new_columns)


def _planned(
    table: OpenTable, txn: Transaction, request: WriteRequest, config: WriteConfig, tagger: Tagger
) -> contextlib.AbstractContextManager[PlannedWrite]:
    if table.config.key_encoding_is_open:
        check_agreement(config.options, txn.table.config)  # whose files prove now what the properties leave open
    stored, latest = state_before(txn.table)
    return plan_rows(PlanningContext(txn.table, txn.view, txn.instant), stored, latest, request, config, tagger)


def _carry_out(
    txn: Transaction, operation: Operation, work: PlannedWrite, config: WriteConfig
) -> tuple[list[TaskResult], Committed | None]:
    """Run the tasks of a plan and commit what they wrote; no commit where nothing changes."""
    if work.plan.changes_nothing:
        return [], None
    profile = None if operation is Operation.BULK_INSERT else inflight_metadata(work.batch.profile, operation)
    txn.table = give_way(txn.table, work.plan.changed_groups, work.plan.replaced_groups, config.options)
    txn.start(profile, schema_json=work.schema.avro_json, history=history_of(work.schema.columns))
    _create_layout_files(txn.table.storage, work.plan)
    results = work.batch.run_tasks(work.plan)
    if work.plan.is_stream and not results:
        return results, None
    return results, commit(txn, work.plan, results, work.schema, new_in_logs=work.batch.tagging.layout is not None)


def state_before(table: TableState) -> tuple[TableSchema, CommitMetadata | None]:
    """Return the table's schema and its last commit, as of its timeline."""
    last = table.timeline.last_completed()
    latest = None if last is None else read_commit(table.storage, table.config, last)
    stored = table_schema(table.storage, table.config, table.timeline, latest)
    return TableSchema(stored.columns, stored.avro_json), latest


def _create_layout_files(storage: Storage, plan: WritePlan) -> None:
    """Write the files that a plan's data need; one that exists has the same content."""
    for path, content in plan.layout_files.items():
        with contextlib.suppress(AlreadyExistsError):
            storage.create(path, content)


def commit(
    txn: Transaction, plan: WritePlan, results: Sequence[TaskResult], schema: TableSchema, *, new_in_logs: bool = False
) -> Committed:
    """Make a planned write visible; its metadata say which engine ran, and why, and whether logs may begin records."""
    extra_metadata = {WRITER_KEY: VERSION, ENGINE_KEY: plan.engine, ENGINE_REASON_KEY: plan.reason}
    if new_in_logs and txn.table.config.is_merge_on_read:
        extra_metadata[LOG_INSERTS_KEY] = "true"
    extra_metadata |= record_version(txn.table, txn.instant, schema.columns)
    history = history_of(schema.columns)
    return txn.commit(results, schema_json=schema.avro_json, history=history, replaced=plan.replaced, extra_metadata=extra_metadata)
