"""Python's garbage collector, kept from walking again and again over values that all stay."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Iterator
from typing import Final


class _Pauses:
    """How many threads want the collector paused, and whether it was on before the first of them."""

    def __init__(self) -> None:
        self.lock: Final = threading.RLock()
        self._count = 0
        self._was_on = False

    def begin(self) -> None:
        with self.lock:
            if not self._count:
                self._was_on = gc.isenabled()
                gc.disable()
            self._count += 1

    def end(self) -> None:
        with self.lock:
            self._count -= 1
            if not self._count and self._was_on:
                gc.enable()

    def end_in_child(self, pauses_of_thread: int) -> None:
        """Forget the pauses of threads that a forked process does not have."""
        others, self._count = self._count - pauses_of_thread, pauses_of_thread
        if others and not self._count and self._was_on:
            gc.enable()
        self.lock.release()


_pauses: Final = _Pauses()


class _OfThread(threading.local):
    """The pauses that a thread is in."""

    count = 0


_this_thread: Final = _OfThread()


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector of cycles while many small values are made: for 50,000 files its walks took as long as all else.

    None of the values is in a cycle. Pauses may nest and overlap in threads: the first finds out whether the collector is on, and the last
    one to end, whichever thread it is of, restores just that.
    """
    _pauses.begin()
    _this_thread.count += 1
    try:
        yield
    finally:
        _this_thread.count -= 1
        _pauses.end()


os.register_at_fork(
    before=_pauses.lock.acquire, after_in_parent=_pauses.lock.release, after_in_child=lambda: _pauses.end_in_child(_this_thread.count)
)
