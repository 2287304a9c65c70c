"""One write from the lock to the completed instant.

lock, reload, roll back what failed writers left - metadata table prepared - requested, inflight - data files - reconcile
with the markers, re-check - metadata table updated - completed - markers away, unlock. Readers see nothing of the write
before the completed file, and all of it afterwards. Rules: `BaseHoodieWriteClient`, `BaseCommitActionExecutor`;
docs/format/concurrency.md#order-of-a-commit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pyhudi.codec.actions.commit_metadata import commit_content
from pyhudi.codec.actions.plan_codec import encode_requested_replace
from pyhudi.errors import ConflictError, HudiError, UnknownOutcomeError
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.metadata_table.format.metadata_settings import AS_IT_IS, MetadataSettings
from pyhudi.metadata_table.lifecycle.metadata_sync import MetadataSync
from pyhudi.schema.internal.schema_history import SchemaHistory
from pyhudi.spec.actions.commit import CommitMetadata, Operation, stats_by_partition
from pyhudi.spec.extra_metadata import IDENTITY_KEY, SCHEMA_KEY
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table_identity import identity_note
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.commit_checks import check_nothing_planned, check_timeline_unchanged
from pyhudi.txn.commit_sequence import CompletedAction, checksums_of_logs, complete_commit, reconcile_files
from pyhudi.txn.completing_write import CompletingWrite
from pyhudi.txn.failed_writes_policy import EAGER, FailedWritesSettings
from pyhudi.txn.heartbeats import Heartbeat
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import LockedTable, locked_table
from pyhudi.txn.metadata_updates import find_metadata_table, prepare_metadata_table
from pyhudi.txn.rolling_metadata import NOT_ROLLING, RollingMetadata, rolled_over


class RollBack(Protocol):
    """Rolls back what failed writers left on a locked table, and returns the table with its timeline read again."""

    def __call__(self, table: LockedTable, *, aborted: str | None = None) -> LockedTable:
        """Roll back by the policy of the write; or, where `aborted` names it, the failed write of the caller."""
        ...


@dataclass(frozen=True, slots=True)
class LockedState:
    """A table and its metadata table, None where it has none, as a write leaves them: what may be continued before the lock is released."""

    table: LockedTable
    sync: MetadataSync | None


@dataclass(frozen=True, slots=True)
class Committed:
    """A write that is visible; `state` is None where the table has to be read again."""

    instant: Instant
    metadata: CommitMetadata
    state: LockedState | None = None


class Transaction:
    """A write under way. Made by `begin`; `start` and `commit` are called once each, in this order."""

    def __init__(
        self,
        table: LockedTable,
        operation: Operation,
        settings: MetadataSettings,
        extra_metadata: Mapping[str, str],
        failed_writes: FailedWritesSettings = EAGER,
        instant: str | None = None,
    ) -> None:
        """Take the write's time, unless it has a fixed `instant`; nothing is written yet, but a metadata table rid of what dead writers
        left in it.
        """
        self.table = table
        self.operation = operation
        self._metadata_state = find_metadata_table(table)  # before the time, which is none of the metadata table's
        self.instant = instant or table.times.next()
        self.begun = False
        self._settings = settings
        self._extra_metadata = extra_metadata
        self.view = self._metadata_state.view
        self._in_step: MetadataSync | None = None
        self._inflight: Instant | None = None
        self._sends_heartbeats = failed_writes.sends_heartbeats
        self._has_concurrent_writers = failed_writes.has_concurrent_writers
        self._heartbeat = Heartbeat(table.storage, self.instant, table.clock, failed_writes.heartbeats)

    def start(self, profile: CommitMetadata | None, *, schema_json: str | None = None, history: SchemaHistory | None = None) -> None:
        """Put the write on the timeline, as requested and inflight; before that the metadata table is made what options want.

        Args:
            profile: what it will touch (`pyhudi.write.plan.workload_profile.inflight_metadata`); None leaves the inflight file empty,
                as bulk inserts do.
            schema_json: the table's Avro schema with the write, without meta fields; None leaves the statistics as they are.
            history: that of the schema, if the table keeps one.

        Raises:
            AlreadyExistsError: another writer took the same time.
        """
        self.begun = True
        self.table, self._in_step = prepare_metadata_table(self.table, schema_json, self._settings, self._metadata_state, history=history)
        if self._sends_heartbeats:
            self._heartbeat.__enter__()
        requested = self.table.writer.request(self.action, self.instant, self._request())
        self._inflight = self.table.writer.start(requested, self._profile_content(profile))

    @contextlib.contextmanager
    def completing(self, write: CompletingWrite) -> Iterator[None]:  # noqa: ARG002 - nobody else was there
        """Hold the lock that `commit` needs; of this write it is held from the beginning."""
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
        """Make the write visible.

        Args:
            results: what the tasks did; files of theirs that are not named here are deleted.
            schema_json: the table's Avro schema from now on, without meta fields.
            history: that of the schema, if the table keeps one.
            replaced: file ids by partition path that this write replaces, for operations that do.
            extra_metadata: further entries of the commit's metadata.
            rolling: which entries it takes over from the commits before.

        Raises:
            ConflictError: another writer came between, or could take this one for dead; nothing is visible.
            StorageError: a data file is not there in full, or the storage failed; nothing is visible.
            UnknownOutcomeError: the storage gave no answer to the last step.
        """
        assert self._inflight is not None, "start() comes first"
        table, stats = self.table, [result.stat for result in results]
        if self._sends_heartbeats:
            self._heartbeat.check_alive()
        stated = {**self._extra_metadata, **(extra_metadata or {})}
        reconcile_files(table.storage, self.instant, stats)
        self._check_unchanged(self._inflight)
        metadata = CommitMetadata(
            stats=stats_by_partition(stats),
            extra_metadata={
                **rolled_over(table, rolling, stated),
                **stated,
                SCHEMA_KEY: schema_json,
                IDENTITY_KEY: identity_note(table.config),
                **checksums_of_logs(results),
            },
            operation=self.operation,
            replaced=replaced,
        )
        completed = complete_commit(table, self._inflight, metadata, self._in_step, history=history)
        return Committed(completed.instant, metadata, self._state(completed))

    def _state(self, completed: CompletedAction) -> LockedState | None:
        """Return the table with this write. Times of completion in layout 1 are those of files, which nobody has read."""
        if self.table.config.layout == 1 or (self._in_step is not None and completed.sync is None):
            return None
        return LockedState(replace(self.table, timeline=self.table.timeline.with_instant(completed.instant)), completed.sync)

    def end_heartbeat(self) -> None:
        """Stop saying that this write is alive."""
        if self._sends_heartbeats and self.begun:
            self._heartbeat.__exit__()

    @property
    def action(self) -> Action:
        """The action that the write completes as."""
        if self.operation.replaces:
            return Action.REPLACE_COMMIT
        return Action.DELTA_COMMIT if self.table.config.is_merge_on_read else Action.COMMIT

    def _check_unchanged(self, inflight: Instant) -> None:
        if not self._has_concurrent_writers:  # who put their requested writes inflight without the lock
            check_timeline_unchanged(self.table, inflight)

    def _profile_content(self, profile: CommitMetadata | None) -> bytes:
        if profile is None:
            return b""
        return commit_content(profile, self.table.config.layout, sync=self.table.ids.sync_marker())

    def _request(self) -> bytes:
        if not self.operation.replaces:
            return b""
        return encode_requested_replace(self.operation, sync=self.table.ids.sync_marker())


@contextlib.contextmanager
def begin(
    storage: Storage,
    operation: Operation,
    *,
    wait_s: float,
    clock: Clock,
    ids: Ids,
    roll_back: RollBack,
    metadata_table: MetadataSettings = AS_IT_IS,
    extra_metadata: Mapping[str, str] | None = None,
    version: int | None = None,
    failed_writes: FailedWritesSettings = EAGER,
    instant: str | None = None,
) -> Iterator[Transaction]:
    """Hold the table's lock and hand out a transaction; leaving with an error rolls back what it wrote.

    Args:
        storage: the table's storage.
        operation: what the commit will say it is.
        wait_s: how long to wait for the lock, in seconds.
        clock: tells the time.
        ids: gives ids.
        roll_back: rolls back failed writes (`pyhudi.service.rollback`), before this one and if it fails.
        metadata_table: what the write's options say about the metadata table.
        extra_metadata: entries that the write's options put into the commit's metadata.
        version: the table version for which the write was prepared.
        failed_writes: whether the write sends heartbeats.
        instant: the time of the write, where the format has fixed it.

    Raises:
        ConflictError: the table was upgraded or downgraded since it was opened.
        LockTimeoutError: another writer held the lock for too long.
        UnsupportedError: the table has features, or pending services, that exclude concurrent writes of this release.
    """
    with locked_table(storage, wait_s, clock, ids, heartbeats=failed_writes.heartbeats) as unlocked:
        check_version(unlocked, version)
        check_nothing_planned(unlocked)
        table = roll_back(unlocked)
        transaction = Transaction(table, operation, metadata_table, extra_metadata or {}, failed_writes, instant)
        try:
            yield transaction
        except UnknownOutcomeError:
            raise
        except BaseException as error:
            if transaction.begun:
                _rollback_pending(transaction, roll_back, error)
            raise
        finally:
            transaction.end_heartbeat()


def check_version(table: LockedTable, version: int | None) -> None:
    """Refuse to write to a table that is of another version than when it was opened.

    Raises:
        ConflictError: names both versions.
    """
    if version is not None and table.config.version != version:
        raise ConflictError(
            f"table {table.storage.uri} was moved from version {version} to {table.config.version} since it was opened. Nothing was"
            " written; open it again, and write again."
        )


def _rollback_pending(transaction: Transaction, roll_back: RollBack, error: BaseException) -> None:
    """Roll the failed write back; when that fails too, it stays pending, unseen, until others come who roll back failed writes.

    Without the lock nothing is rolled back: what is pending may be another writer's.
    """
    if not transaction.table.is_locked:
        return
    try:
        roll_back(transaction.table.reload(), aborted=transaction.instant)
    except (HudiError, OSError) as failure:
        error.add_note(f"What it wrote is not visible; rolling it back failed and is left to the next writer: {failure}")
