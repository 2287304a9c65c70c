"""What a write does about compaction once it is committed. The write stands whatever becomes of the compaction.

Rules: `BaseHoodieWriteClient.runTableServicesInline`: what is pending is run first, then what is due is planned and run; log compaction
comes after compaction.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from pyhudi.errors import ConflictError, HudiError
from pyhudi.service.compaction.compaction_modes import Results, run_pending, schedule_and_run, schedule_one
from pyhudi.service.compaction.compaction_settings import CompactionSettings, RunMode
from pyhudi.service.compaction.compaction_trigger import compaction_is_due
from pyhudi.service.compaction.execute_compaction import CompactionRunner
from pyhudi.service.compaction.pending_compactions import pending_compactions
from pyhudi.spec.instant import Action
from pyhudi.timeline.timeline import Timeline

_log = logging.getLogger(__name__)
#: Threads that have ended stay until the next one begins, which lets go of them: on any other a Ctrl-C could be lost (`pyhudi.workers`).
_threads: set[threading.Thread] = set()


def after_commit(runner: CompactionRunner, timeline: Timeline, settings: CompactionSettings, now: str) -> Results:
    """Do what the settings ask for, and return what was done in this thread.

    Args:
        runner: where and how; the table's lock must be free.
        timeline: the table's, with the commit that was just made.
        settings: what the options of the write say.
        now: the present as an instant time.
    """
    work = _work(runner, timeline, settings, now)
    if work is None:
        return ()
    if settings.mode is RunMode.BACKGROUND:
        _start(work, runner.storage.uri)
        return ()
    return _guarded(work, runner.storage.uri)


def wait_for_background() -> None:
    """Wait until the compactions that writes of this process began in threads are done; the interpreter does so at its end."""
    for thread in tuple(_threads):
        thread.join()


def _work(runner: CompactionRunner, timeline: Timeline, settings: CompactionSettings, now: str) -> Callable[[], Results] | None:
    is_due = settings.mode is not RunMode.OFF and compaction_is_due(timeline, settings, now)
    if settings.mode is RunMode.SCHEDULE:
        return (lambda: schedule_one(runner, Action.COMPACTION, settings)) if is_due else None
    if is_due:
        return lambda: schedule_and_run(runner, Action.COMPACTION, settings)
    if settings.mode is not RunMode.OFF and pending_compactions(timeline, Action.COMPACTION):
        return lambda: run_pending(runner, Action.COMPACTION)
    if settings.log_inline:
        return lambda: schedule_and_run(runner, Action.LOG_COMPACTION, settings)
    return None


def _start(work: Callable[[], Results], uri: str) -> None:
    """Run the work in a thread that the interpreter waits for."""

    def run() -> None:
        _threads.difference_update([thread for thread in tuple(_threads) if not thread.is_alive()])
        _guarded(work, uri)

    thread = threading.Thread(target=run, name="pyhudi-compaction", daemon=False)
    try:
        thread.start()
    except RuntimeError:  # the system starts no more threads
        _guarded(work, uri)
    else:
        _threads.add(thread)


def _guarded(work: Callable[[], Results], uri: str) -> Results:
    """Do the work; what goes wrong is logged: the write before it is committed, and a caller that heard of an error would repeat it."""
    try:
        results = work()
    except ConflictError as error:
        _log.info("no compaction after the write to table %s: %s", uri, error)
        return ()
    except (HudiError, OSError) as error:
        _log.warning("the write to table %s is committed, the compaction after it failed and is left to the next one: %s", uri, error)
        return ()
    for result in results:
        _log.info("table %s: %s", uri, result)
    return results
