"""The part of `table.services` about data files that no commit names."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.progress import progress_bar
from pyhudi.storage.copied_files import temporary_folder
from pyhudi.table.repair.audit_services import AuditServices
from pyhudi.table.repair.dangling_files import InstantRange, remove_dangling_files, restore_dangling_files
from pyhudi.table.repair.repair_result import DanglingFilesRepair
from pyhudi.timeline.clock import format_instant, zone_of
from pyhudi.txn.locked_table import locked_table


@dataclass(frozen=True, slots=True)
class DanglingFileServices(AuditServices):
    """The data files of one table that no commit names.

    Example:
        >>> table.services.remove_dangling_files(dry_run=True).state
        'nothing to do'
    """

    @progress_bar("repair")
    def remove_dangling_files(
        self, start: str | None = None, end: str | None = None, *, backup: str | None = None, dry_run: bool = False
    ) -> DanglingFilesRepair:
        """Copy data files that no commit names to a folder, and delete them, as Apache Hudi's `HoodieRepairTool` does.

        These are files of instants that neither the timeline nor its archive has, and base files that the commit of their instant does not
        name. Files of pending instants are left to the rollback of these.

        Args:
            start: the first requested time whose files are looked at; by default all.
            end: the last one; a shorter text stands for all times that begin with it.
            backup: an empty or new folder outside of the table, or its URI; by default one in the folder for temporary files.
            dry_run: only return what would be done.

        Returns:
            The files, their size in bytes, and the folder with their copies.

        Raises:
            UsageError: a time is none, or the folder is not empty or in the table.
            CorruptTableError: the archive has a gap, so that it does not tell which instants there were.
            StorageError: a file could not be copied; nothing is deleted then.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> table.services.remove_dangling_files(start="20260101").files
            ()
        """
        chosen = InstantRange(start, end)
        with locked_table(self.storage, self.wait_s, self.clock, self.ids) as table:
            now = format_instant(self.clock.now(), zone_of(table.config.timeline_zone))
            folder = backup or temporary_folder(f"hudi_dangling_files_{table.config.name}_{now}")
            return remove_dangling_files(table, chosen, folder, dry_run=dry_run)

    @progress_bar("repair")
    def restore_dangling_files(self, backup: str, *, dry_run: bool = False) -> DanglingFilesRepair:
        """Copy files that `remove_dangling_files` removed to where they were; those that are there stay.

        Args:
            backup: the folder with the copies.
            dry_run: only return what would be done.

        Returns:
            The files that were missing.

        Raises:
            UsageError: the folder is in the table, or has no files.
            LockTimeoutError: another writer held the table for too long.

        Example:
            >>> table.services.restore_dangling_files("/tmp/of-another-day")
            Traceback (most recent call last):
            ...
            pyhudi.errors.UsageError: the folder for copies of dangling files, ..., holds no file: name the one that the repair named
        """
        with locked_table(self.storage, self.wait_s, self.clock, self.ids) as table:
            return restore_dangling_files(table, backup, dry_run=dry_run)
