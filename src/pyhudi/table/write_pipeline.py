"""A write of rows, for every engine: services that are due before - lock - plan - start - tasks - commit - a short clean - unlock - the
other services that are due.

An engine takes part by `pyhudi.write.pipeline.write_stage.Tagger`: `pyhudi.write.pipeline.local_tagger` for rows in this process,
`pyhudi.spark.writer.spark_tagger` for rows in Spark.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from pyhudi.errors import AlreadyExistsError
from pyhudi.index.bucket_validation import check_buckets_of_others
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.locks.choose_lock import unprovided, with_lock_provider
from pyhudi.markers.choose_markers import markers_of
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.clustering.update_strategy import give_way, refuse_to_roll_back
from pyhudi.service.inline_services import InlineServices
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.extra_metadata import ENGINE_KEY, ENGINE_REASON_KEY, LOG_INSERTS_KEY, WRITER_KEY
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.agreed_schema import agreed_schema
from pyhudi.table.open_table import OpenTable
from pyhudi.table.validation.run_validators import check_engine, run_validators
from pyhudi.table.write_retry import repeated
from pyhudi.timeline.instant_details import read_commit
from pyhudi.txn.completing_write import CompletingWrite, KeyScope
from pyhudi.txn.conflicts.checked_markers import checked_markers
from pyhudi.txn.locked_table import TableState
from pyhudi.txn.optimistic import OptimisticTransaction, begin_optimistic
from pyhudi.txn.release import VERSION
from pyhudi.txn.rolling_metadata import NOT_ROLLING, RollingMetadata
from pyhudi.txn.schema_record import record_version
from pyhudi.txn.transaction import Committed, Transaction, begin
from pyhudi.write.input.prepare_rows import TableSchema, record_context
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
    check_engine(config.validators)
    services = InlineServices(table.storage, table.clock, table.ids, config.options, tagger.service_engine)
    services.before_write(table.config)
    if config.concurrency.has_several_writers:
        refuse_to_roll_back(config.options)
    retries = 0 if request.prepped else config.concurrency.retries  # what was read is read again, by `repeated_change`
    work, results, committed, run_services = repeated(lambda: _write_once(table, request, config, tagger, services), retries)
    failures = run_services()
    counts = count_results(results, work.batch.late)
    result = write_result(committed, work.plan, counts, work.batch.tagging, time.perf_counter() - started)
    if committed is None:
        return result
    return replace(result, new_columns=work.new_columns, widened_columns=work.widened_columns, failed_services=failures)


def _write_once(
    table: OpenTable, request: WriteRequest, config: WriteConfig, tagger: Tagger, services: InlineServices
) -> tuple[PlannedWrite, list[TaskResult], Committed | None, Callable[[], tuple[str, ...]]]:
    """Tag, plan, write and commit the rows; the services that are due are to be called without the lock."""
    with _begin(table, request.operation, config) as txn, _planned(table, txn, request, config, tagger) as work:
        return work, *_carry_out(txn, request, work, config, tagger, services)


def _begin(table: OpenTable, operation: Operation, config: WriteConfig) -> contextlib.AbstractContextManager[Transaction]:
    storage = with_lock_provider(table.storage, config.options)
    if config.early_detection is not None:
        config.early_detection.group_locks(storage)  # refuses a provider without them before anything is written
    begin_write = functools.partial(
        functools.partial(begin_optimistic, concurrency=config.concurrency)
        if config.concurrency.has_several_writers
        else functools.partial(begin, instant=config.instant),
        storage,
        operation,
        wait_s=config.lock_wait_s,
        clock=table.clock,
        ids=table.ids,
        roll_back=functools.partial(roll_back_failed_writes, settings=config.failed_writes, writes=True),
        metadata_table=config.metadata_table,
        extra_metadata=config.extra_metadata,
        version=table.config.version,
        failed_writes=config.failed_writes,
    )
    return begin_write()


def _planned(
    table: OpenTable, txn: Transaction, request: WriteRequest, config: WriteConfig, tagger: Tagger
) -> contextlib.AbstractContextManager[PlannedWrite]:
    if table.config.key_encoding_is_open:
        check_agreement(config.options, txn.table.config)  # whose files prove now what the properties leave open
    stored, latest = state_before(txn.table)
    return plan_rows(PlanningContext(txn.table, txn.view, txn.instant), stored, latest, request, config, tagger)


def _carry_out(
    txn: Transaction, request: WriteRequest, work: PlannedWrite, config: WriteConfig, tagger: Tagger, services: InlineServices
) -> tuple[list[TaskResult], Committed | None, Callable[[], tuple[str, ...]]]:
    """Run the tasks of a plan, commit what they wrote, and clean what is soon done; no commit where nothing changes."""
    operation, tagging = request.operation, work.batch.tagging
    if work.plan.changes_nothing and not config.commits_empty:
        return [], None, tuple
    if isinstance(txn, OptimisticTransaction):
        txn.check_buckets(is_bucketed=tagging.layout is not None, is_consistent=tagging.layout is not None and tagging.layout.is_consistent)
    profile = None if operation is Operation.BULK_INSERT else inflight_metadata(work.batch.profile, operation)
    txn.table = give_way(txn.table, work.plan.changed_groups, work.plan.replaced_groups, config.options)
    txn.start(profile, schema_json=work.schema.avro_json, history=history_of(work.schema.columns))
    _create_layout_files(txn.table.storage, work.plan)
    plan = _with_detector(txn, work, config)
    with markers_of(unprovided(txn.table.storage), txn.instant, config.markers, tagger.driver_host) as markers:
        results = work.batch.run_tasks(plan, checked_markers(markers, plan.detector, txn.table.storage))
    if work.plan.is_stream and not results and not config.commits_empty:
        return results, None, tuple
    by_bucket = tagging.layout is not None
    completing = CompletingWrite(
        results, work.plan.replaced, by_bucket, _key_scope(txn.table.config, request, work), _in_any_order(request, config)
    )
    with txn.completing(completing):
        schema = work.schema
        if isinstance(txn, OptimisticTransaction):
            schema = agreed_schema(txn, work.stored, state_before(txn.table)[0], schema)
            _check_begun_buckets(txn, work)
        run_validators(config.validators, txn, results, (work.stored, schema), work.plan.replaced)
        committed = commit(txn, work.plan, results, schema, new_in_logs=by_bucket, rolling=config.rolling)
        return results, committed, services.before_unlock(txn.table, committed, txn.view)


def _with_detector(txn: Transaction, work: PlannedWrite, config: WriteConfig) -> WritePlan:
    """Return the plan with what detects conflicts before each of its tasks writes, where the options ask for that.

    Raises:
        WriteConflictError: another writer is at work on one of its file groups already.
    """
    if config.early_detection is None or not isinstance(txn, OptimisticTransaction):
        return work.plan
    detector = txn.detector(config.early_detection, by_bucket=work.batch.tagging.layout is not None)
    detector.check(txn.table.storage, work.plan.groups)
    return replace(work.plan, detector=detector)


def _check_begun_buckets(txn: OptimisticTransaction, work: PlannedWrite) -> None:
    """See that others, which may have begun the same partitions meanwhile, have the same buckets.

    Raises:
        OptionError: they have others.
    """
    layout, profile = work.batch.tagging.layout, work.batch.profile
    if layout is not None and txn.has_been_overtaken:
        check_buckets_of_others(layout, txn.view, [path for path, part in profile.partitions.items() if part.new_buckets])


def _in_any_order(request: WriteRequest, config: WriteConfig) -> bool:
    """Tell whether a write may complete on top of others to the same file groups: not when its rows, or which of them it writes, were
    decided from what it had read, and not when it begins base files.
    """
    reads = request.prepped or config.rules.drop_known or config.rules.fail_known
    return config.concurrency.is_non_blocking and not reads and request.operation is not Operation.BULK_INSERT


def _key_scope(config: TableConfig, request: WriteRequest, work: PlannedWrite) -> KeyScope | None:
    """Return where keys may be once; None where the key decides on the bucket, or a key may be in the table more than once."""
    tagging = work.batch.tagging
    looks_up = tagging.looks_up or request.operation is Operation.UPSERT_PREPPED
    if not looks_up or tagging.layout is not None or not config.record_key_fields:
        return None
    return KeyScope(record_context(work.schema, config), tagging.index.is_global)


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
    txn: Transaction,
    plan: WritePlan,
    results: Sequence[TaskResult],
    schema: TableSchema,
    *,
    new_in_logs: bool = False,
    rolling: RollingMetadata = NOT_ROLLING,
) -> Committed:
    """Make a planned write visible; its metadata say which engine ran, and why, and whether logs may begin records."""
    extra_metadata = {WRITER_KEY: VERSION, ENGINE_KEY: plan.engine, ENGINE_REASON_KEY: plan.reason}
    if new_in_logs and txn.table.config.is_merge_on_read:
        extra_metadata[LOG_INSERTS_KEY] = "true"
    extra_metadata |= record_version(txn.table, txn.instant, schema.columns)
    history = history_of(schema.columns)
    return txn.commit(
        results,
        schema_json=schema.avro_json,
        history=history,
        replaced=plan.replaced,
        extra_metadata=extra_metadata,
        rolling=rolling,
    )
