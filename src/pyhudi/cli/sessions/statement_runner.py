"""Statements on a thread of their own, so that Ctrl-C can cancel them.

PySpark's handler of Ctrl-C cancels the jobs over the main thread's own connection to the JVM. Where that thread waits for the answer of a
statement, the connection breaks, and the session with it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Final

#: As Spark's shell does: once a statement's jobs are cancelled, another Ctrl-C ends the process without waiting.
_AGAIN: Final = "Cancelling the statement; press Ctrl-C again to end the shell without waiting for it.\n"
#: A statement of several jobs may be between two of them when the first is cancelled.
_SECONDS_TO_NEXT: Final = 2.0
INTERRUPTED: Final = 130


class StatementRunner:
    """Runs statements one after the other; Ctrl-C cancels the one that runs.

    Args:
        run: Runs a statement, and returns whether it succeeded.
        cancel: Cancels the jobs of a statement that runs; it is called on the thread that waits.
        note: Prints a text, with its line break.
    """

    def __init__(self, run: Callable[[str], bool], cancel: Callable[[], None], note: Callable[[str], None]) -> None:
        self._run, self._cancel, self._note = run, cancel, note
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="statement")
        self._pool.submit(bool).result()  # a thread whose start is interrupted would outlive the pool
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def run(self, statement: str) -> bool:
        """Run a statement; return whether it succeeded.

        Raises:
            KeyboardInterrupt: it was interrupted, and has ended.
        """
        running = None
        try:
            running = self._pool.submit(self._run, statement)
            return running.result()
        except KeyboardInterrupt:
            if running is not None:
                self._note(_AGAIN)
                self._end(running)
            raise

    def _end(self, running: Future[bool]) -> None:
        try:
            while not running.done():
                self._cancel()
                wait([running], timeout=_SECONDS_TO_NEXT)
        except KeyboardInterrupt:
            os._exit(INTERRUPTED)
