"""Compacting a table: on request (`table.services.compact`, the command line) and after a write that makes it due."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UsageError
from pyhudi.fsview.pending_plans import read_plan
from pyhudi.service.compaction import (
    CompactionResult,
    CompactionRunner,
    RunMode,
    cancel,
    compaction_settings,
    find_pending,
    pending_compactions,
)
from pyhudi.service.compaction.compaction_modes import run_one, run_pending, schedule_and_run, schedule_one, show_pending, show_schedule
from pyhudi.service.compaction.compaction_rollback import written_files
from pyhudi.service.compaction.inline_compaction import after_commit
from pyhudi.service.service_engine import Progress
from pyhudi.spec.actions.rollback import InstantInfo, RollbackPlan, RollbackRequest
from pyhudi.spec.instant import Action
from pyhudi.spec.options import Options, resolve
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.runners import runner_of
from pyhudi.timeline.clock import Clock, format_instant, zone_of
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.ids import Ids
from pyhudi.txn.transaction import Committed, Transaction

#: What to do: plan, run what is planned, or both.
Mode = Literal["schedule", "execute", "both"]
MODES: Final = get_args(Mode)


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """What a caller asks for; the fields are the arguments of `Services.compact`."""

    action: Action
    instant: str | None
    mode: Mode
    dry_run: bool
    options: Mapping[str, str]
    engine: Engine | None
    progress: Progress | None


def compact(storage: Storage, clock: Clock, ids: Ids, request: CompactionRequest) -> tuple[CompactionResult, ...]:
    """Plan or run compactions or log compactions; see `Services.compact` for errors."""
    action, instant, mode = request.action, request.instant, request.mode
    if mode not in MODES:
        raise UsageError(f"mode is '{mode}'; it can be {', '.join(MODES)}")
    if instant is not None and mode == "schedule":
        raise UsageError(f"a compaction that is planned now gets its own time: leave out instant={instant}, or execute it")
    options = resolve(request.options)
    settings = compaction_settings(options, clock.now().date())
    runner = runner_of(CompactionRunner, storage, clock, ids, options, request.engine, request.progress)
    if request.dry_run:
        if mode == "execute" or instant is not None:
            return show_pending(runner, action, instant)
        return (*(show_pending(runner, action) if mode == "both" else ()), *show_schedule(runner, action, settings))
    if instant is not None:
        return run_one(runner, instant)
    if mode == "schedule":
        return schedule_one(runner, action, settings)
    return run_pending(runner, action) if mode == "execute" else schedule_and_run(runner, action, settings)


def is_pending_compaction(storage: Storage, instant: str) -> bool:
    """Tell whether an instant of a table is a pending compaction or log compaction."""
    timeline = load_timeline(storage, TableConfig(load_properties(storage)))
    return any(one.requested == instant for one in pending_compactions(timeline))


def cancel_compaction(storage: Storage, clock: Clock, ids: Ids, instant: str, *, dry_run: bool) -> RollbackPlan:
    """Take a pending compaction off the timeline with what its runs left, and return that in the form of a rollback plan.

    Raises:
        ConflictError: another process is running it.
        UnsupportedError: log files stand on top of it whose names hold its time (table version 6).
    """
    runner = runner_of(CompactionRunner, storage, clock, ids, resolve({}), None, None)
    with runner.exclusive(), runner.locked() as table:
        pending = find_pending(table.timeline, instant, storage.uri)
        paths = written_files(table, pending, read_plan(table.storage, table.config, pending))
        if not dry_run:
            cancel(table, pending)
    requests = tuple(RollbackRequest(path.rpartition("/")[0], None, instant, (path,)) for path in paths)
    return RollbackPlan(InstantInfo(instant, pending.action.value), requests)


def compact_after(txn: Transaction, committed: Committed | None, options: Options, engine: Engine | None = None) -> None:
    """Compact the table of a finished transaction when the options of its write ask for it and it is due. The lock must be free.

    What goes wrong is logged, not raised: the write is committed.
    """
    table = txn.table
    if committed is None or not table.config.is_merge_on_read:
        return
    settings = compaction_settings(options, table.clock.now().date())
    if settings.mode is RunMode.OFF and not settings.log_inline:
        return
    if settings.mode is RunMode.BACKGROUND:
        engine = LocalEngine(threads=1)  # pools start no threads once the interpreter ends, and the next write wants the cores
    runner = runner_of(CompactionRunner, table.storage, table.clock, table.ids, options, engine, None)
    timeline = replace(table.timeline, instants=(*table.timeline.instants, committed.instant))
    after_commit(runner, timeline, settings, format_instant(table.clock.now(), zone_of(table.config.timeline_zone)))
