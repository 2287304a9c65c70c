"""The part of `table.services` that repairs a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyhudi.engine.engine_protocol import Engine
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.progress import progress_bar
from pyhudi.service.service_engine import Progress
from pyhudi.table.repair.clustering_plan_repair import PlanRepairRequest, repair_clustering_plan
from pyhudi.table.repair.dangling_services import DanglingFileServices
from pyhudi.table.repair.deduplicate import DeduplicationArguments, deduplicate
from pyhudi.table.repair.empty_clean_files import remove_empty_clean_files
from pyhudi.table.repair.overwrite_properties import overwrite_properties
from pyhudi.table.repair.partition_metafiles import add_partition_metafiles, migrate_partition_metafiles
from pyhudi.table.repair.repair_result import CleanFilesRepair, DeduplicationResult, PartitionRepair, PlanRepair, PropertyChange
from pyhudi.txn.locked_table import locked_table


@dataclass(frozen=True, slots=True)
class RepairServices(DanglingFileServices):
    """Repairs of one table.

    Example:
        >>> table.services.repair_clean_files(dry_run=True).state
        'nothing to do'
    """

    @progress_bar("repair")
    def add_partition_metafiles(self, *, dry_run: bool = False) -> tuple[PartitionRepair, ...]:
        """Write the metafile of each partition folder that has none: Apache Hudi does not see a partition without it.

        Args:
            dry_run: only return what would be done.

        Returns:
            One result for each partition folder.

        Raises:
            UsageError: nothing was ever committed, so that there is no commit for a metafile to name.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> {one.action for one in table.services.add_partition_metafiles()}
            {'none'}
        """
        with locked_table(self.storage, self.wait_s, self.clock, self.ids) as table:
            return add_partition_metafiles(table, dry_run=dry_run)

    @progress_bar("repair")
    def migrate_partition_metafiles(self, *, dry_run: bool = False) -> tuple[PartitionRepair, ...]:
        """Replace the partition metafiles of the text format by those of the format of base files, and note that in the properties.

        Args:
            dry_run: only return what would be done; the properties stay too.

        Returns:
            One result for each partition folder.

        Raises:
            UnsupportedError: the base files are not Parquet.
            CorruptTableError: a metafile is damaged.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> {one.action for one in table.services.migrate_partition_metafiles(dry_run=True)}
            {'migrate'}
        """
        try:
            with locked_table(self.storage, self.wait_s, self.clock, self.ids) as table:
                return migrate_partition_metafiles(table, dry_run=dry_run)
        finally:
            if not dry_run:
                self.refresh()

    def repair_clean_files(self, *, dry_run: bool = False) -> CleanFilesRepair:
        """Remove the empty files of cleans, which a writer left that died; what they had planned is done by the next clean.

        Args:
            dry_run: only return what would be removed.

        Returns:
            The files that were removed.

        Raises:
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> table.services.repair_clean_files().files
            ()
        """
        with locked_table(self.storage, self.wait_s, self.clock, self.ids) as table:
            return remove_empty_clean_files(table, dry_run=dry_run)

    @progress_bar("repair")
    def repair_clustering_plan(
        self,
        instant: str,
        files: Sequence[str] = (),
        *,
        dry_run: bool = False,
        backup: bool = True,
        allow_empty: bool = False,
        engine: Engine | None = None,
    ) -> tuple[PlanRepair, ...]:
        """Take file slices whose files cannot be read out of the plan of a clustering that has not begun, so that the others are clustered.

        The files stay: a commit names them, and readers need them or a copy in their place.

        Args:
            instant: the requested time of the clustering.
            files: paths or names of files whose slices leave the plan; without any, base files that are missing or have no Parquet footer.
            dry_run: only return what would be done.
            backup: store the plan as it was below `.hoodie/.repair`.
            allow_empty: the plan may lose all its slices.
            engine: looks at the files; threads of this process by default.

        Returns:
            One result for each file.

        Raises:
            UsageError: there is no such clustering, it has begun to run, or nothing would be left of its plan.
            UnsupportedError: it resizes buckets.
            ConflictError: another process clusters the table.
            CorruptTableError: the plan itself is damaged.

        Example:
            >>> joins = {"hoodie.clustering.plan.strategy.single.group.clustering.enabled": "true"}
            >>> planned = table.services.cluster(mode="schedule", options=joins)
            >>> table.services.repair_clustering_plan(planned[0].instant, dry_run=True)
            ()
        """
        request = PlanRepairRequest(instant, tuple(dict.fromkeys(files)), dry_run, backup, allow_empty, engine or LocalEngine())
        return repair_clustering_plan(self.storage, self.clock, self.ids, request, self.wait_s)

    def overwrite_properties(self, new: Mapping[str, str] | bytes, *, dry_run: bool = False) -> tuple[PropertyChange, ...]:
        """Replace all properties of the table; the old ones may be damaged.

        Properties say how keys, paths and files are to be read: wrong ones make the table unreadable, until they are overwritten again.

        Args:
            new: all properties that the table is to have, or the content of a properties file.
            dry_run: only return what would change.

        Returns:
            One result for each property, old or new, sorted by name.

        Raises:
            UsageError: the new properties are not those of a table.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> same = dict(table.config.properties)
            >>> any(one.old != one.new for one in table.services.overwrite_properties(same, dry_run=True) if "checksum" not in one.name)
            False
        """
        try:
            return overwrite_properties(self.storage, self.clock, new, dry_run=dry_run, wait_s=self.wait_s)
        finally:
            if not dry_run:
                self.refresh()

    @progress_bar("deduplication")
    def deduplicate(
        self,
        partition: str = "",
        *,
        rule: str = "insert_type",
        output: str | None = None,
        dry_run: bool = False,
        options: Mapping[str, str] | None = None,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> DeduplicationResult:
        """Leave one row of each record key in a partition, in one commit; the rows that stay keep their commit times.

        Of a merge-on-read table the rows that readers see count. Earlier states stay readable until they are cleaned.

        Args:
            partition: the partition path; empty for a table without partitions.
            rule: `insert_type` (the row of the newest commit stays; several of that commit are an error), `upsert_type` or `update_type`
                (of several the last one stays).
            output: an empty folder, to which the files of the partition are written as they are without duplicates, for a look.
            dry_run: only return what would be removed, and write to `output`.
            options: `hoodie.*` options of the files.
            engine: rewrites the files; threads of this process by default.
            progress: called with the numbers of tasks done and of all tasks.

        Returns:
            How many rows of how many keys were removed.

        Raises:
            UsageError: there is no such partition, the rule does not choose between rows, or the folder is not empty or in the table.
            OptionError: there is no such rule.
            UnsupportedError: the table has no meta columns, or is laid out by a bucket index.
            ConflictError: a pending compaction or clustering holds a file, or another process clusters the table.

        Example:
            >>> path = table.inspect.partitions()["partition_path"][0].as_py()
            >>> table.services.deduplicate(path).state
            'nothing to do'
        """
        arguments = DeduplicationArguments(partition, rule, output, dry_run, options or {}, engine, progress)
        return deduplicate(self.storage, self.clock, self.ids, arguments)
