"""Threads of this process that run one piece of work after another, and are never let go.

They stay because the end of a thread object calls a function of Python's own (`threading._dangling`, the weak dictionaries of
`concurrent.futures`) on whatever thread lets go of it, and a Ctrl-C that comes in there is lost: it is printed as ignored, and the write
goes on. A process that is forked begins without any.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import TypeAlias

Work: TypeAlias = Callable[[], None]


class Workers:
    """Up to `most` threads, begun when they are needed first. Work handed over must raise nothing.

    They are daemons: whoever waits for work keeps the process from ending, work that nobody waits for does not.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._changed = threading.Lock()
        self._here = threading.local()

    @property
    def is_one(self) -> bool:
        """True on a thread of these: it must not wait for others, who may all wait as well."""
        return getattr(self._here, "is_one", False)

    def take(self, work: Work, times: int) -> None:
        """Have work done on so many threads, as soon as they are free."""
        for _ in range(times):
            self._waiting.put(work)
        with self._changed:
            while len(self._threads) < min(times, self._most):
                thread = threading.Thread(target=self._run, name="pyhudi-work", daemon=True)
                thread.start()
                # Only now: one that a Ctrl-C kept from starting must not be counted; one too many does no harm.
                self._threads.append(thread)

    def _run(self) -> None:
        self._here.is_one = True
        while True:
            self._waiting.get()()


_MOST_THREADS = 8
_workers = Workers(_MOST_THREADS)


def workers() -> Workers:
    """Return the threads of this process."""
    return _workers


def _forget() -> None:
    global _workers  # noqa: PLW0603 - threads do not come along when a process is forked
    _workers = Workers(_MOST_THREADS)


os.register_at_fork(after_in_child=_forget)
