"""Cleaning as a table service.

Rules: `CleanPlanActionExecutor`, `CleanActionExecutor`, `BaseHoodieTableServiceClient.clean`. A clean that was cut is resumed, never rolled
back: the files that it has deleted do not come back.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar, Final

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.metadata_settings import DEFAULTS, MetadataSettings
from pyhudi.metadata_table.lifecycle.metadata_sync import MetadataSync
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.service.cleaning.clean_history import completed_cleans, is_empty_file, pending_cleans, plan_of_clean
from pyhudi.service.cleaning.clean_plan import CleanInput, PlannedClean, plan_clean
from pyhudi.service.cleaning.clean_result import CleanResult, completed_result, planned_result
from pyhudi.service.cleaning.clean_settings import CleanSettings
from pyhudi.service.cleaning.execute_clean import CleanWork, Deletion, complete_clean, delete_files, request_clean, start_clean
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.service.table_service import ServiceLock, TableService
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import instant_path
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import find_metadata_table

_log = logging.getLogger(__name__)
#: Writes whose files the first clean of a table deletes from which on that is worth a warning.
_MANY_WRITES: Final = 10


@dataclass(frozen=True, slots=True)
class Cleaning(TableService[PlannedClean, CleanWork, Deletion, CleanResult]):
    """Cleans of a table; `metadata` is what options say about its metadata table, `sync` that table where the caller has it open."""

    settings: CleanSettings
    metadata: MetadataSettings = DEFAULTS
    sync: MetadataSync | None = None

    name: ClassVar[str] = "clean"
    lock: ClassVar[ServiceLock | None] = ServiceLock("clean", "cleaning")

    def pending(self, storage: Storage, config: TableConfig, timeline: Timeline) -> tuple[Instant, ...]:  # noqa: ARG002 - one protocol
        """Return the pending cleans."""
        return pending_cleans(timeline)

    def plan(self, table: LockedTable) -> PlannedClean | None:
        """Return what is to be deleted now; None when that is nothing, or when a clean is pending and only one may be.

        Raises:
            CorruptTableError: a clean or savepoint is unreadable.
        """
        return self._plan(table, lambda: find_metadata_table(table).view)

    def preview(self, table: LockedTable) -> PlannedClean | None:
        """Return what `plan` would, without the repair of the metadata table that it begins with."""
        return self._plan(table, lambda: open_view(table.storage, table.config, table.timeline))

    def _plan(self, table: LockedTable, view: Callable[[], FileSystemView]) -> PlannedClean | None:
        if pending_cleans(table.timeline) and not self.settings.several:
            return None
        source = CleanInput(table.storage, table.config, table.timeline, table.clock.now(), functools.cache(view))
        return plan_clean(source, self.settings)

    def request(self, table: LockedTable, plan: PlannedClean) -> Instant:
        """Put the plan on the timeline."""
        if plan.is_first:
            _announce(table, plan)
        return request_clean(table, plan)

    def load_plan(self, table: LockedTable, instant: Instant) -> PlannedClean:
        """Return the plan of a pending clean.

        Raises:
            CorruptTableError: it is unreadable.
        """
        return PlannedClean(plan_of_clean(table.storage, table.config, instant), is_resumed=True)

    def trusted(self, plan: PlannedClean, made: PlannedClean) -> PlannedClean:
        """Return the plan as one that names no file of the newest slices: none that was made on this timeline does."""
        return replace(plan, is_resumed=plan.plan.files != made.plan.files)

    def start(self, table: LockedTable, instant: Instant, plan: PlannedClean, runner: ServiceRunner) -> CleanWork:  # noqa: ARG002
        """Put the clean inflight; see `start_clean`."""
        return start_clean(table, instant, plan)

    def run_tasks(self, runner: ServiceRunner, work: CleanWork) -> Deletion:
        """Delete the files."""
        began = time.perf_counter()
        undeleted = runner.run(functools.partial(delete_files, runner.storage), work.targets())
        return Deletion(int((time.perf_counter() - began) * 1000), frozenset(chain.from_iterable(undeleted)))

    def written_by(self, outcome: Deletion) -> frozenset[str]:  # noqa: ARG002 - one protocol
        """Return nothing: a clean writes no files."""
        return frozenset()

    def complete(self, table: LockedTable, work: CleanWork, outcome: Deletion, engine: str) -> CleanResult:  # noqa: ARG002 - one protocol
        """Record in the metadata table what was deleted, and complete the clean."""
        instant, done = complete_clean(table, work, outcome, self.metadata, self.sync)
        return completed_result(work.instant, instant.completed, work.planned.plan, work.files, done)

    def with_planned(self, result: CleanResult, planned: CleanResult) -> CleanResult:
        """Return the result with the sizes of its files, which the timeline does not tell."""
        sizes = {path: {name: planned.files.get(path, {}).get(name) for name in names} for path, names in result.files.items()}
        return replace(result, files=sizes)

    def planned_result(self, plan: PlannedClean, instant: Instant | None) -> CleanResult:
        """Return the result of a plan."""
        return planned_result(plan, instant)


def without_empty_cleans(table: LockedTable) -> tuple[LockedTable, int]:
    """Return the table without cleans whose file is empty, which a writer left that died, and how many files were removed.

    What such a clean had planned is done again, if the plan is there. Rules: `CleanActionExecutor`, `RepairCorruptedCleanFilesProcedure`.
    """
    removed = 0
    for instant, path in empty_clean_files(table):
        removed += 1
        if instant.is_completed:
            table.storage.delete(path)
        else:
            table.writer.remove(instant)
    return (table.reload() if removed else table), removed


def empty_clean_files(table: LockedTable) -> Iterator[tuple[Instant, str]]:
    """Yield the completed and the requested cleans whose file is empty, with its path; a clean that is whole keeps its request."""
    storage, config = table.storage, table.config
    for instant in (*completed_cleans(table.timeline), *pending_cleans(table.timeline)):
        requested = Instant(instant.requested, Action.CLEAN, State.REQUESTED)
        if instant.is_completed and not is_empty_file(storage, config, instant):
            continue
        if instant.is_completed:
            yield instant, instant_path(config, instant)
        if is_empty_file(storage, config, requested):
            yield requested, instant_path(config, requested)


def _announce(table: LockedTable, planned: PlannedClean) -> None:
    """Say what the first clean of a table deletes, and back to when the table can be read afterwards."""
    earliest = planned.plan.retained_from
    before = sum(earliest is None or one.requested < earliest for one in table.timeline.data_instants())
    _log.log(
        logging.WARNING if before > _MANY_WRITES else logging.INFO,
        "first clean of table %s: %d files of older file slices are deleted, %d bytes; %s stay readable. hoodie.clean.automatic=false keeps"
        " all file slices, hoodie.clean.commits.retained more of them.",
        table.storage.uri,
        planned.files,
        planned.size,
        "the newest file slices" if earliest is None else f"states from {earliest} on",
    )
