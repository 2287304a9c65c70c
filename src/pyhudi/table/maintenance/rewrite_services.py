"""The part of `table.services` that rewrites file slices: compaction, log compaction, clustering."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from pyhudi.engine.engine_protocol import Engine
from pyhudi.progress import progress_bar, without_progress
from pyhudi.service.cleaning.cleaning_service import Cleaning
from pyhudi.service.clustering.clustering_result import ClusteringResult
from pyhudi.service.clustering.expire_clusterings import expire_clusterings
from pyhudi.service.compaction.compaction_result import CompactionResult
from pyhudi.service.reporting.metrics_reporter import ON as METRICS_ON
from pyhudi.service.reporting.report_metrics import check_metrics_options, report_results
from pyhudi.service.service_engine import Progress, service_runner
from pyhudi.service.service_executor import Service, ServiceRequest, serve
from pyhudi.service.table_service import Result, ServiceMode
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.maintenance.bucket_services import BucketServices
from pyhudi.table.services_by_options import clustering, compaction, log_compaction, service_options


@dataclass(frozen=True, slots=True)
class RewriteServices(BucketServices):
    """Compactions and clusterings of one table.

    Example:
        >>> table.services.compact(dry_run=True)[0].state
        'planned'
    """

    def compact(
        self,
        instant: str | None = None,
        *,
        mode: ServiceMode = "both",
        dry_run: bool = False,
        options: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> tuple[CompactionResult, ...]:
        """Merge the log files of a merge-on-read table into new base files; writers continue meanwhile.

        Args:
            instant: run the pending compaction of this requested time, and no other.
            mode: `schedule` (plan and leave it on the timeline), `execute` (run what is planned) or `both`.
            dry_run: only return what would be done.
            options: `hoodie.*` options, such as `hoodie.compaction.strategy`.
            engine: runs the tasks; threads of this process by default.
            progress: called with the numbers of tasks done and of all tasks.

        Returns:
            One result for each compaction; none when there is nothing to compact.

        Raises:
            UsageError: the table is copy-on-write, the instant is no pending compaction, or an option is wrong.
            ConflictError: another process is compacting the table, or a writer held it for too long.
            CorruptTableError: a file of the plan is missing or damaged.

        Example:
            >>> table.services.compact(mode="schedule")[0].state
            'requested'
            >>> [(done.state, done.log_files, done.files_written) for done in table.services.compact(mode="execute")]
            [('completed', 1, 1)]
        """
        return self._serve(partial(compaction, self._today), ServiceRequest(instant, mode, dry_run), options, engine, progress)

    def log_compact(
        self,
        instant: str | None = None,
        *,
        mode: ServiceMode = "both",
        dry_run: bool = False,
        options: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> tuple[CompactionResult, ...]:
        """Merge the log files of each file slice into one, which readers take in their place; base files stay as they are.

        Arguments, results and errors as in `compact`. Slices with fewer log blocks than `hoodie.log.compaction.blocks.threshold` are left
        alone.

        Example:
            >>> _ = table.upsert([{"id": 2, "city": "oslo", "ts": 50, "fare": 14.0}])
            >>> table.services.log_compact(options={"hoodie.log.compaction.blocks.threshold": "2"})[0].log_files
            2
        """
        return self._serve(partial(log_compaction, self._today), ServiceRequest(instant, mode, dry_run), options, engine, progress)

    def cluster(
        self,
        instant: str | None = None,
        *,
        mode: ServiceMode = "both",
        dry_run: bool = False,
        options: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> tuple[ClusteringResult, ...]:
        """Join small files and order rows, or split and merge the buckets of consistent hashing; readers continue meanwhile.

        While a plan waits, writes that change its file groups are refused or go on, by `hoodie.clustering.updates.strategy`; new rows
        go to other file groups. A plan that resizes buckets blocks all writes until it has run or is rolled back (`rollback`).

        Args:
            instant: run the pending clustering of this requested time, and no other.
            mode: `schedule` (plan and leave it on the timeline), `execute` (run what is planned) or `both`.
            dry_run: only return what would be done.
            options: `hoodie.*` options, such as `hoodie.clustering.plan.strategy.sort.columns` and `hoodie.layout.optimize.strategy`, or
                `hoodie.bucket.index.max.num.buckets` for consistent hashing.
            engine: runs the tasks; threads of this process by default.
            progress: called with the numbers of tasks done and of all tasks.

        Returns:
            One result for each clustering; none when there is nothing to rewrite or resize.

        Raises:
            UsageError: the instant is no pending clustering, or an option is wrong.
            UnsupportedError: the table is laid out by a fixed number of buckets, or a class is not served.
            ConflictError: another process is clustering the table, a writer held it for too long, or a slice was changed since.
            CorruptTableError: the plan, hashing metadata or a file is damaged.

        Example:
            >>> ordered = {"hoodie.clustering.plan.strategy.sort.columns": "fare"}
            >>> [(done.state, done.slices, done.files_written) for done in table.services.cluster(options=ordered)]
            [('completed', 2, 2)]
        """
        return self._serve(clustering, ServiceRequest(instant, mode, dry_run), options, engine, progress)

    def _serve(
        self,
        make: Callable[[Options], Service[Result]],
        request: ServiceRequest,
        options: Mapping[str, str] | None,
        engine: Engine | None,
        progress: Progress | None,
    ) -> tuple[Result, ...]:
        resolved = service_options(self.storage, options)
        service, runner = make(resolved), service_runner(self.storage, self.clock, self.ids, resolved, engine, progress)
        if isinstance(service, Cleaning) and not request.dry_run:
            expire_clusterings(runner, resolved)
        if resolved.flag(METRICS_ON):
            check_metrics_options(resolved, TableConfig(load_properties(self.storage)))
        started = time.perf_counter()
        with progress_bar(service.name) if progress is None else without_progress():
            results = serve(service, runner, request)
        if resolved.flag(METRICS_ON) and not request.dry_run:
            report_results(self.storage, resolved, results, time.perf_counter() - started)
        return results
