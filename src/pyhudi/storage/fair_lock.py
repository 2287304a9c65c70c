"""A lock among the threads of one process that serves them in the order in which they came."""

from __future__ import annotations

import threading
from collections import deque


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
