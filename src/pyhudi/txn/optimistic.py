"""A write concurrent with others: the table's lock is held to take a time and to complete, not while files are written.

lock, roll back what dead writers left, time, heartbeat, requested, unlock - plan, inflight, data files - heartbeat checked, lock, reload,
conflicts, reconcile with the markers, metadata table updated, completed, unlock. Rules: `BaseHoodieWriteClient.preCommit`,
`TransactionManager`; docs/design/0091-several-writers.md.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from pyhudi.errors import ConflictError, CorruptTableError, HudiError, OptionError, StateDeletedError, UnknownOutcomeError, UnsupportedError
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.schema.internal.schema_history import SchemaHistory
from pyhudi.spec.actions.commit import CommitMetadata, Operation
from pyhudi.spec.config.concurrency_keys import MODE
from pyhudi.spec.instant import Action
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.commit_checks import check_nothing_planned
from pyhudi.txn.completing_write import CompletingWrite
from pyhudi.txn.concurrency import STRATEGY, Concurrency, ConflictStrategy, without_buckets
from pyhudi.txn.conflicts.early_detection import ConflictDetector, EarlyDetection
from pyhudi.txn.failed_writes_policy import FailedWritesSettings
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import LockedTable, locked_table, table_state
from pyhudi.txn.markers import delete_files_of
from pyhudi.txn.metadata_updates import find_metadata_table, prepare_metadata_table
from pyhudi.txn.new_key_conflicts import check_new_keys
from pyhudi.txn.rolling_metadata import NOT_ROLLING, RollingMetadata
from pyhudi.txn.transaction import Committed, RollBack, Transaction, check_version
from pyhudi.txn.write_conflicts import ComparedWrite, check_cleans, check_conflicts, check_history

#: Holds the table's lock.
Lock = Callable[[], AbstractContextManager[LockedTable]]


@dataclass(frozen=True, slots=True)
class SharedTable:
    """How a write shares its table: the lock, the mode with the strategy by which conflicts are found, and its heartbeats."""

    lock: Lock
    concurrency: Concurrency
    failed_writes: FailedWritesSettings


class OptimisticTransaction(Transaction):
    """A write concurrent with others; it is on the timeline from the beginning. Made by `begin_optimistic`."""

    def __init__(
        self, table: LockedTable, operation: Operation, settings: MetadataSettings, extra_metadata: Mapping[str, str], shared: SharedTable
    ) -> None:
        """Take the write's time and put the write on the timeline, under the lock."""
        super().__init__(table, operation, settings, extra_metadata, shared.failed_writes)
        self._shared = shared
        self._before = table.timeline
        self.is_committed = False
        #: Whether other writes have completed since this one began.
        self.has_been_overtaken = False
        self.begun = True
        self._heartbeat.__enter__()
        try:
            self._requested = table.writer.request(self.action, self.instant, self._request())
        except BaseException:
            self.end_heartbeat()  # or this process would show life of the write for as long as it lives
            raise

    @property
    def is_inflight(self) -> bool:
        """Whether files may have been written."""
        return self._inflight is not None

    def start(
        self,
        profile: CommitMetadata | None,
        *,
        schema_json: str | None = None,  # noqa: ARG002
        history: SchemaHistory | None = None,  # noqa: ARG002
    ) -> None:
        """Put the write inflight. The metadata table is looked after under the lock of the completion.

        Raises:
            ConflictError: others may take this writer for dead.
        """
        self._heartbeat.check_alive()
        self._inflight = self.table.writer.start(self._requested, self._profile_content(profile))

    def check_buckets(self, *, is_bucketed: bool, is_consistent: bool) -> None:
        """Refuse an index with which concurrent writes cannot be compared.

        Raises:
            UnsupportedError: buckets are split and merged.
            OptionError: the mode needs buckets, or the strategy compares them, and there are none.
        """
        if is_consistent:
            raise UnsupportedError(
                f"the buckets of table {self.table.storage.uri} are split and merged, and several writers at a time are not served then;"
                f" leave out {MODE}, so that one writer works after the other."
            )
        if self._shared.concurrency.is_non_blocking and not is_bucketed:
            raise without_buckets(self.table.storage.uri)
        if self._shared.concurrency.strategy is ConflictStrategy.BUCKET_INDEX and not is_bucketed:
            raise OptionError(f"{STRATEGY} compares buckets, and table {self.table.storage.uri} has no bucket index; leave it out.")

    def detector(self, detection: EarlyDetection, *, by_bucket: bool) -> ConflictDetector:
        """Return what detects conflicts of this write before it writes its files."""
        table, before = self.table, self._before if detection.checks_commits else None
        return ConflictDetector(table.config, self.instant, detection, table.clock, by_bucket, before)

    @contextlib.contextmanager
    def completing(self, write: CompletingWrite) -> Iterator[None]:
        """Hold the lock and see that nobody has changed what the write builds on; `table` is as it is now.

        Raises:
            WriteConflictError: another write has changed the same data, and completed first.
            ConflictError: others may take this writer for dead, or the table became another one.
        """
        self._heartbeat.check_alive()
        with self._shared.lock() as now:
            self._heartbeat.check_alive()
            _check_same_table(now, self.table.config)
            stats = tuple(result.stat for result in write.results)
            mine = ComparedWrite(self.instant, self.operation, stats, write.replaced or {}, write.by_bucket, write.in_any_order)
            others = check_conflicts(self._before, now, mine, self._shared.concurrency.strategy)
            self.has_been_overtaken = bool(others)
            if write.keys is not None:
                check_new_keys(now, mine, others, write.keys)
            for path in sorted({stat.partition_path or "" for stat in stats}):
                ensure_partition(now.storage, path, self.instant)  # the rollback of another write may have taken it away
            self.table = now
            self._metadata_state = find_metadata_table(now)
            self.view = self._metadata_state.view
            yield

    def commit(
        self,
        results: Sequence[TaskResult],
        *,
        schema_json: str,
        history: SchemaHistory | None = None,
        replaced: Mapping[str, tuple[str, ...]] | None = None,
        extra_metadata: Mapping[str, str] | None = None,
        rolling: RollingMetadata = NOT_ROLLING,
    ) -> Committed:
        """Make the write visible, within `completing`; arguments and errors as in `Transaction.commit`."""
        self.table, self._in_step = prepare_metadata_table(self.table, schema_json, self._settings, self._metadata_state, history=history)
        if self._in_step is not None:
            self._in_step = self._in_step.in_order(self.instant, keys=self._shared.concurrency.is_non_blocking)
        committed = super().commit(
            results, schema_json=schema_json, history=history, replaced=replaced, extra_metadata=extra_metadata, rolling=rolling
        )
        self.is_committed = True
        return committed

    def check_not_deleted(self, error: BaseException) -> None:
        """Look why a write failed: others delete the files of a writer that they take for dead, and a restore those that it builds on.

        Raises:
            ConflictError: a file was missing, and others may take this writer for dead, or the table was restored or cleaned.
        """
        if isinstance(error, CorruptTableError | StateDeletedError) or isinstance(error.__cause__ or error, FileNotFoundError):
            self._heartbeat.check_alive()
            now = table_state(self.table.storage, self.table.clock, self.table.ids)
            check_history(self._before, now, self.instant)
            check_cleans(self._before, now, self.instant, error)

    def withdraw(self) -> None:
        """Take a write off the timeline that has written nothing."""
        with self._shared.lock() as now:
            now.writer.remove(self._requested)


