"""Dropping expired partitions, in one commit.

Rules: `SparkPartitionTTLActionExecutor`, `DeletePartitionUtils`. What has expired is decided under the table's lock, and nothing is put on
the timeline when that is nothing: Apache Hudi leaves a pending replacecommit then. The commit is that of a delete of partitions; the files
go when the clean that comes so far finds them replaced.
"""

from __future__ import annotations

import functools

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.metadata_settings import metadata_settings
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.inline_run import InlineRun, WrittenTable
from pyhudi.service.partition_ttl.expired_partitions import expired_partitions
from pyhudi.service.partition_ttl.ttl_result import TtlResult
from pyhudi.service.partition_ttl.ttl_settings import DAYS_RETAIN, TtlSettings, check_days, ttl_settings
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.extra_metadata import WRITER_KEY
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.options import Options
from pyhudi.timeline.clock import format_instant, zone_of
from pyhudi.txn.commit_checks import check_not_clustered
from pyhudi.txn.release import VERSION
from pyhudi.txn.schema_record import record_version
from pyhudi.txn.transaction import Transaction, begin
from pyhudi.write.plan.replace import replaced_groups


def expire_partitions(runner: ServiceRunner, settings: TtlSettings, options: Options, wait_s: float | None = None) -> TtlResult:
    """Drop the partitions that have expired.

    Args:
        runner: the table, and how it is worked on.
        settings: which expire.
        options: those of the metadata table.
        wait_s: how long to wait for the lock, in seconds; None is what the runner says.

    Raises:
        LockTimeoutError: another writer held the lock for too long.
        ConflictError: a planned clustering holds file groups of a partition that has expired.
        UnsupportedError: the table has features whose writing is not served.
        StorageError: the storage failed; nothing is dropped.
    """
    with begin(
        runner.storage,
        Operation.DELETE_PARTITION,
        wait_s=runner.wait_s if wait_s is None else wait_s,
        clock=runner.clock,
        ids=runner.ids,
        roll_back=functools.partial(roll_back_failed_writes, settings=runner.failed_writes, writes=True),
        metadata_table=metadata_settings(options),
        failed_writes=runner.failed_writes,
    ) as txn:
        expired, held_back = expired_partitions(txn.view, settings, txn.instant)
        if not expired:
            return TtlResult("nothing to do", None, (), held_back)
        _drop(txn, tuple(one.path for one in expired))
        return TtlResult("completed", txn.instant, expired, held_back)


def show_expired(view: FileSystemView, settings: TtlSettings, now: str) -> TtlResult:
    """Return what `expire_partitions` would do at an instant time."""
    expired, held_back = expired_partitions(view, settings, now)
    return TtlResult("planned" if expired else "nothing to do", None, expired, held_back)


def check_ttl_options(options: Options) -> None:
    """See before a write that the lifetimes after it can be had; errors as in `ttl_settings` and `check_days`."""
    if not options.flag("hoodie.partition.ttl.inline"):
        return
    settings = ttl_settings(options)
    if options.get(DAYS_RETAIN) is not None:
        check_days(settings)


def expire_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the drop of expired partitions when the options of a write ask for it and there are any."""
    if not table.options.flag("hoodie.partition.ttl.inline"):
        return None
    settings, runner = ttl_settings(table.options), table.runner
    view = open_view(runner.storage, table.config, table.timeline)
    now = format_instant(runner.clock.now(), zone_of(table.config.timeline_zone))
    if not expired_partitions(view, settings, now)[0]:
        return None
    return InlineRun(lambda: (expire_partitions(runner, settings, table.options),))


def _drop(txn: Transaction, paths: tuple[str, ...]) -> None:
    stored = table_schema(txn.table.storage, txn.table.config, txn.table.timeline)
    history = history_of(stored.columns)
    replaced = replaced_groups(txn.view, Operation.DELETE_PARTITION, (), paths)
    check_not_clustered(txn.table, [FileGroupId(path, file_id) for path, ids in (replaced or {}).items() for file_id in ids])
    txn.start(CommitMetadata({}, operation=Operation.DELETE_PARTITION), schema_json=stored.avro_json, history=history)
    extra_metadata = {WRITER_KEY: VERSION, **record_version(txn.table, txn.instant, stored.columns)}
    txn.commit([], schema_json=stored.avro_json, history=history, replaced=replaced, extra_metadata=extra_metadata)
