"""Runs a planned compaction or log compaction.

The lock of compactions is held from the first step to the last, so that others see that this one is alive; the table's lock only to start
and to complete: writers go on in between. start - take back what a dead run left, hold the plan against the files, inflight; run the tasks;
complete - read the timeline again, leave out what others replaced meanwhile, reconcile with the markers, completed. A run that fails is
taken back at once, one that is killed by the next. Rules: `RunCompactionActionExecutor`, `HoodieCompactor`.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyhudi.engine.local import LocalEngine
from pyhudi.engine.protocol import Engine
from pyhudi.errors import HudiError, UnknownOutcomeError
from pyhudi.fsview.pending import read_plan
from pyhudi.kernels.base_file import WriterSettings
from pyhudi.kernels.write_task import TaskResult
from pyhudi.service.compaction.complete import complete
from pyhudi.service.compaction.pending import find_pending
from pyhudi.service.compaction.result import CompactionResult, completed_result
from pyhudi.service.compaction.start import StartedCompaction, run_task, start
from pyhudi.service.compaction.take_back import take_back_run
from pyhudi.storage.protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked import LockedTable, locked_table, running_alone

_log = logging.getLogger(__name__)

#: Name of the lock that a process holds while it runs compactions of a table.
LOCK = "compaction"

#: Tasks between two reports of progress.
_ROUND = 8

#: Is told how many tasks of how many are done.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CompactionRunner:
    """Where and how compactions of one table run. `wait_s` is how long to wait for the table's lock, `merge_bytes` how many bytes of a
    slice's logs a task holds at once.
    """

    storage: Storage
    clock: Clock
    ids: Ids
    engine: Engine
    writer: WriterSettings
    merge_bytes: int
    wait_s: float = 60.0
    progress: Progress | None = None

    @contextlib.contextmanager
    def locked(self) -> Iterator[LockedTable]:
        """Hold the table's lock; errors as in `locked_table`."""
        with locked_table(self.storage, self.wait_s, self.clock, self.ids) as table:
            yield table

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the lock of compactions.

        Raises:
            ConflictError: another process runs a compaction of the table.
        """
        with running_alone(self.storage, LOCK, "compacting"):
            yield


def execute(runner: CompactionRunner, requested: str) -> CompactionResult:
    """Run the pending compaction or log compaction of a requested time. The caller holds `runner.alone()`.

    Raises:
        UsageError: no such compaction is pending.
        ConflictError: somebody else runs it; nothing of this run is visible.
        CorruptTableError: a file of the plan is gone or damaged.
        UnknownOutcomeError: the storage failed in the last step without saying whether the compaction is visible.
    """
    started_at = time.perf_counter()
    with runner.locked() as table:
        instant = find_pending(table.timeline, requested, runner.storage.uri)
        work = start(table, instant, read_plan(table.storage, table.config, instant), runner.merge_bytes)
    try:
        results = _run(runner, work)
        with runner.locked() as table:
            done, kept = complete(table, work, results, runner.engine.name)
    except UnknownOutcomeError:
        raise
    except BaseException as error:
        _give_up(runner, work, error)
        raise
    return completed_result(work, done, kept, runner.engine.name, time.perf_counter() - started_at)


def _run(runner: CompactionRunner, work: StartedCompaction) -> list[TaskResult]:
    """Run the tasks, all at once, or in rounds when somebody wants to see how far it is; an engine with many workers is not held up."""
    function = functools.partial(run_task, runner.storage, work.shape, runner.writer)
    count = len(work.tasks)
    step = _ROUND if runner.progress is not None and isinstance(runner.engine, LocalEngine) else max(1, count)
    results: list[TaskResult] = []
    for begin in range(0, count, step):
        _tell(runner, begin, count)
        results += [result for done in runner.engine.run(function, work.tasks[begin : begin + step]) for result in done]
    _tell(runner, count, count)
    return results


def _tell(runner: CompactionRunner, done: int, count: int) -> None:
    if runner.progress is not None:
        runner.progress(done, count)


def _give_up(runner: CompactionRunner, work: StartedCompaction, error: BaseException) -> None:
    """Take the failed run back; when that fails too it stays inflight, unseen, until the next run comes."""
    try:
        with runner.locked() as table:
            # What is completed by now, by this run or by somebody else, is no pending compaction: its files stay.
            take_back_run(table, find_pending(table.timeline, work.instant.requested, runner.storage.uri), work.plan)
    except (HudiError, OSError) as failure:
        error.add_note(f"What the compaction wrote is not visible; taking it back failed and is left to its next run: {failure}")
