"""Writing to a table: from the user's data to a commit.

choose (options) - lock - prepare, tag, plan - execute on an engine - commit. Data that live in another engine go to the
writer which that engine has registered.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import AlreadyExistsError
from pyhudi.index.key_encoding import with_key_encoding
from pyhudi.index.log_inserts import NEW_IN_LOGS_NOTE, WRITER_NOTE
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.inline_services import InlineServices
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.arguments import check_strings
from pyhudi.spec.options import resolve
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.open_table import OpenTable
from pyhudi.timeline.instant_details import read_commit
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.release import VERSION
from pyhudi.txn.schema_record import record_version
from pyhudi.txn.transaction import Committed, Transaction, begin
from pyhudi.write.input.data_columns import MissingColumns
from pyhudi.write.input.incoming_data import to_table
from pyhudi.write.input.prepare_rows import TableSchema
from pyhudi.write.local_write import IN_THIS_PROCESS, LocalWrite, PlanningContext, WriteRequest, plan_local, run_tasks
from pyhudi.write.options.write_config import WriteConfig, choose
from pyhudi.write.plan.workload_profile import inflight_metadata
from pyhudi.write.plan.write_plan import WritePlan
from pyhudi.write.write_result import WriteResult, count_results, write_result


class Writer(Protocol):
    """Writes data that live in another engine; the arguments are those of `write`."""

    def __call__(
        self,
        table: OpenTable,
        operation: Operation,
        data: object,
        *,
        options: Mapping[str, str],
        located: bool,
        partitions: Sequence[str] | None,
        seen: Visibility | None,
        columns: Sequence[str] | None,
    ) -> WriteResult:
        """Return what the write did."""
        ...


_writers: list[tuple[Callable[[object], bool], Writer]] = []


def register_writer(takes: Callable[[object], bool], writer: Writer) -> None:
    """Send data for which `takes` is true to `writer`; what was registered last is asked first."""
    _writers.insert(0, (takes, writer))


def write(
    table: OpenTable,
    operation: Operation,
    data: object | None,
    *,
    options: Mapping[str, str] | None = None,
    located: bool = False,
    partitions: Sequence[str] | None = None,
    seen: Visibility | None = None,
    columns: Sequence[str] | None = None,
    engine: Engine | None = None,
    reason: str = IN_THIS_PROCESS,
) -> WriteResult:
    """Write data to a table in one commit; a merge-on-read table is compacted afterwards when that is due.

    Args:
        table: the table.
        operation: what to do with the data.
        data: what `pyhudi.write.input.incoming_data.to_table` takes, or data of an engine that has registered a writer; None for
            operations without.
        options: `hoodie.*` options of this call.
        located: the data hold the meta columns that their records were read with; no index is asked.
        partitions: partition paths to replace or delete, for operations that replace.
        seen: the commits that located rows were read with.
        columns: the data columns that located updates bring, when not all (`pyhudi.write.input.partial_columns`).
        engine: runs the tasks; threads of this process by default.
        reason: why that engine, for the result and the commit's metadata.

    Raises:
        UsageError: options or data do not fit the table; nothing was written.
        ConflictError: another writer holds the table, or came between; nothing of this write is visible.
        StorageError: the storage failed; nothing of this write is visible.
        UnknownOutcomeError: the storage failed in the last step without saying whether the commit is visible.
    """
    if partitions is not None:
        partitions = check_strings(partitions, "partitions", "paths")
    if operation is Operation.DELETE_PARTITION and partitions is not None:
        data = None  # the paths say it all
    for takes, writer in _writers:
        if data is not None and takes(data):
            return writer(table, operation, data, options=options or {}, located=located, partitions=partitions, seen=seen, columns=columns)
    started = time.perf_counter()
    engine = engine or LocalEngine()
    resolved = resolve(options or {})
    write_config = choose(resolved, with_key_encoding(table.storage, table.config), operation)
    complete = write_config.missing_columns is MissingColumns.REFUSED and not operation.deletes_rows
    rows = None if data is None else to_table(data, lambda: table.schema, complete=complete)
    request = WriteRequest(
        operation,
        rows,
        located=located,
        partitions=None if partitions is None else tuple(partitions),
        seen=seen,
        columns=None if columns is None else tuple(columns),
    )
    services = InlineServices(table.storage, table.clock, table.ids, resolved, engine)
    services.before_write(table.config)
    txn, work, results, committed = _commit_local(table, request, write_config, engine, reason)
    services.after_commit(txn.table, committed)
    counts = count_results(results, work.late)
    return write_result(committed, work.plan, counts, work.tagging, time.perf_counter() - started, work.new_columns)


def _commit_local(
    table: OpenTable, request: WriteRequest, write_config: WriteConfig, engine: Engine, reason: str
) -> tuple[Transaction, LocalWrite, list[TaskResult], Committed | None]:
    """Hold the table's lock while the request is planned, its tasks run and their work is committed."""
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
        work = plan_local(PlanningContext(txn.table, txn.view, txn.instant), request, write_config, stored, latest, engine, reason)
        results: list[TaskResult] = []
        committed = None
        if not work.plan.changes_nothing:
            profile = None if request.operation is Operation.BULK_INSERT else inflight_metadata(work.profile, request.operation)
            txn.start(profile, schema_json=work.schema.avro_json, history=history_of(work.schema.columns))
            create_layout_files(table.storage, work.plan)
            results = run_tasks(table.storage, work, write_config.writer, engine)
            committed = commit(txn, work.plan, results, work.schema, new_in_logs=work.tagging.layout is not None)
    return txn, work, results, committed


def state_before(table: LockedTable) -> tuple[TableSchema, CommitMetadata | None]:
    """Return the table's schema and its last commit, as of its timeline."""
    last = table.timeline.last_completed()
    latest = None if last is None else read_commit(table.storage, table.config, last)
    stored = table_schema(table.storage, table.config, table.timeline, latest)
    return TableSchema(stored.columns, stored.avro_json), latest


def create_layout_files(storage: Storage, plan: WritePlan) -> None:
    """Write the files that must stand before a plan's data do; one that is there already says the same."""
    for path, content in plan.layout_files.items():
        with contextlib.suppress(AlreadyExistsError):
            storage.create(path, content)


def commit(
    txn: Transaction, plan: WritePlan, results: Sequence[TaskResult], schema: TableSchema, *, new_in_logs: bool = False
) -> Committed:
    """Make a planned write visible; its metadata say which engine ran, and why, and whether logs may begin records."""
    notes = {WRITER_NOTE: VERSION, "pyhudi.engine": plan.engine, "pyhudi.engine.reason": plan.reason}
    if new_in_logs and txn.table.config.is_merge_on_read:
        notes[NEW_IN_LOGS_NOTE] = "true"
    notes |= record_version(txn.table, txn.instant, schema.columns)
    history = history_of(schema.columns)
    return txn.commit(results, schema_json=schema.avro_json, history=history, replaced=plan.replaced, extra=notes)
