"""A write whose rows are in this process: from the data to loaded tasks, under an open transaction.

Everything up to `plan_local` reads only; a mistake in the data is found before the write is on the timeline.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from pyhudi.engine.protocol import Engine
from pyhudi.errors import KeyFieldError, UsageError
from pyhudi.index.protocol import Lookup
from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.base_file import TableShape, WriterSettings
from pyhudi.kernels.run_task import run_task
from pyhudi.kernels.write_task import TaskResult
from pyhudi.schema.meta_columns import RECORD_KEY, without_meta_columns
from pyhudi.spec.commit import CommitMetadata, Operation
from pyhudi.spec.visibility import Visibility
from pyhudi.storage.protocol import Storage
from pyhudi.txn.transaction import Transaction
from pyhudi.write import located as located_rows
from pyhudi.write.candidates import insert_candidates
from pyhudi.write.changes import holds_changes, tag_changes, user_columns
from pyhudi.write.choices import Choices
from pyhudi.write.located import Places
from pyhudi.write.plan import Sizing, WritePlan, plan_write
from pyhudi.write.prepare import TableSchema, evolved, keyed_deletes, keyed_rows, require_columns, table_shape
from pyhudi.write.profile import Profile, profile_of
from pyhudi.write.replace import replaced_groups
from pyhudi.write.route import LoadedTask, load_tasks
from pyhudi.write.sizing import record_bytes
from pyhudi.write.split import split_by_partition
from pyhudi.write.tag import tag_rows, without_void_inserts

IN_THIS_PROCESS = "the rows were in this process already"


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What the caller wants. `located` rows bring the meta columns they were read with, `seen` the commits that they were
    read with; `partitions` names those to replace. With `columns`, updates bring these data columns alone (`pyhudi.write.partial`).
    """

    operation: Operation
    data: pa.Table | None
    located: bool = False
    partitions: tuple[str, ...] | None = None
    seen: Visibility | None = None
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class LocalWrite:
    """A planned write with its rows; `index` is the kind of index that found the records, None when none was asked."""

    schema: TableSchema
    shape: TableShape
    plan: WritePlan
    profile: Profile
    tasks: Sequence[LoadedTask]
    late: int
    index: str | None


def plan_local(
    txn: Transaction,
    request: WriteRequest,
    choices: Choices,
    stored: TableSchema,
    latest: CommitMetadata | None,
    engine: Engine,
    reason: str = IN_THIS_PROCESS,
) -> LocalWrite:
    """Return the planned write; nothing is written.

    Args:
        txn: the open transaction.
        request: operation and data.
        choices: what the options say.
        stored: the table's schema so far.
        latest: the metadata of the commit before, None when there is none.
        engine: looks keys up.
        reason: why that engine.

    Raises:
        UsageError: the data do not fit the table.
        ConflictError: located rows were read from files that are not the newest any more.
    """
    if request.operation is Operation.DELETE_PARTITION:
        request = _of_named_partitions(txn, request, stored)
    schema = stored
    if request.data is not None and request.operation not in (Operation.DELETE, Operation.DELETE_PREPPED):
        columns = user_columns if request.located else without_meta_columns
        schema = evolved(stored, columns(request.data.schema), txn.table.config)
    shape = table_shape(schema, txn.table.config)
    tagged = [] if request.data is None else _tagged(txn, request, request.data, choices, shape, engine)
    profile = profile_of(tagged)
    row_bytes = record_bytes(latest, tagged, choices.writer, threshold=choices.size_threshold)
    sizing = sizing_of(txn, profile, row_bytes, choices, request.columns)
    plan = plan_write(
        profile,
        request.operation,
        txn.instant,
        sizing,
        txn.table.ids.file_prefix,
        replaced=replaced_groups(txn.view, request.operation, profile.partitions, request.partitions),
        engine=engine.name,
        reason=reason,
    )
    late = sum(part.late for part in tagged)
    index = choices.tagging.index.name if choices.tagging.looks_up and not request.located else None
    return LocalWrite(schema, shape, plan, profile, load_tasks(plan, tagged), late, index)


