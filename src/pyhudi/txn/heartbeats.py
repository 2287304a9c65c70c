"""Heartbeats: how a writer that does not hold the table's lock from begin to end says that it is alive.

A heartbeat is the file `.hoodie/.heartbeat/<requested time>`, empty, written again once an interval; the time of its last change counts.
Rules: `HoodieHeartbeatClient`, `HoodieHeartbeatUtils`; docs/format/concurrency.md#heartbeats-and-failed-writes.
"""

from __future__ import annotations

import logging
import os
from typing import Final, Self

from pyhudi.errors import ConflictError, HudiError
from pyhudi.locks.holder import new_holder_id
from pyhudi.locks.renewal import Renewal
from pyhudi.spec.config.concurrency_keys import MODE
from pyhudi.spec.instant import Instant
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock, elapsed_millis, now_millis
from pyhudi.txn.heartbeat_settings import DEFAULTS, INTERVAL, HeartbeatSettings
from pyhudi.txn.locked_table import LockedTable

_log = logging.getLogger(__name__)
_FOLDER: Final = ".hoodie/.heartbeat"
#: Apache Hudi takes each file next to heartbeats for one.
_CLOCK: Final = ".hoodie/.locks/clock"
#: How long an end waits for a beat that is being written, in seconds.
_LAST_BEAT_S: Final = 30.0


def heartbeat_path(requested: str) -> str:
    """Return the path of the heartbeat file of an instant.

    Example:
        >>> heartbeat_path("20240101000000000")
        '.hoodie/.heartbeat/20240101000000000'
    """
    return f"{_FOLDER}/{requested}"


def is_alive(storage: Storage, requested: str, clock: Clock, settings: HeartbeatSettings = DEFAULTS) -> bool:
    """Tell whether the writer of an instant showed life lately; one without a heartbeat file did not.

    The storage stamps heartbeats, and this machine's clock may be hours away from its clock. So a writer counts as dead only by the
    storage's clock, which a file tells that is written for it. Apache Hudi goes by the machine's clock, and rolls back live writers then.
    """
    beat = storage.stat(heartbeat_path(requested))
    if beat is None:
        return False
    if 0 <= now_millis(clock) - beat.modified_ms <= settings.alive_ms:
        return True
    now = _now_of(storage)
    return now is None or now - beat.modified_ms <= settings.alive_ms


def _now_of(storage: Storage) -> int | None:
    """Return the time of the storage's clock in milliseconds; None when another process has deleted the file that was to tell it."""
    path = f"{_CLOCK}.{new_holder_id()}"
    storage.replace(path, b"")
    try:
        written = storage.stat(path)
    finally:
        storage.delete(path)
    return None if written is None else written.modified_ms


def check_writer_has_died(table: LockedTable, pending: Instant) -> None:
    """Refuse to roll back a write whose writer is alive.

    Raises:
        ConflictError: its heartbeat is fresh.
    """
    if is_alive(table.storage, pending.requested, table.clock, table.heartbeats):
        raise ConflictError(
            f"{pending.action} {pending.requested} of table {table.storage.uri} is being written: its writer showed life less than"
            f" {table.heartbeats.alive_ms / 1000:g} seconds ago. Wait for it and try again; a write with the"
            f" same {MODE} need not wait."
        )


class Heartbeat:
    """The heartbeat of an instant of this process: a context that writes it in a thread, and deletes it at its end.

    Example:
        >>> from pyhudi.storage.memory_storage import MemoryStorage
        >>> from pyhudi.timeline.clock import SystemClock
        >>> storage, clock = MemoryStorage(), SystemClock()
        >>> with Heartbeat(storage, "20240101000000000", clock):
        ...     is_alive(storage, "20240101000000000", clock)
        True
        >>> is_alive(storage, "20240101000000000", clock)
        False
    """

    def __init__(
        self, storage: Storage, requested: str, clock: Clock, settings: HeartbeatSettings = DEFAULTS, *, may_be_taken_over: bool = False
    ) -> None:
        """Write nothing yet. `may_be_taken_over` tells that another process continues with the instant when this one counts as dead."""
        self._may_be_taken_over = may_be_taken_over
        self._storage, self._requested, self._clock, self._settings = storage, requested, clock, settings
        self._last_ms = 0.0
        self._process = os.getpid()
        self._is_lost = False
        failed = f"no heartbeat of {requested} in table {storage.uri} could be written"
        self._renewal = Renewal(settings.interval_ms / 1000, self._renew, failed)

    def __enter__(self) -> Self:
        """Write the first heartbeat, and begin to write further ones.

        Raises:
            StorageError: the storage failed.
        """
        self._write()
        self._renewal.start()  # where no thread is to be had, a write that takes longer than the heartbeat lives is refused
        return self

    def __exit__(self, *error: object) -> None:
        """Delete the file; one that cannot be deleted expires. A forked child leaves the heartbeat of its parent alone, and a process that
        was taken for dead leaves that of whoever has taken over.
        """
        if self._process != os.getpid():
            return
        self._renewal.stop(_LAST_BEAT_S)
        if self._may_be_taken_over and self._is_expired():
            return
        try:
            self._storage.delete(heartbeat_path(self._requested))
        except (HudiError, OSError) as failure:
            _log.warning("the heartbeat of %s in table %s is left to expire: %s", self._requested, self._storage.uri, failure)

    def check_alive(self) -> None:
        """Refuse to continue when others may take this writer for dead. Call it before the commit.

        Raises:
            ConflictError: the last heartbeat was written too long ago, now or at any time since the first.
        """
        if self._is_expired():
            raise ConflictError(
                f"the heartbeat of {self._requested} of table {self._storage.uri} expired: for more than {self._settings.alive_ms} ms the"
                " process was held up, or the storage took no heartbeat, and other writers may have rolled this write back. Nothing of it"
                f" is visible; write again, with a longer {INTERVAL} if this happens often."
            )

    def _is_expired(self) -> bool:
        """Tell whether others may take this writer for dead: by the time that has passed, whatever this machine's clock was set to."""
        if not self._is_lost and elapsed_millis(self._clock) - self._last_ms > self._settings.alive_ms:
            self._is_lost = True
        return self._is_lost

    def _renew(self) -> bool:
        """Write a heartbeat unless the last one was too long ago: a writer that others take for dead must not come back to life."""
        if self._is_expired():
            return False
        self._write()
        return True

    def _write(self) -> None:
        before = elapsed_millis(self._clock)
        self._storage.replace(heartbeat_path(self._requested), b"")
        self._last_ms = before
