"""Changes the numbers of buckets of partitions, in one commit.

Rules: `PartitionBucketIndexManager`, `DatasetBucketRescaleCommitActionExecutor`, RFC-89. The commit is a replacecommit of the operation
BUCKET_RESCALE; the file with the new expressions has its time, and holds once the commit is completed. The lock of the table is held from
the plan to the commit: a writer that placed rows by the old numbers would lose or double them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, OptionError, UnsupportedError
from pyhudi.fsview.checked_logs import with_checksums
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_numbers import CountRules, load_rules, names_buckets, parse_expressions, rules_file
from pyhudi.index.index_factory import bucket_index
from pyhudi.index.index_options import BUCKET_COUNT, EXPRESSIONS, HASH_FIELDS, index_options
from pyhudi.index.index_protocol import LookupContext
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.merge.slice_delta import SliceTask
from pyhudi.kernels.tasks.rescale_task import RescaleTask, run_rescale_task
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.metadata_table.format.metadata_settings import metadata_settings
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.compaction.pending_compactions import busy_groups
from pyhudi.service.rescaling.rescaling_result import RescaledPartition, RescalingResult
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.extra_metadata import WRITER_KEY
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.options import Options, resolve
from pyhudi.txn.locked_table import LockedTable, TableState
from pyhudi.txn.release import VERSION
from pyhudi.txn.schema_record import record_version
from pyhudi.txn.transaction import Transaction, begin
from pyhudi.write.input.prepare_rows import TableSchema, record_context


@dataclass(frozen=True, slots=True)
class NewNumbers:
    """What a caller asks for.

    `expressions` are `regex,count;regex,count`; with `add` they come before those that the table has. `default` is the number of buckets
    of partitions that no expression matches; None is that which the table has.
    """

    expressions: str
    default: int | None = None
    add: bool = False


def rescale(runner: ServiceRunner, new: NewNumbers, options: Options) -> RescalingResult:
    """Rewrite the partitions whose numbers of buckets change, and store the expressions.

    Raises:
        OptionError: an expression is none, the numbers so far are not known, or contradict the table.
        UnsupportedError: the table is not laid out by fixed numbers of buckets.
        ConflictError: a compaction or clustering is pending.
        LockTimeoutError: another writer held the lock for too long.
        StorageError: the storage failed; nothing is changed.
    """
    with begin(
        runner.storage,
        Operation.BUCKET_RESCALE,
        wait_s=runner.wait_s,
        clock=runner.clock,
        ids=runner.ids,
        roll_back=functools.partial(roll_back_failed_writes, settings=runner.failed_writes, writes=True),
        metadata_table=metadata_settings(options),
        failed_writes=runner.failed_writes,
    ) as txn:
        planned = plan_rescaling(txn.table, new, options)
        if busy_groups(txn.table):
            raise ConflictError(
                f"a compaction or clustering of table {runner.storage.uri} is pending; run it, or roll it back, and rescale again."
            )
        results = _rewrite(txn, runner, planned, options)
        rows = sum(result.stat.num_writes or 0 for result in results)
        return RescalingResult("completed", txn.instant, planned.expressions, planned.default, planned.partitions, rows, len(results))


def plan_rescaling(table: TableState, new: NewNumbers, options: Options) -> RescalingResult:
    """Return what `rescale` would do now; errors as there."""
    view = FileSystemView(table.storage, table.config, table.timeline)
    rules = load_rules(view)
    text = ";".join(filter(None, (new.expressions.strip().strip(";"), rules.text if rules is not None and new.add else "")))
    if not text:
        raise OptionError(f"{EXPRESSIONS} names no expression: give at least one, such as 2026-.*,16")
    if new.default is not None and new.default < 1:
        raise OptionError(f"the default number of buckets is {new.default}; it must be 1 or more")
    before = _numbers(table, view, new.default if rules is None else None, options)
    default = new.default or (rules.default if rules is not None else next(iter(before.values()), None))
    if default is None:
        raise OptionError(f"table {table.config.name} has no rows yet: give the default number of buckets ({BUCKET_COUNT})")
    after = CountRules(default, parse_expressions(text, EXPRESSIONS))
    changed = (RescaledPartition(path, count, after.count(path)) for path, count in before.items())
    return RescalingResult("planned", None, text, default, tuple(one for one in changed if one.before != one.after))


def _numbers(table: TableState, view: FileSystemView, count: int | None, options: Options) -> Mapping[str, int]:
    """Return the number of buckets of each partition so far, which the keys in the buckets have been compared with."""
    slices = {path: of_path for path in view.partition_paths() if (of_path := view.latest_slices(path))}
    groups = [one.group for of_path in slices.values() for one in of_path]
    if groups and not names_buckets(groups):
        raise UnsupportedError(
            f"the file groups of table {table.storage.uri} are no numbered buckets (one is {groups[0].file_id}): only a table that was"
            " written with hoodie.index.type=BUCKET and the SIMPLE engine is rescaled."
        )
    given = {} if count is None else {BUCKET_COUNT: str(count)}
    lookup = LookupContext(table.storage, view, LocalEngine(), _context(table))
    index = bucket_index(index_options(resolve({**options.given, **given})), lookup, groups)
    if index.is_consistent:
        raise UnsupportedError(
            f"table {table.storage.uri} has buckets of consistent hashing, which clustering splits and merges: table.services.cluster()."
        )
    return {path: len(index.hashing.buckets(view, path).beginnings) for path in sorted(slices)}


def _rewrite(txn: Transaction, runner: ServiceRunner, planned: RescalingResult, options: Options) -> Sequence[TaskResult]:
    table = txn.table
    stored = table_schema(table.storage, table.config, table.timeline)
    history = history_of(stored.columns)
    view = FileSystemView(table.storage, table.config, table.timeline)
    slices = {one.path: view.latest_slices(one.path) for one in planned.partitions}
    tasks = [_task(txn, runner, one, slices[one.path], options) for one in planned.partitions]
    txn.start(None, schema_json=stored.avro_json, history=history)
    function = functools.partial(run_rescale_task, runner.storage, _context(table), runner.writer)
    results = [result for written in runner.run(function, tasks) for result in written]
    rules = rules_file(CountRules(planned.default, parse_expressions(planned.expressions, EXPRESSIONS)), planned.expressions, txn.instant)
    for path, content in rules.items():
        table.storage.create(path, content)
    extra_metadata = {WRITER_KEY: VERSION, **record_version(table, txn.instant, stored.columns)}
    replaced = {path: tuple(one.group.file_id for one in of_path) for path, of_path in slices.items()}
    txn.commit(results, schema_json=stored.avro_json, history=history, replaced=replaced, extra_metadata=extra_metadata)
    return results


def _task(
    txn: Transaction, runner: ServiceRunner, partition: RescaledPartition, slices: Sequence[FileSlice], options: Options
) -> RescaleTask:
    table = txn.table
    checked = (with_checksums(table.storage, table.config, table.timeline, file_slice) for file_slice in slices)
    fields = options.get(HASH_FIELDS)
    return RescaleTask(
        txn.instant,
        partition.path,
        tuple(SliceTask(one, table.timeline.visibility, table.config.layout) for one in checked),
        partition.after,
        tuple(name.strip() for name in fields.split(",")) if fields else tuple(table.config.record_key_fields),
        table.ids.file_prefix(),
        f"{partition.after}-0-0",
        runner.merge_bytes,
    )


def _context(table: TableState | LockedTable) -> RecordContext:
    stored = table_schema(table.storage, table.config, table.timeline)
    return record_context(TableSchema(stored.columns, stored.avro_json), table.config)
