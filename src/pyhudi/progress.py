"""Progress of what takes longer than a second: a bar on a terminal or in a notebook, nothing anywhere else.

Nobody passes a bar around: `progress_bar` makes one the current bar of its thread, and whoever runs tasks reports to it (`report`).
Scripts, pipes and logs see nothing, since standard error is no terminal there; `PYHUDI_PROGRESS=0` turns it off, `without_progress` for a
block. While Spark is loaded, it is off: Spark shows its own.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Final

#: How long something takes before it is shown, and between two updates, in seconds.
_DELAY_S: Final = 1.0
_REFRESH_S: Final = 0.1
_VARIABLE: Final = "PYHUDI_PROGRESS"


class _Bar:
    """How far something is; a thread of its own shows it after a while."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._state: tuple[int, int | None] = (0, None)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, name="pyhudi-progress", daemon=True)

    def begin(self) -> None:
        with contextlib.suppress(RuntimeError):  # the limit of threads is reached: there is no bar
            self._thread.start()

    def end(self) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def update(self, done: int, count: int) -> None:
        self._state = (done, count)

    def _show(self) -> None:
        if self._ended.wait(_DELAY_S):
            return
        with contextlib.suppress(Exception):  # work does not fail since its bar does
            self._draw()

    def _draw(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - takes a tenth of a second, and most calls are faster
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        # Redirected streams would send what the program prints to standard output to standard error.
        console = Console(stderr=True)
        with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bars:
            task = bars.add_task(self._title, total=None)
            while not self._ended.wait(_REFRESH_S):
                done, count = self._state
                bars.update(task, completed=done, total=count)


#: The bar of this thread; None where nothing is shown, False where nothing may be.
_current: ContextVar[_Bar | bool | None] = ContextVar("pyhudi_progress", default=None)


@contextlib.contextmanager
def progress_bar(title: str) -> Iterator[None]:
    """Show how far a block is once it takes long; within another bar, that one goes on. Also a decorator.

    Example:
        >>> with progress_bar("counting"):
        ...     for number in range(3):
        ...         report(number + 1, 3)
    """
    if _current.get() is not None or not _is_enabled():
        yield
        return
    bar = _Bar(title)
    token = _current.set(bar)
    try:
        bar.begin()
        yield
    finally:
        _current.reset(token)
        bar.end()


@contextlib.contextmanager
def without_progress() -> Iterator[None]:
    """Show no bar within a block."""
    token = _current.set(False)
    try:
        yield
    finally:
        _current.reset(token)


def report(done: int, count: int) -> None:
    """Say to the current bar, if there is one, how many tasks of how many are done."""
    bar = _current.get()
    if isinstance(bar, _Bar):
        bar.update(done, count)


def _is_enabled() -> bool:
    if os.environ.get(_VARIABLE, "").lower() in ("0", "false", "off", "no") or "pyspark" in sys.modules:
        return False
    return _is_notebook() or (sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb")


def _is_notebook() -> bool:
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