@contextlib.contextmanager
def begin_optimistic(
    storage: Storage,
    operation: Operation,
    *,
    wait_s: float,
    clock: Clock,
    ids: Ids,
    roll_back: RollBack,
    metadata_table: MetadataSettings,
    extra_metadata: Mapping[str, str],
    version: int,
    failed_writes: FailedWritesSettings,
    concurrency: Concurrency,
) -> Iterator[Transaction]:
    """Hand out a transaction that runs concurrently with others; leaving with an error, or without a commit, rolls back what it wrote.

    Args and errors as in `pyhudi.txn.transaction.begin`; `concurrency` says what counts as a conflict.
    """
    lock = functools.partial(locked_table, storage, wait_s, clock, ids, heartbeats=failed_writes.heartbeats)
    shared = SharedTable(lock, concurrency, failed_writes)
    with contextlib.ExitStack() as alive:
        with lock() as unlocked:
            check_version(unlocked, version)
            _check_served(unlocked)
            check_nothing_planned(unlocked)
            table = _with_metadata_table(roll_back(unlocked), metadata_table)
            transaction = OptimisticTransaction(table, operation, metadata_table, extra_metadata, shared)
            alive.callback(transaction.end_heartbeat)
        try:
            yield transaction
        except UnknownOutcomeError:
            raise
        except BaseException as error:
            try:
                transaction.check_not_deleted(error)
            finally:
                _roll_back(transaction, roll_back, lock, error)
            raise
        if not transaction.is_committed:
            _roll_back(transaction, roll_back, lock, None)


def _roll_back(transaction: OptimisticTransaction, roll_back: RollBack, lock: Lock, error: BaseException | None) -> None:
    """Roll back what a write left that was not committed; when that fails, it stays pending, unseen, until its heartbeat has expired."""
    transaction.end_heartbeat()
    try:
        if not transaction.is_inflight:
            transaction.withdraw()
            return
        with lock() as table:
            instants = table.timeline.find(transaction.instant)
            is_pending = any(not one.is_completed for one in instants)
            may_be_planned = any(one.action is Action.ROLLBACK for one in table.timeline.pending())
            if is_pending:
                roll_back(table, aborted=transaction.instant)
            if not instants or (is_pending and may_be_planned):  # others planned the rollback before the last files were written
                delete_files_of(table.storage, transaction.instant)
    except (HudiError, OSError) as failure:
        if error is None:
            raise
        error.add_note(f"What it wrote is not visible; rolling it back failed and is left to the next clean or writer: {failure}")


def _check_served(table: LockedTable) -> None:
    """Refuse tables on which several writers at a time are not served.

    Raises:
        UnsupportedError: names the reason.
    """
    if not table.config.populate_meta_fields:
        raise UnsupportedError(
            f"table {table.storage.uri} has no meta columns, by which records that two writers insert would be compared; leave out {MODE},"
            " so that one writer works after the other."
        )


def _with_metadata_table(table: LockedTable, settings: MetadataSettings) -> LockedTable:
    """Return the table with the metadata table that the options want: that of version 6 is only built while no write is pending."""
    if table.config.layout > 1 or table.config.metadata_partitions:
        return table
    return prepare_metadata_table(table, None, settings)[0]


def _check_same_table(now: LockedTable, before: TableConfig) -> None:
    """See that the table is of the version and type for which files were written."""
    if (now.config.version, now.config.is_merge_on_read) != (before.version, before.is_merge_on_read):
        raise ConflictError(
            f"table {now.storage.uri} was moved to another version or type while it was written. Nothing of this write is visible; open it"
            " again, and write again."
        )
