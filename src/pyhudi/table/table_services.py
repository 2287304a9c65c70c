"""`table.services`: what keeps a table in shape: rollback, savepoints, restore, compaction, cleaning, clustering, indexes, archival,
partition lifetimes, upgrade and downgrade.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pyhudi.engine.engine_protocol import Engine
from pyhudi.errors import UsageError
from pyhudi.locks.choose_lock import with_lock_provider
from pyhudi.metadata_table.format.metadata_settings import metadata_settings
from pyhudi.progress import progress_bar, without_progress
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service.archival import ArchivalResult, archival_settings, archive
from pyhudi.service.cleaning.clean_result import CleanResult
from pyhudi.service.cleaning.cleaning_service import Cleaning, without_empty_cleans
from pyhudi.service.cleaning.purge_partitions import purge_partitions
from pyhudi.service.clustering.clustering_result import ClusteringResult
from pyhudi.service.clustering.expire_clusterings import expire_clusterings
from pyhudi.service.compaction.compaction_result import CompactionResult
from pyhudi.service.indexes import IndexChange, IndexRequest, check_types
from pyhudi.service.partition_ttl import TtlResult
from pyhudi.service.restore import RestoreResult
from pyhudi.service.savepoint import Savepoint
from pyhudi.service.service_engine import Progress, service_runner
from pyhudi.service.service_executor import Service, ServiceRequest, serve
from pyhudi.service.table_service import MODES, Result, ServiceMode
from pyhudi.spec.arguments import check_strings
from pyhudi.spec.options import Options, resolve
from pyhudi.sync import SyncResult, sync_table
from pyhudi.table.repair.rollback_services import RollbackServices
from pyhudi.table.restore_table import restore
from pyhudi.table.savepoint_table import create_savepoint, delete_savepoint, list_savepoints
from pyhudi.table.services_by_options import cleaning, clustering, compaction, log_compaction
from pyhudi.table.ttl_table import expire
from pyhudi.txn.locked_table import locked_table


@dataclass(frozen=True, slots=True)
class Services(RollbackServices):
    """Table services of one table.

    Example:
        >>> table.services.rollback(dry_run=True)
        ()
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

        Writes are refused from the plan on, until it has run or is rolled back (`rollback`).

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
        storage = with_lock_provider(self.storage, resolve(options or {}))
        with locked_table(storage, self.wait_s, self.clock, self.ids) as table:
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
        resolved = resolve(options or {})
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
        resolved = resolve(options or {})
        settings = archival_settings(resolved)
        with locked_table(with_lock_provider(self.storage, resolved), self.wait_s, self.clock, self.ids) as table:
            check_notes(table.storage, table.config, table.timeline)
            return archive(table, settings, metadata_settings(resolved), dry_run=dry_run)

    def savepoint(self, instant: str | None = None, *, user: str = "", comment: str = "", dry_run: bool = False) -> Savepoint:
        """Keep the files of a commit from being cleaned, so that the table can be restored to it; readers and writers continue meanwhile.

        Args:
            instant: the requested time of a completed commit of the active timeline; None is the latest one.
            user: who makes it, for the record.
            comment: why, for the record.
            dry_run: only return what would be done.

        Returns:
            The savepoint: its commit, who made it, when and why, and how many files it keeps.

        Raises:
            UsageError: there is no such commit, it has a savepoint already, or a clean has deleted files of it.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> table.services.savepoint(comment="before the migration").comment
            'before the migration'
        """
        return create_savepoint(self.storage, self.clock, self.ids, instant, user, comment, dry_run=dry_run, wait_s=self.wait_s)

    def savepoints(self) -> tuple[Savepoint, ...]:
        """Return the savepoints of the table, the oldest first.

        Raises:
            CorruptTableError: the file of one is damaged.

        Example:
            >>> table.services.savepoints()
            ()
        """
        return list_savepoints(self.storage)

    def delete_savepoint(self, instant: str, *, dry_run: bool = False) -> None:
        """Delete the savepoint of a commit; its files may be cleaned from then on.

        Args:
            instant: the requested time of the commit.
            dry_run: only see whether it could be deleted.

        Raises:
            UsageError: there is no such savepoint.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> table.services.delete_savepoint(table.services.savepoint().instant)
        """
        delete_savepoint(self.storage, self.clock, self.ids, instant, dry_run=dry_run, wait_s=self.wait_s)

    @progress_bar("restore")
    def restore(self, to: str | None = None, *, dry_run: bool = False) -> RestoreResult:
        """Bring the table back to an earlier commit: all later commits go, with their files. Stop writers that are not of pyhudi first.

        Readers of pyhudi see the table as it was at that commit from the moment the restore begins. One that was cut off blocks writers,
        and is taken up again by calling this method once more.

        Args:
            to: the requested time of a commit of the active timeline, which need not have a savepoint; None continues with the restore that
                was cut off.
            dry_run: only return what would be rolled back and deleted.

        Returns:
            The state of the restore, the commits that were rolled back and what was deleted.

        Raises:
            UsageError: there is no such commit, it is archived, a clean deleted files of it, or a later commit has a savepoint; the
                message names the earliest time that can be restored.
            UnsupportedError: a commit to roll back was written before the table was upgraded.
            ConflictError: another restore is pending, a compaction, clustering or build of indexes is running, or the lock was lost.
            LockTimeoutError: another writer held the table for too long.
            StorageError: the storage failed; the restore stays pending.

        Example:
            >>> latest = table.services.savepoint(dry_run=True).instant
            >>> table.services.restore(to=latest).state
            'nothing to do'
        """
        return restore(self.storage, self.clock, self.ids, to, dry_run=dry_run, wait_s=self.wait_s)

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
        return sync_table(self.storage, resolve(options or {}))

    @progress_bar("index")
    def index(
        self,
        name: str | None = None,
        columns: str | Sequence[str] = (),
        *,
        using: str | None = None,
        options: Mapping[str, str] | None = None,
        drop: bool = False,
        rebuild: bool = False,
        if_exists: bool = False,
        if_not_exists: bool = False,
        dry_run: bool = False,
        mode: ServiceMode = "both",
        instant: str | None = None,
        lenient: bool | None = None,
    ) -> IndexChange:
        """Make an index, drop one, or build the whole metadata table again.

        Writers continue while an index is built. A build that was killed is run by `mode="execute"`, by asking for the same index again, or
        rolled back by `rollback`.

        Args:
            name: of the index; `record_index` is that of the record keys, `column_stats`, `partition_stats` and `bloom_filters` without
                columns are those that options of writes ask for as well.
            columns: what it is of, one column for all but the record index.
            using: `column_stats` or `bloom_filters` of an expression; a secondary index without it.
            options: `expr` and its arguments (`format`, `pos`, `len`, `days`, `timeZone`), options of bloom filters, or `isPartitioned` for
                a record index by partition.
            drop: drop it instead.
            rebuild: build the metadata table and all indexes again; without a name.
            if_exists: with `drop`: do nothing when there is no such index.
            if_not_exists: do nothing when the index exists already.
            dry_run: only return what would be done.
            mode: `schedule` (plan the index and leave that on the timeline), `execute` (run what is planned; without a name) or `both`.
            instant: run the pending build of this requested time, and no other.
            lenient: deprecated name of `if_exists` and `if_not_exists`.

        Returns:
            The partitions of the metadata table that were built, dropped or planned.

        Raises:
            UsageError: the arguments do not fit each other or the table, or there is such an index already, or none.
            SchemaError: a column does not exist, or its type cannot be served.
            UnsupportedError: the table cannot have indexes.
            ConflictError: another process builds indexes of the table.

        Example:
            >>> table.services.index("by_fare", "fare").built
            ('record_index', 'secondary_index_by_fare')
            >>> table.services.index("by_day", "ts", using="column_stats", options={"expr": "from_unixtime"}).built
            ('expr_index_by_day',)
            >>> table.services.index("by_fare", drop=True).dropped
            ('secondary_index_by_fare',)
        """
        if lenient is not None:
            warnings.warn("index(lenient=...) is now index(if_exists=...) or index(if_not_exists=...)", DeprecationWarning, stacklevel=2)
            if_exists, if_not_exists = lenient and drop, lenient and not drop
        executes = mode == "execute" or instant is not None
        _check_index_arguments(mode, name, drop=drop, rebuild=rebuild, executes=executes, if_exists=if_exists, if_not_exists=if_not_exists)
        if executes:
            return _together(self._indexing.run_pending(instant, dry_run=dry_run))
        if rebuild:
            return self._indexing.rebuild(dry_run=dry_run)
        if name is None:
            raise UsageError("index() needs the name of an index to make or to drop, or rebuild=True")
        check_types(name, columns, using, options)
        if drop:
            return self._indexing.drop(name, if_exists=if_exists, dry_run=dry_run)
        request = IndexRequest(name, (columns,) if isinstance(columns, str) else tuple(columns), using, options or {})
        return self._indexing.create(request, if_not_exists=if_not_exists, dry_run=dry_run, only_plan=mode == "schedule")

    def _serve(
        self,
        make: Callable[[Options], Service[Result]],
        request: ServiceRequest,
        options: Mapping[str, str] | None,
        engine: Engine | None,
        progress: Progress | None,
    ) -> tuple[Result, ...]:
        resolved = resolve(options or {})
        service, runner = make(resolved), service_runner(self.storage, self.clock, self.ids, resolved, engine, progress)
        if isinstance(service, Cleaning) and not request.dry_run:
            expire_clusterings(runner, resolved)
        with progress_bar(service.name) if progress is None else without_progress():
            return serve(service, runner, request)


def _together(changes: Sequence[IndexChange]) -> IndexChange:
    return IndexChange(
        built=tuple(name for change in changes for name in change.built),
        planned=tuple(name for change in changes for name in change.planned),
        seconds=sum(change.seconds for change in changes),
        instant=changes[-1].instant if changes else None,
    )


def _check_index_arguments(
    mode: str, name: str | None, *, drop: bool, rebuild: bool, executes: bool, if_exists: bool, if_not_exists: bool
) -> None:
    """Refuse arguments of `index` that do not fit each other."""
    if mode not in MODES:
        raise UsageError(f"mode is '{mode}'; it can be {', '.join(MODES)}")
    if executes and (name is not None or drop or rebuild or mode == "schedule"):
        raise UsageError("index(mode='execute') runs what is planned: give it no name, and nothing to drop, plan or rebuild")
    if rebuild and (name is not None or drop):
        raise UsageError("index(rebuild=True) rebuilds all indexes: give it no name, and nothing to drop")
    if (if_exists and not drop) or (if_not_exists and (drop or name is None)):
        raise UsageError("index(if_exists=True) goes with drop=True, index(if_not_exists=True) with an index to make")
