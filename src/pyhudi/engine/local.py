"""The local engine: tasks on threads of this process. pyarrow lets go of the interpreter's lock while it reads and
writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
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
        try:
            return list(pool.map(function, tasks))
        finally:
            # An error or an interrupt drops the tasks that have not begun and waits for those that have.
            pool.shutdown(wait=True, cancel_futures=True)
