"""The local engine: tasks on threads of this process. pyarrow lets go of the interpreter's lock while it reads and
writes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from pyhudi.engine.engine_protocol import Result, Task
from pyhudi.progress import report
from pyhudi.workers import workers

_MOST_THREADS = 8
_LOOK_AGAIN_S = 0.1


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
        if len(tasks) <= 1 or self.threads <= 1 or workers().is_one:
            return [_reported(function(task), number, len(tasks)) for number, task in enumerate(tasks, 1)]
        job = _Job(function, tasks)
        try:
            if not workers().take(job.work, min(self.threads, len(tasks))):
                job.work()
            return job.results()
        finally:
            # An error or an interrupt drops the tasks that have not begun and waits for those that have.
            job.close()


class _Job(Generic[Task, Result]):
    """Tasks that several threads take one by one, until one has failed or the job is closed.

    A Ctrl-C comes in anywhere on the thread that waits. So that thread holds locks of C alone, which a `with` never leaves held, counts
    nothing itself, and looks again after a while, should a message have been lost with it.
    """

    def __init__(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> None:
        self._function, self._tasks = function, tasks
        self._results: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}
        self._lock = threading.Lock()
        self._begun = self._ended = 0
        self._is_closed = False
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()

    def work(self) -> None:
        """Run tasks as long as there are some to begin."""
        while (number := self._next()) is not None:
            try:
                self._results[number] = self._function(self._tasks[number])
            except BaseException as error:  # noqa: BLE001 - it belongs to the thread that waits for the results
                self._errors[number] = error
            with self._lock:
                self._ended += 1
            self._news.put(None)

    def results(self) -> list[Result]:
        """Wait for all results and return them in the order of the tasks.

        Raises:
            Exception: the first failure in the order of the tasks, once no task is running.
        """
        self._wait(lambda: self._errors or self._ended == len(self._tasks))
        self.close()
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._results[number] for number in range(len(self._tasks))]

    def close(self) -> None:
        """Let no further task begin, and wait for those that have begun."""
        with self._lock:
            self._is_closed = True
        self._wait(lambda: self._ended == self._begun)

    def _next(self) -> int | None:
        with self._lock:
            if self._is_closed or self._errors or self._begun == len(self._tasks):
                return None
            self._begun += 1
            return self._begun - 1

    def _wait(self, is_so: Callable[[], object]) -> None:
        while True:
            with self._lock:
                if is_so():
                    return
            report(self._ended, len(self._tasks))
            with contextlib.suppress(queue.Empty):
                self._news.get(timeout=_LOOK_AGAIN_S)


def _reported(result: Result, done: int, count: int) -> Result:
    report(done, count)
    return result
