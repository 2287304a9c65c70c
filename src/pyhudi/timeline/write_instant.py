"""Bringing instants forward: each step creates one file, and the file of the last step makes the action visible.

Rules: Hudi technical specification, "Timeline"; `ActiveTimelineV2`; docs/format/timeline.md#protocol-of-readers-and-writers. The caller
holds the table's lock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyhudi.errors import AlreadyExistsError, ConflictError, LockLostError, StorageError, UnknownOutcomeError
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import HeldLock, Storage
from pyhudi.timeline.instant_details import instant_path, read_bytes
from pyhudi.timeline.state import check_layout, first_state, next_instant


@dataclass(frozen=True, slots=True)
class TimelineWriter:
    """Writes the state files of a table's instants; `lock` is the one under which new ones take their times, where there is one.

    Example:
        >>> writer = TimelineWriter(table.storage, table.config)
        >>> inflight = writer.start(writer.request(Action.COMMIT, "20260102060000000"))
        >>> writer.complete(inflight, "20260102060000001", b"{}").state.name
        'COMPLETED'
    """

    storage: Storage
    config: TableConfig
    lock: HeldLock | None = None

    def request(self, action: Action, time: str, content: bytes = b"") -> Instant:
        """Create the first file of a new instant and return it; a savepoint begins inflight.

        A lock that is still held then shows that nobody else has taken the same time: whoever takes one under the lock lists this file.

        Raises:
            AlreadyExistsError: the time is taken by an action of the same kind.
            LockLostError: the lock was lost, and another action may have the same time; nothing was done, at most the first file is left.
        """
        check_layout(action, self.config.layout)
        self._check_locked(action, time)
        instant = self._create(Instant(time, action, first_state(action)), content)
        try:
            self._check_locked(action, time)
        except LockLostError:
            # That of an action with a plan may have been taken up by whoever holds the lock now (`pyhudi.txn.conflicts.colliding_plans`).
            if action.writes_data:
                self.storage.delete(instant_path(self.config, instant))
            raise
        return instant

    def _check_locked(self, action: Action, time: str) -> None:
        if self.lock is not None and not self.lock.is_held():
            raise LockLostError(
                f"the lock of table {self.storage.uri} was lost, since its file was deleted or replaced or this process was held up, before"
                f" {action} {time} had begun: another writer may have taken the same time. Nothing was done; try again. Leave the lock"
                " file alone."
            )

    def start(self, instant: Instant, content: bytes = b"") -> Instant:
        """Create the inflight file of a requested instant and return the inflight instant."""
        return self._create(next_instant(instant), content)

    def complete(self, instant: Instant, completed_time: str, content: bytes, check: Callable[[], None] = lambda: None) -> Instant:
        """Create the completed file of an inflight instant: from here on the action is visible.

        A storage that fails without an answer is asked what happened: the call returns when the file is there with
        this content.

        Args:
            instant: the inflight instant.
            completed_time: when the action completes.
            content: of the file.
            check: called last, when the file is about to be created; raises an error if the lock was lost.

        Raises:
            ConflictError: the inflight file is missing (another writer rolled this one back) or another completed it.
            StorageError: the file could not be created; the action is not visible.
            UnknownOutcomeError: the storage does not answer; the action may be visible.
        """
        if self.storage.stat(instant_path(self.config, instant)) is None:
            raise ConflictError(f"{instant.action} {instant.requested} of table {self.storage.uri} was rolled back by another writer")
        done = next_instant(instant, completed_time)
        target = done if self.config.layout > 1 else Instant(done.requested, done.action, done.state)
        check()
        try:
            return self._create(target, content)
        except StorageError as error:
            return self._resolve(target, content, error)

    def remove(self, instant: Instant) -> None:
        """Delete the files of a pending instant, the latest state first, so that a cut leaves a pending instant and
        no fragment.

        Raises:
            ValueError: the instant is completed.
        """
        if instant.is_completed:
            raise ValueError(f"{instant.action} {instant.requested} is completed; it must stay on the timeline")
        for state in (State.INFLIGHT, State.REQUESTED):
            self.storage.delete(instant_path(self.config, Instant(instant.requested, instant.action, state)))

    def _create(self, instant: Instant, content: bytes) -> Instant:
        self.storage.create(instant_path(self.config, instant), content)
        return instant

    def _resolve(self, instant: Instant, content: bytes, error: StorageError) -> Instant:
        """Decide a create that failed by looking: the content's random sync marker tells our file from any other."""
        name = instant_path(self.config, instant)
        try:
            stored = read_bytes(self.storage, self.config, instant)
        except FileNotFoundError:
            raise error from None
        except StorageError as unanswered:
            raise UnknownOutcomeError(
                f"no answer whether '{name}' of table {self.storage.uri} was created; look at the table's history"
            ) from unanswered
        if stored == content:
            return instant
        if isinstance(error, AlreadyExistsError):
            raise ConflictError(f"another writer completed {instant.requested} as '{name}' of table {self.storage.uri}")
        raise error
