"""Locks among the threads of one process, which serve them in the order in which they came.

Tables on storages without file locks have one for each table: a lock provider excludes other processes.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from pyhudi.errors import LockTimeoutError


class FairLock:
    """A lock whose release hands it to the thread that has waited longest, so one that takes it again at once does not starve others.

    Example:
        >>> lock = FairLock()
        >>> lock.acquire(timeout_s=0), lock.acquire(timeout_s=0)
        (True, False)
    """

    def __init__(self) -> None:
        """It is free."""
        self._guard = threading.Lock()
        self._is_held = False
        self._waiting: deque[threading.Lock] = deque()

    def acquire(self, timeout_s: float) -> bool:
        """Take the lock and return True, or False when it was not this thread's turn within `timeout_s` seconds."""
        with self._guard:
            if not self._is_held:
                self._is_held = True
                return True
            turn = threading.Lock()
            turn.acquire()
            self._waiting.append(turn)
        try:
            is_mine = turn.acquire(timeout=max(timeout_s, 0))
        except BaseException:  # Ctrl-C
            if not self._withdraw(turn):
                self.release()
            raise
        return is_mine or not self._withdraw(turn)

    def is_held(self) -> bool:
        """Tell whether some thread holds the lock."""
        return self._is_held

    def release(self) -> None:
        """Hand the lock to the next thread, or leave it free."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_held = False

    def _withdraw(self, turn: threading.Lock) -> bool:
        """Wait no more; False when the lock was handed over meanwhile."""
        with self._guard:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return True
            return False


@dataclass(slots=True)
class _Shared:
    """A lock and the number of threads that hold it or wait for it."""

    lock: FairLock = field(default_factory=FairLock)
    users: int = 0


_guard = threading.Lock()
_locks: Final[dict[tuple[str, str], _Shared]] = {}


@contextlib.contextmanager
def process_lock(uri: str, name: str, timeout_s: float) -> Iterator[FairLock]:
    """Hold the lock of a table in this process.

    Raises:
        LockTimeoutError: another thread held it for longer than `timeout_s` seconds.

    Example:
        >>> with process_lock("s3://bucket/trips", "", 0) as lock:
        ...     lock.is_held()
        True
    """
    key = (uri, name)
    with _guard:
        shared = _locks.setdefault(key, _Shared())
        shared.users += 1
    try:
        if not shared.lock.acquire(timeout_s):
            raise LockTimeoutError(f"another thread has held the {name or 'writer'} lock of table {uri} for {timeout_s:g} s")
        try:
            yield shared.lock
        finally:
            shared.lock.release()
    finally:
        with _guard:
            shared.users -= 1
            if not shared.users and _locks.get(key) is shared:
                del _locks[key]


def _forget() -> None:
    """Free the locks of a forked child: the threads that hold them did not come along."""
    global _guard  # noqa: PLW0603 - a thread may have held it while the process was forked
    _guard = threading.Lock()
    _locks.clear()


os.register_at_fork(after_in_child=_forget)
