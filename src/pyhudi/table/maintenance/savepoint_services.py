"""The part of `table.services` that makes savepoints and restores the table."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.progress import progress_bar
from pyhudi.service.restore import RestoreResult
from pyhudi.service.savepoint import Savepoint
from pyhudi.table.repair.rollback_services import RollbackServices
from pyhudi.table.restore_table import restore
from pyhudi.table.savepoint_table import create_savepoint, delete_savepoint, list_savepoints


@dataclass(frozen=True, slots=True)
class SavepointServices(RollbackServices):
    """Savepoints and restore of one table.

    Example:
        >>> table.services.savepoints()
        ()
    """

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
