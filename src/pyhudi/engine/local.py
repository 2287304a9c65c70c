"""The local engine: tasks on threads of this process. pyarrow lets go of the interpreter's lock while it reads and
writes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field

from pyhudi.engine.protocol import Result, Task

_MOST_THREADS = 8


def _default_threads() -> int:
    return min(_MOST_THREADS, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Runs tasks on at most `threads` threads; a single task on the caller's own.

    Example:
        >>> LocalEngine(threads=2).run(abs, [-1, 2, -3])
        [1, 2, 3]
    """

    threads: int = field(default_factory=_default_threads)

    @property
    def name(self) -> str:
        """`local`."""
        return "local"

    def run(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """Return the results in the order of the tasks; see the protocol."""
        if len(tasks) <= 1 or self.threads <= 1:
            return [function(task) for task in tasks]
        pool = ThreadPoolExecutor(max_workers=min(self.threads, len(tasks)), thread_name_prefix="pyhudi")
        gate = _Gate()
        try:
            return list(pool.map(lambda task: gate.run(function, task), tasks))
        finally:
            # An error or an interrupt drops the tasks that have not begun and waits for those that have.
            pool.shutdown(wait=True, cancel_futures=True)
            gate.close()


class _Gate:
    """Lets tasks begin until it is closed.

    The pool does not do for that: a Ctrl-C while it starts a thread leaves it a thread that it knows nothing of, whose task would go on
    writing after the write was taken back.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._is_closed = False

    def run(self, function: Callable[[Task], Result], task: Task) -> Result:
        """Run a task, unless the gate is closed."""
        with self._changed:
            if self._is_closed:
                raise CancelledError
            self._running += 1
        try:
            return function(task)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Let no further task begin, and wait for those that have begun."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: not self._running)
