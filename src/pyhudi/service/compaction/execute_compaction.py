"""Runs a planned compaction or log compaction.

The lock of compactions is held from the first step to the last, so that others see that this one is alive; the table's lock only to start
and to complete: writers go on in between. start - roll back what a dead run left, hold the plan against the files, inflight; run the tasks;
complete - read the timeline again, leave out what others replaced meanwhile, reconcile with the markers, completed. A run that fails is
rolled back at once, one that is killed by the next. Rules: `RunCompactionActionExecutor`, `HoodieCompactor`.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass

from pyhudi.errors import HudiError, UnknownOutcomeError
from pyhudi.fsview.pending_plans import read_plan
from pyhudi.service.compaction.compaction_result import CompactionResult, completed_result
from pyhudi.service.compaction.compaction_rollback import rollback_run
from pyhudi.service.compaction.complete_compaction import complete
from pyhudi.service.compaction.pending_compactions import find_pending
from pyhudi.service.compaction.start_compaction import StartedCompaction, run_task, start
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.txn.locked_table import exclusive_service

_log = logging.getLogger(__name__)

#: Name of the lock that a process holds while it runs compactions of a table.
LOCK = "compaction"


@dataclass(frozen=True, slots=True)
class CompactionRunner(ServiceRunner):
    """Runs compactions of one table."""

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock of compactions.

        Raises:
            ConflictError: another process runs a compaction of the table.
        """
        with exclusive_service(self.storage, LOCK, "compacting"):
            yield


def execute(runner: CompactionRunner, requested: str) -> CompactionResult:
    """Run the pending compaction or log compaction of a requested time. The caller holds `runner.exclusive()`.

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
        function = functools.partial(run_task, runner.storage, work.context, runner.writer)
        results = [result for done in runner.run(function, work.tasks) for result in done]
        with runner.locked() as table:
            done, retained = complete(table, work, results, runner.engine.name)
    except UnknownOutcomeError:
        raise
    except BaseException as error:
        _give_up(runner, work, error)
        raise
    return completed_result(work, done, retained, runner.engine.name, time.perf_counter() - started_at)


def _give_up(runner: CompactionRunner, work: StartedCompaction, error: BaseException) -> None:
    """Take the failed run back; when that fails too it stays inflight, unseen, until the next run comes."""
    try:
        with runner.locked() as table:
            # What is completed by now, by this run or by somebody else, is no pending compaction: its files stay.
            rollback_run(table, find_pending(table.timeline, work.instant.requested, runner.storage.uri), work.plan)
    except (HudiError, OSError) as failure:
        error.add_note(f"What the compaction wrote is not visible; taking it back failed and is left to its next run: {failure}")
