"""Cleaning after a commit, and before a write where options ask for that.

Rules: `BaseHoodieWriteClient.autoCleanOnCommit`, `AsyncCleanerService`. Most commits leave nothing to clean, which is found out from what
the write has read of the table. A clean of few files is carried out before the write releases the table's lock, so that nothing is
read again.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.metadata_settings import metadata_settings
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.service.cleaning.clean_history import pending_cleans
from pyhudi.service.cleaning.clean_plan import CleanInput, PlannedClean, plan_clean
from pyhudi.service.cleaning.clean_result import CleanResult
from pyhudi.service.cleaning.clean_settings import CleanPolicy, CleanSettings, clean_settings
from pyhudi.service.cleaning.cleaning_service import Cleaning, without_empty_cleans
from pyhudi.service.cleaning.touched_partitions import note_touched
from pyhudi.service.inline_run import InlineRun, WrittenTable, inline_run
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.service.run_mode import RunMode
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.service_executor import exclusive, schedule_and_run
from pyhudi.spec.instant import Instant
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import instant_millis, now_millis
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.failed_writes_policy import FailedWritesPolicy
from pyhudi.txn.locked_table import LockedTable

_log = logging.getLogger(__name__)
#: Up to so many files are deleted while the table's lock is held.
_FEW: Final = 1000


@dataclass(frozen=True, slots=True)
class EarlyPlan:
    """A plan that was made without the table's lock, and the instants of the timeline that it was made from."""

    instants: tuple[Instant, ...]
    planned: PlannedClean


@dataclass(frozen=True, slots=True)
class EarlyClean:
    """What a clean before the release of the lock did, and whether that leaves nothing to the clean after it."""

    leaves_nothing: bool
    result: CleanResult | None = None


def clean_before_write(runner: ServiceRunner, options: Options) -> None:
    """Check the options of cleaning, and clean before the write if they ask for it. The table's lock must be free.

    Raises:
        OptionError: an option is wrong.
        HudiError: as in `Services.clean`.
    """
    settings = clean_settings(options)
    if settings.before_write:
        clean(runner, Cleaning(settings, metadata_settings(options)))


def clean_before_unlock(table: WrittenTable) -> EarlyClean:
    """Clean while the write still holds the table's lock, and return what that leaves to `clean_after_commit`.

    Raises:
        ConflictError: another process is cleaning the table.
        StorageError: the storage failed; the clean is finished by the next one.
    """
    settings, state = clean_settings(table.options), table.commit.state
    if state is None or not settings.automatic or settings.in_background or pending_cleans(table.timeline) or _has_failed_writes(table):
        return EarlyClean(leaves_nothing=False)
    note_touched(table.runner.storage, table.commit.instant, table.commit.metadata)
    try:
        planned = _early_plan(table, settings, state.table.storage)
    except CorruptTableError:
        return EarlyClean(leaves_nothing=False)
    if planned is None or planned.files > _FEW:
        return EarlyClean(leaves_nothing=planned is None)
    service = Cleaning(settings, metadata_settings(table.options), state.sync)
    with exclusive(service, table.runner, is_locked=True):
        return EarlyClean(leaves_nothing=True, result=_carry_out(table.runner, service, state.table, planned))


def clean_after_commit(table: WrittenTable) -> InlineRun | None:
    """Return the clean that is due; it waits for its turn like a write."""
    settings = clean_settings(table.options)
    if not settings.automatic:
        return None
    service = Cleaning(settings, metadata_settings(table.options))
    if _is_run_by_others(table.runner, table.config, table.timeline):
        return None
    if settings.in_background:
        return inline_run(service, table, RunMode.BACKGROUND, lambda: True)
    note_touched(table.runner.storage, table.commit.instant, table.commit.metadata)
    try:
        planned = _early_plan(table, settings, table.runner.storage)
    except CorruptTableError:
        return InlineRun(lambda: clean(table.runner, service, is_damaged=True, leaves_others=True))
    if planned is None and not pending_cleans(table.timeline) and not _has_failed_writes(table):
        return None
    early = None if planned is None else EarlyPlan(table.timeline.instants, planned)
    return InlineRun(lambda: clean(table.runner, service, early, leaves_others=True))


def clean(
    runner: ServiceRunner,
    service: Cleaning,
    early: EarlyPlan | None = None,
    *,
    is_damaged: bool = False,
    leaves_others: bool = False,
) -> tuple[CleanResult, ...]:
    """Finish the cleans that are pending, and run a new one when it is due and there is something to delete.

    Args:
        runner: where, and by what engine files are deleted.
        service: how.
        early: a plan that is carried out if the table has not changed since.
        is_damaged: whether cleans are looked for whose file is empty, which a writer left that died.
        leaves_others: whether nothing is done while another writer may be running a pending clean.

    Raises:
        ConflictError: another process is cleaning the table, or a writer held it for too long.
        CorruptTableError: a plan, or a file that the plan needs, is damaged.
        StorageError: the storage failed; the clean is finished by the next one.
    """
    with exclusive(service, runner, is_locked=True), runner.locked() as locked:
        table = without_empty_cleans(locked)[0] if is_damaged else locked
        if runner.failed_writes.policy is FailedWritesPolicy.LAZY:
            table = roll_back_failed_writes(table, settings=runner.failed_writes)
        if leaves_others and _is_run_by_others(runner, table.config, table.timeline):
            return ()
        if not pending_cleans(table.timeline):
            planned = early.planned if early is not None and early.instants == table.timeline.instants else service.plan(table)
            if planned is None:
                return ()
            if planned.files <= _FEW:
                return (_carry_out(runner, service, table, planned),)
    return schedule_and_run(service, runner)


def _is_run_by_others(runner: ServiceRunner, config: TableConfig, timeline: Timeline) -> bool:
    """Tell whether another writer may be running a pending clean: Apache Hudi runs cleans outside the lock and without heartbeats, so
    that only the age of their plans says that nobody does.
    """
    if not runner.failed_writes.has_concurrent_writers:
        return False
    oldest_alive_ms = now_millis(runner.clock) - runner.failed_writes.heartbeats.alive_ms
    return any(instant_millis(one.requested, config.timeline_zone) >= oldest_alive_ms for one in pending_cleans(timeline))


def _has_failed_writes(table: WrittenTable) -> bool:
    """Tell whether there may be failed writes that cleans roll back."""
    return table.runner.failed_writes.policy is FailedWritesPolicy.LAZY and any(one.action.writes_data for one in table.timeline.pending())


def _carry_out(runner: ServiceRunner, service: Cleaning, table: LockedTable, planned: PlannedClean) -> CleanResult:
    locked = replace(runner, storage=table.storage)  # which knows the objects of a store, so that none is asked for before its deletion
    work = service.start(table, service.request(table, planned), planned, locked)
    return service.complete(table, work, service.run_tasks(locked, work), runner.engine.name)


def _early_plan(table: WrittenTable, settings: CleanSettings, storage: Storage) -> PlannedClean | None:
    """Return the plan of a clean from what the write knows of the table, whose storage while it is locked knows more."""

    def view() -> FileSystemView:
        # What the commit wrote is too new to be deleted, but it counts where slices are counted.
        if settings.policy is CleanPolicy.KEEP_LATEST_FILE_VERSIONS:
            return open_view(storage, table.config, table.timeline)
        return table.view

    return plan_clean(CleanInput(storage, table.config, table.timeline, table.runner.clock.now(), view), settings)
