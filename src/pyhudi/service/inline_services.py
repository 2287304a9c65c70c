"""The table services that a write runs by itself, before it and after its commit: one list for all engines, streams and SQL.

Rules: `BaseHoodieWriteClient.runTableServicesInline`, `.mayBeCleanAndArchive`; the order is theirs. To add a service, list its function
that says what is due after a commit in `_AFTER_COMMIT`.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import ConflictError, HudiError, ReportingError, TableServiceError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.service.archival.archival_settings import archival_settings
from pyhudi.service.archival.inline_archival import archive_after_commit
from pyhudi.service.cleaning.inline_cleaning import EarlyClean, clean_after_commit, clean_before_unlock, clean_before_write
from pyhudi.service.clustering.expire_clusterings import expire_after_commit as expire_clusterings_after_commit
from pyhudi.service.clustering.inline_clustering import cluster_after_commit, cluster_before_write
from pyhudi.service.compaction.inline_compaction import check_compaction_options, compact_after_commit
from pyhudi.service.inline_run import InlineRun, WrittenTable
from pyhudi.service.inline_sync import check_sync_options, sync_after_commit
from pyhudi.service.partition_ttl.run_partition_ttl import check_ttl_options, expire_after_commit
from pyhudi.service.reporting.inline_callback import call_after_commit, check_callback_options
from pyhudi.service.reporting.metrics_reporter import ON as METRICS_ON
from pyhudi.service.reporting.report_metrics import check_metrics_options, report_after_commit, report_results
from pyhudi.service.service_engine import service_runner
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import Clock
from pyhudi.txn.ids import Ids
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.transaction import Committed
from pyhudi.workers import begin_background

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")

#: What each service has to do after a commit, in this order, and how messages call it.
_AFTER_COMMIT: Final[tuple[tuple[str, Callable[[WrittenTable], InlineRun | None]], ...]] = (
    ("the report of metrics", report_after_commit),
    ("rolling back expired clusterings", expire_clusterings_after_commit),
    ("cleaning", clean_after_commit),
    ("archiving", archive_after_commit),
    ("the compaction after it", compact_after_commit),
    ("the clustering after it", cluster_after_commit),
    ("dropping expired partitions", expire_after_commit),
    ("the commit callback", call_after_commit),
    ("the synchronisation with catalogs", sync_after_commit),
)
#: What is no service of the table: it happens whether services are on or not, and its failures are none of theirs.
_REPORTS: Final = (report_after_commit, call_after_commit, sync_after_commit)
_ENABLED: Final = "hoodie.table.services.enabled"
_FAIL_WRITES: Final = "hoodie.fail.writes.on.inline.table.service.exception"


@dataclass(frozen=True, slots=True)
class InlineServices:
    """The services of one write, by its options; `engine` None means threads of this process."""

    storage: Storage
    clock: Clock
    ids: Ids
    options: Options
    engine: Engine | None = None

    def before_write(self, config: TableConfig) -> None:
        """Check the options of the services, and run what is planned and would hold up the write. The table's lock must be free.

        Raises:
            UsageError: options of a service are wrong.
            HudiError: as in `Services.cluster`.
        """
        check_compaction_options(self.options, config, self.clock)
        check_ttl_options(self.options)
        archival_settings(self.options)  # for its errors: after the commit they would come too late
        check_sync_options(self.options, config)
        check_callback_options(self.options)
        check_metrics_options(self.options, config)
        runner = service_runner(self.storage, self.clock, self.ids, self.options, self.engine)
        if self.options.flag(_ENABLED):
            clean_before_write(runner, self.options)
            cluster_before_write(runner, self.options, config)

    def before_unlock(self, table: LockedTable, committed: Committed | None, view: FileSystemView) -> Callable[[], tuple[str, ...]]:
        """Clean what is soon done, while the lock is still held, and return what is to be called without it: the other services.

        That call returns what failed, one message for each service; what runs in the background is only logged.

        Args:
            table: the table as it was before the commit.
            committed: the commit; None does nothing.
            view: shows the table before the commit.

        What goes wrong is logged, not raised, unless options ask for an error (`TableServiceError`, of the call that is returned): the
        write is committed, and a caller that heard of an error would repeat it.
        """
        if committed is None:
            return tuple
        runner = service_runner(self.storage, self.clock, self.ids, self.options, self.engine)
        written = WrittenTable(runner, table.config, table.timeline.with_instant(committed.instant), self.options, committed, view)
        failures: list[str] = []
        is_on = self.options.flag(_ENABLED)
        early = self._attempt("cleaning", lambda: clean_before_unlock(written), failures) if is_on else None
        return lambda: self._after_commit(written, failures, early)

    def _after_commit(self, written: WrittenTable, failures: list[str], early: EarlyClean | None) -> tuple[str, ...]:
        is_cleaned, of_services = early is None or early.leaves_nothing, [*failures]
        if early is not None and early.result is not None:
            self._report([early.result], 0)
        is_on = self.options.flag(_ENABLED)
        for noun, due_work in _AFTER_COMMIT:
            is_due = due_work in _REPORTS or (is_on and (due_work is not clean_after_commit or not is_cleaned))
            before = len(failures)
            if is_due:
                self._run_due(noun, due_work, written, failures)
            if due_work not in _REPORTS:
                of_services += failures[before:]
        self._check_failures(written, of_services)
        return tuple(failures)

    def _check_failures(self, written: WrittenTable, failures: Sequence[str]) -> None:
        if failures and self.options.flag(_FAIL_WRITES):
            raise TableServiceError(
                f"write {written.commit.instant.requested} to table {self.storage.uri} is committed, do not repeat it;"
                f" {'; '.join(failures)}. {_FAIL_WRITES}=true makes that an error."
            )

    def _run_due(self, noun: str, due_work: Callable[[WrittenTable], InlineRun | None], written: WrittenTable, failures: list[str]) -> None:
        work = self._attempt(noun, lambda: due_work(written), failures)
        if work is None:
            return
        run = functools.partial(self._attempt, noun, functools.partial(self._run, work), failures)
        if work.in_background:
            begin_background(run)
        else:
            run()

    def _run(self, work: InlineRun) -> None:
        started = time.perf_counter()
        results = tuple(work.run())
        self._report(results, time.perf_counter() - started)

    def _report(self, results: Sequence[object], seconds: float) -> None:
        for result in results:
            _log.info("table %s: %s", self.storage.uri, result)
        if self.options.flag(METRICS_ON):
            report_results(self.storage, self.options, results, seconds)

    def _attempt(self, noun: str, action: Callable[[], _Answer], failures: list[str]) -> _Answer | None:
        try:
            return action()
        except ConflictError as error:
            _log.info("the write to table %s is committed, %s is left to others, who are at work: %s", self.storage.uri, noun, error)
        except (HudiError, OSError) as error:
            left = "" if isinstance(error, ReportingError) else " and is left to the next one"
            _log.warning("the write to table %s is committed, %s failed%s: %s", self.storage.uri, noun, left, error)
            failures.append(f"{noun} failed{left}: {error}")
        return None
