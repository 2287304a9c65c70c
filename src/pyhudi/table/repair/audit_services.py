"""The part of `table.services` about the audit of the table's lock."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.locks.choose_lock import unprovided
from pyhudi.service.lock_audit_service import (
    LockAuditCleanup,
    LockAuditReport,
    LockAuditStatus,
    clean_lock_audit,
    lock_audit_status,
    set_lock_audit,
    validate_lock_audit,
)
from pyhudi.table.version.version_services import VersionServices


@dataclass(frozen=True, slots=True)
class AuditServices(VersionServices):
    """The audit of the lock of one table.

    Example:
        >>> table.services.lock_audit().enabled
        False
    """

    def set_lock_audit(self, *, enabled: bool, keep_files: bool = True) -> LockAuditStatus:
        """Record from now on who takes, renews and releases the table's lock, or end that.

        Only `StorageBasedLockProvider` writes records, of pyhudi and of Apache Hudi, into `.hoodie/.locks/audit`.

        Args:
            enabled: whether the audit is on.
            keep_files: keep the records that there are.

        Returns:
            Whether the audit is on, and where its files are.

        Example:
            >>> table.services.set_lock_audit(enabled=False).enabled
            False
        """
        return set_lock_audit(unprovided(self.storage), enabled=enabled, keep_files=keep_files)

    def lock_audit(self) -> LockAuditStatus:
        """Return whether the audit of the table's lock is on.

        Raises:
            CorruptTableError: the file that says so is damaged.

        Example:
            >>> table.services.lock_audit().files
            0
        """
        return lock_audit_status(unprovided(self.storage))

    def validate_lock_audit(self) -> LockAuditReport:
        """Check by its audit that no two writers held the table's lock at a time.

        Returns:
            `PASSED`; `WARNING` when a holder ended without releasing the lock; `FAILED` when two held it at a time, or a file is damaged.

        Example:
            >>> table.services.validate_lock_audit().result
            'PASSED'
        """
        return validate_lock_audit(unprovided(self.storage))

    def clean_lock_audit(self, age_days: int = 7, *, dry_run: bool = False) -> LockAuditCleanup:
        """Delete old records of the audit of the table's lock.

        Args:
            age_days: files that did not change for more than so many days.
            dry_run: only return what would be deleted.

        Returns:
            The files that were deleted, or would be.

        Raises:
            UsageError: the age is negative.

        Example:
            >>> table.services.clean_lock_audit(dry_run=True).files
            ()
        """
        return clean_lock_audit(unprovided(self.storage), self.clock, age_days, dry_run=dry_run)
