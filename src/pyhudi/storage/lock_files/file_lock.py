"""The writer lock of a local table: an advisory lock (`flock`) on an open file, gone with the process that holds it.

Waiters are served in the order in which they came (`lock_queue`). One whose turn it is and who does not take the free lock, because its
process is stopped, is passed over after a while.
"""

from __future__ import annotations

import hashlib
import os
import re
import time

from pyhudi.errors import LockTimeoutError, StorageError
from pyhudi.storage.lock_files.lock_descriptor import LockDescriptor
from pyhudi.storage.lock_files.lock_queue import LockQueue

_IDENTITY_CHARACTERS = 32
_IDENTITY = re.compile(rb"[0-9a-f]{32}")
_FLAGS = os.O_RDWR | os.O_CREAT
_SHORTEST_WAIT_S = 0.001
_LONGEST_WAIT_S = 0.05
#: Share of the time waited so far that passes until the next look: so a handover costs little, a long wait little work.
_WAIT_SHARE = 0.02
#: How long the lock must be free before a waiter passes those before it.
_PATIENCE_S = 1.0


class FileLock:
    """The lock of one lock file, for one holder.

    Example:
        >>> lock = FileLock("/tmp/pyhudi-example.lock")
        >>> lock.acquire(os.open("/tmp", os.O_RDONLY), "pyhudi-example.lock", 1.0, "/data/trips")
        >>> lock.release()
    """

    def __init__(self, path: str) -> None:
        """Nothing is held yet; `path` is where the lock file will be, or is."""
        self._path = path
        self._file: LockDescriptor | None = None

    def acquire(self, folder: int, name: str, timeout_s: float, uri: str) -> None:
        """Lock the file `name` of an open folder, made if missing.

        Raises:
            LockTimeoutError: others held it for longer than `timeout_s` seconds.
            StorageError: the file system has no such locks, or the file was deleted meanwhile.
        """
        self._file = file = LockDescriptor(name, _FLAGS, folder)
        queue = LockQueue(folder, name)
        has_turn = not queue.tickets() or (timeout_s <= 0 and queue.first() is None)
        if not (has_turn and _try_lock(file, uri)):
            if timeout_s <= 0:  # between two turns the lock is free for a moment: it is for those who wait
                raise _timeout_error(timeout_s, uri)
            _wait(file, queue, timeout_s, uri)
        if file.is_deleted():
            raise StorageError(f"the lock file '{name}' of table {uri} was deleted meanwhile, as removing a table does; try again")

    def identity(self) -> str:
        """Return the id that is in the lock file, where a first holder puts one; the lock is held.

        Raises:
            StorageError: the file holds something else, so it is no lock file.
        """
        assert self._file is not None, "acquire() comes first"
        content = self._file.content(_IDENTITY_CHARACTERS + 1)
        if not content:
            content = hashlib.md5(self._file.birth().encode(), usedforsecurity=False).hexdigest().encode()
            self._file.set_content(content)
        if _IDENTITY.fullmatch(content) is None:
            raise StorageError("the lock file holds something else than the id of a lock; name a file that nothing else uses")
        return content.decode()

    def is_held(self) -> bool:
        """Tell whether the lock file is still the one that was locked; after a delete or a move others lock a new one."""
        return self._file is not None and self._file.is_at(self._path)

    def release(self) -> None:
        """End the lock; a second call, or one in a forked child, does nothing."""
        if self._file is not None:
            self._file.close()


def _wait(file: LockDescriptor, queue: LockQueue, timeout_s: float, uri: str) -> None:
    """Wait for one's turn and lock the file."""
    start = time.monotonic()
    with queue.ticket() as ticket:
        stopped = _Stopped(start)
        is_first = ticket is None
        while True:
            before = None if is_first or ticket is None else queue.first_before(ticket)
            is_first = before is None  # who comes later has a later ticket
            if (is_first and _try_lock(file, uri)) or (before is not None and stopped.lets_pass(before, file, uri)):
                return
            waited_s = time.monotonic() - start
            if waited_s >= timeout_s:
                raise _timeout_error(timeout_s, uri)
            time.sleep(min(max(waited_s * _WAIT_SHARE, _SHORTEST_WAIT_S), _LONGEST_WAIT_S, timeout_s - waited_s))


class _Stopped:
    """Finds out whether the waiter whose turn it is leaves the lock free: then it is stopped, and those behind it pass."""

    def __init__(self, now: float) -> None:
        self._ticket, self._free_since, self._next_look = "", now, now + _PATIENCE_S / 4

    def lets_pass(self, ticket: str, file: LockDescriptor, uri: str) -> bool:
        """Look now and then whether the lock is free while this ticket comes first; True leaves it locked for the caller."""
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + _PATIENCE_S / 4
        is_free = _try_lock(file, uri)
        if not is_free or ticket != self._ticket:
            self._ticket, self._free_since = ticket if is_free else "", now
        if is_free and now - self._free_since >= _PATIENCE_S:
            return True
        if is_free:
            file.unlock()
        return False


def _try_lock(file: LockDescriptor, uri: str) -> bool:
    try:
        return file.try_lock()
    except OSError as error:
        raise StorageError(f"the file system of table {uri} gives no writer lock: {error}") from error


def _timeout_error(timeout_s: float, uri: str) -> LockTimeoutError:
    return LockTimeoutError(f"another writer has held the lock of table {uri} for {timeout_s:g} s; wait for it or allow more time")
