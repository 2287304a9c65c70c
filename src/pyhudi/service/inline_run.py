"""What a write does about one table service once it is committed.

Rules: `BaseHoodieWriteClient.runTableServicesInline`: what is pending is run first, then what is due is planned and run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.service.run_mode import RunMode
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.service_executor import run_pending, schedule_and_run, schedule_one
from pyhudi.service.table_service import TableService
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.transaction import Committed


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """A table after a commit, whose lock is free: `timeline` has the commit, `view` shows the table before it.

    `options` are those of the write.
    """

    runner: ServiceRunner
    config: TableConfig
    timeline: Timeline
    options: Options
    commit: Committed
    view: FileSystemView


@dataclass(frozen=True, slots=True)
class InlineRun:
    """Work on a service that a commit has made due; it returns results, which are logged."""

    run: Callable[[], Iterable[object]]
    in_background: bool = False


def inline_run(
    service: TableService[Any, Any, Any, Any], table: WrittenTable, mode: RunMode, is_due: Callable[[], bool]
) -> InlineRun | None:
    """Return what is to be done about a service after a commit; None for nothing.

    Args:
        service: the service.
        table: the table after the commit.
        mode: what the options of the write ask for.
        is_due: tells whether a new plan is due; not called when the mode is OFF.
    """
    if mode is RunMode.OFF:
        return None
    runner, in_background = table.runner, mode is RunMode.BACKGROUND
    if in_background:  # pools start no threads once the interpreter ends, and the next write wants the cores
        runner = replace(runner, engine=LocalEngine(threads=1))
    due = is_due()
    if mode is RunMode.SCHEDULE:
        return InlineRun(lambda: schedule_one(service, runner)) if due else None
    if due:
        return InlineRun(lambda: schedule_and_run(service, runner), in_background)
    if service.pending(runner.storage, table.config, table.timeline):
        return InlineRun(lambda: run_pending(service, runner), in_background)
    return None
