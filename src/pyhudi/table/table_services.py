"""`table.services`: what keeps a table in shape: rollback, savepoints, restore, compaction, cleaning, clustering, indexes, archival,
partition lifetimes, upgrade and downgrade.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyhudi.engine.engine_protocol import Engine
from pyhudi.locks.choose_lock import lock_wait_s, with_lock_provider
from pyhudi.metadata_table.format.metadata_settings import metadata_settings
from pyhudi.progress import progress_bar
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service.archival import ArchivalResult, archival_settings, archive
from pyhudi.service.cleaning.clean_result import CleanResult
from pyhudi.service.cleaning.cleaning_service import without_empty_cleans
from pyhudi.service.cleaning.purge_partitions import purge_partitions
from pyhudi.service.partition_ttl import TtlResult
from pyhudi.service.reporting.metrics_reporter import ON as METRICS_ON
from pyhudi.service.reporting.report_metrics import report_results
from pyhudi.service.service_engine import Progress, service_runner
from pyhudi.service.service_executor import ServiceRequest
from pyhudi.service.table_service import ServiceMode
from pyhudi.spec.arguments import check_strings
from pyhudi.sync import SyncResult, sync_table
from pyhudi.table.maintenance.rewrite_services import RewriteServices
from pyhudi.table.services_by_options import cleaning, service_options
from pyhudi.table.ttl_table import expire
from pyhudi.txn.heartbeat_settings import heartbeat_settings
from pyhudi.txn.locked_table import locked_table


@dataclass(frozen=True, slots=True, repr=False)
class Services(RewriteServices):
    """Table services of one table.

    Example:
        >>> table.services.rollback(dry_run=True)
        ()
    """

    def __repr__(self) -> str:
        return f"<services of table {self.storage.uri}>"

    def clean(
        self,
        instant: str | None = None,
        *,
        mode: ServiceMode = "both",
        dry_run: bool = False,
        options: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> tuple[CleanResult, ...]:
        """Delete the file slices that no retained state of the table needs; readers and writers continue meanwhile.

        Writes do the same by themselves (`hoodie.clean.automatic`).

        Args:
            instant: run the pending clean of this requested time, and no other.
            mode: `schedule` (plan and leave it on the timeline), `execute` (run what is planned) or `both`.
            dry_run: only return what would be deleted, by file with its bytes.
            options: `hoodie.*` options, such as `hoodie.clean.policy` and `hoodie.clean.commits.retained`.
            engine: deletes the files; threads of this process by default.
            progress: called with how many files of how many are deleted.

        Returns:
            One result for each clean; none when there is nothing to delete.

        Raises:
            UsageError: the instant is no pending clean, or an option is wrong.
            ConflictError: another process is cleaning the table, or a writer held it for too long.
            CorruptTableError: a file of the timeline is damaged, or a plan names files that it must not.

        Example:
            >>> table.services.clean(options={"hoodie.clean.commits.retained": "1"}, dry_run=True)
            ()
        """
        resolved = service_options(self.storage, options)
        storage, heartbeats = with_lock_provider(self.storage, resolved), heartbeat_settings(resolved)
        with locked_table(storage, lock_wait_s(resolved, self.wait_s), self.clock, self.ids, heartbeats=heartbeats) as table:
            check_notes(table.storage, table.config, table.timeline)
            if not dry_run:
                without_empty_cleans(table)
        return self._serve(cleaning, ServiceRequest(instant, mode, dry_run), options, engine, progress)

    def purge(self, partitions: Sequence[str], *, options: Mapping[str, str] | None = None) -> tuple[CleanResult, ...]:
        """Delete the files of dropped partitions, which earlier states need, at once; those that a savepoint retains stay.

        Args:
            partitions: partition paths; what is not dropped of them stays.
            options: `hoodie.*` options of the table.

        Returns:
            One result when there was something to delete.

        Raises:
            UsageError: an option is wrong.
            ConflictError: another process is cleaning the table.

        Example:
            >>> table.services.purge(["city=nowhere"])
            ()
        """
        resolved = service_options(self.storage, options)
        runner = service_runner(self.storage, self.clock, self.ids, resolved)
        return purge_partitions(runner, check_strings(partitions, "partitions", "paths"), metadata_settings(resolved))

    @progress_bar("archival")
    def archive(self, *, options: Mapping[str, str] | None = None, dry_run: bool = False) -> ArchivalResult:
        """Move old instants from the active timelines of the table and of its metadata table to their archives.

        Writes do the same by themselves once there are more than `hoodie.keep.max.commits`. Time travel, changes and history find
        archived commits as before.

        Args:
            options: `hoodie.*` options, such as `hoodie.keep.min.commits` and `hoodie.keep.max.commits`.
            dry_run: only return what would be done.

        Returns:
            The instants that were moved, and why no more were.

        Raises:
            OptionError: an option is wrong.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> table.services.archive(options={"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}).instants
            ()
        """
        resolved = service_options(self.storage, options)
        settings = archival_settings(resolved)
        storage, heartbeats = with_lock_provider(self.storage, resolved), heartbeat_settings(resolved)
        with locked_table(storage, lock_wait_s(resolved, self.wait_s), self.clock, self.ids, heartbeats=heartbeats) as table:
            check_notes(table.storage, table.config, table.timeline)
            started = time.perf_counter()
            result = archive(table, settings, metadata_settings(resolved), dry_run=dry_run)
            seconds = time.perf_counter() - started
        if resolved.flag(METRICS_ON) and not dry_run:
            report_results(self.storage, resolved, [result], seconds)
        return result

    @progress_bar("partition TTL")
    def ttl(self, *, options: Mapping[str, str] | None = None, dry_run: bool = False) -> TtlResult:
        """Drop the partitions that have expired, in one commit: those that nobody wrote to for so many days, or that are so old.

        Writes do the same after their commit with `hoodie.partition.ttl.inline=true`.

        Args:
            options: `hoodie.partition.ttl.*` options; `hoodie.partition.ttl.strategy.days.retain` must be above 0.
            dry_run: only return what would be dropped.

        Returns:
            The partitions that were dropped, and what their age counts from.

        Raises:
            OptionError: no days are given, or the strategy is unknown.
            UsageError: the table has no partitions.
            ConflictError: a planned clustering holds file groups of a partition that has expired.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> table.services.ttl(options={"hoodie.partition.ttl.strategy.days.retain": "30"}).partitions
            ()
        """
        return expire(self.storage, self.clock, self.ids, options or {}, dry_run=dry_run)

    @progress_bar("sync")
    def sync(self, *, options: Mapping[str, str] | None = None) -> tuple[SyncResult, ...]:
        """Register the table, its columns and partitions in a catalog such as a Hive metastore, or bring its entry there up to date.

        Writes do the same after their commit with `hoodie.datasource.hive_sync.enable=true`.

        Args:
            options: `hoodie.datasource.hive_sync.*` and `hoodie.meta.sync.*`, such as `hoodie.datasource.hive_sync.metastore.uris`.

        Returns:
            One result for each catalog: its tables, and what happened to them and their partitions.

        Raises:
            OptionError: an option is wrong, contradicts another, or needs a package that is not installed.
            UsageError: the partition values cannot be taken from a partition path.
            CatalogError: the catalog does not answer or refuses; what it got so far stays, and the next sync continues.

        Example:
            >>> table.services.sync(options={"hoodie.datasource.hive_sync.metastore.uris": "thrift://127.0.0.1:1"})
            Traceback (most recent call last):
            ...
            pyhudi.errors.CatalogError: no Hive metastore answers (hoodie.datasource.hive_sync.metastore.uris): ...
        """
        return sync_table(self.storage, service_options(self.storage, options))