def sizing_of(txn: Transaction, profile: Profile, row_bytes: float, choices: Choices, columns: tuple[str, ...] | None) -> Sizing:
    """Return what planning must know of a transaction's table; `columns` as in `WriteRequest`."""
    config = txn.table.config
    files = insert_candidates(txn.view, profile, row_bytes, choices.writer, choices.small_file_candidates, beside_updates=columns is None)
    pending = txn.view.pending_compaction if config.is_merge_on_read and config.layout == 1 else None
    compacting = None if pending is None else {group: found.instant for group, found in pending.items()}
    return Sizing(files, row_bytes, choices.writer, config.is_merge_on_read, columns, compacting)


def run_tasks(storage: Storage, write: LocalWrite, settings: WriterSettings, engine: Engine) -> list[TaskResult]:
    """Write the files of a planned write."""
    results = engine.run(functools.partial(_run, storage, write.shape, settings), write.tasks)
    return [result for of_task in results for result in of_task]


def _run(storage: Storage, shape: TableShape, settings: WriterSettings, loaded: LoadedTask) -> list[TaskResult]:
    return run_task(storage, shape, settings, loaded.task, loaded.rows)


def _tagged(
    txn: Transaction, request: WriteRequest, data: pa.Table, choices: Choices, shape: TableShape, engine: Engine
) -> list[TaggedRows]:
    config = txn.table.config
    if data.num_rows == 0:
        return []
    if request.operation is Operation.DELETE_PREPPED:
        return located_rows.tag_deletes(data, Places(txn.view, request.seen))
    if request.located and holds_changes(data.schema):
        places = Places(txn.view, request.seen)
        lookup = Lookup(txn.table.storage, txn.view, engine, shape, config.is_merge_on_read and choices.writer.log.positions)
        return tag_changes(data, functools.partial(_rekeyed, txn, shape=shape), choices.tagging, shape, lookup, places, txn.instant)
    if request.located:
        return without_void_inserts(located_rows.tag_updates(_rekeyed(txn, data, shape), data, Places(txn.view, request.seen)), shape)
    if request.operation is Operation.DELETE:
        if not config.record_key_fields:
            raise KeyFieldError(f"Table {config.name} has no record key; delete its rows by condition: delete(where=...).")
        require_columns(data.schema, config.record_key_fields, "a record key field", config)
        if not choices.tagging.index.is_global:
            require_columns(data.schema, config.partition_fields, "a partition field", config)
        keyed = keyed_deletes(data, shape.schema, config, txn.instant)
    else:
        require_columns(data.schema, config.record_key_fields, "a record key field", config)
        require_columns(data.schema, config.partition_fields, "a partition field", config)
        if choices.tagging.looks_up or choices.tagging.combine:
            require_columns(data.schema, shape.ordering_fields, "an ordering field", config)
        keyed = keyed_rows(data, shape.schema, config, txn.instant)
    positions = config.is_merge_on_read and choices.writer.log.positions
    return tag_rows(
        keyed, choices.tagging, shape, Lookup(txn.table.storage, txn.view, engine, shape, positions, choices.tagging.drop_known)
    )


def _of_named_partitions(txn: Transaction, request: WriteRequest, stored: TableSchema) -> WriteRequest:
    """Return a delete of partitions that names them; where the caller does not, those that its rows lie in are meant."""
    partitions = request.partitions
    if partitions is None:
        if request.data is None:
            raise UsageError("A delete of partitions needs their paths.")
        config = txn.table.config
        require_columns(request.data.schema, config.partition_fields, "a partition field", config)
        rows = keyed_deletes(request.data, stored.columns, config, txn.instant)
        partitions = tuple(part.partition_path for part in split_by_partition(rows))
    return WriteRequest(request.operation, None, partitions=partitions)


def _rekeyed(txn: Transaction, data: pa.Table, shape: TableShape) -> pa.Table:
    """Return located rows with the key and partition path that their values give now; generated keys stay as they
    are.
    """
    keyed = keyed_rows(data, shape.schema, txn.table.config, txn.instant)
    if txn.table.config.record_key_fields:
        return keyed
    place = keyed.schema.get_field_index(RECORD_KEY)
    return keyed.set_column(place, pa.field(RECORD_KEY, pa.string()), data.column(RECORD_KEY).cast(pa.string()))
