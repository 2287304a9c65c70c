"""The audit of a table's lock: switching it on, checking that no two writers held the lock at a time, deleting old records.

Rules: `SetAuditLockProcedure`, `ShowAuditLockStatusProcedure`, `ValidateAuditLockProcedure`, `CleanupAuditLockProcedure`,
`LockAuditingCommand`. Only `StorageBasedLockProvider` writes records.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import UsageError
from pyhudi.locks.lock_audit import AUDIT_FOLDER, CONFIG_FILE, SUFFIX, AuditRecord, AuditState, decode_records, encode_config, is_audited
from pyhudi.spec.notebook_html import ShownResult
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.timeline.clock import Clock, now_millis

_MAX_BYTES: Final = 64 << 20
_DAY_MS: Final = 24 * 60 * 60 * 1000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, repr=False)
class LockAuditStatus(ShownResult):
    """Whether the lock of a table has an audit.

    Attributes:
        enabled: whether it is on.
        config_path: the file that says so.
        audit_folder: the folder of its records.
        files: how many files of records there are.
    """

    enabled: bool
    config_path: str
    audit_folder: str
    files: int

    def __str__(self) -> str:
        """Say in a line whether it is on."""
        return f"the audit of locks is {'on' if self.enabled else 'off'} ({self.config_path}); {self.files} files in {self.audit_folder}"


@dataclass(frozen=True, slots=True, repr=False)
class LockAuditReport(ShownResult):
    """What the audit of a table's lock shows.

    Attributes:
        result: `PASSED`, `WARNING` (a holder did not release the lock) or `FAILED` (two held it at a time, or a file is damaged).
        files: how many files of records there are.
        transactions: how many times the lock was held, by the files that can be read.
        issues: each issue, those of a failure first.
    """

    result: str
    files: int
    transactions: int
    issues: tuple[str, ...]

    def __str__(self) -> str:
        """Say in a line for each issue what is wrong."""
        return "\n".join([f"{self.result}: the lock was held {self.transactions} times", *(f"  {issue}" for issue in self.issues)])


@dataclass(frozen=True, slots=True, repr=False)
class LockAuditCleanup(ShownResult):
    """Files of an audit that were deleted, or would be.

    Attributes:
        files: their paths.
        age_days: the age in days, beyond which they are deleted.
        dry_run: whether they are only named.
    """

    files: tuple[str, ...]
    age_days: int
    dry_run: bool

    def __str__(self) -> str:
        """Say in a line how many are deleted."""
        verb = "would be" if self.dry_run else "are"
        return f"{len(self.files)} files of the audit of locks that are older than {self.age_days} days {verb} deleted"


def set_lock_audit(storage: Storage, *, enabled: bool, keep_files: bool = True) -> LockAuditStatus:
    """Switch the audit on or off, from the next time on that the lock is taken; without `keep_files` the records are deleted."""
    storage.replace(CONFIG_FILE, encode_config(enabled=enabled))
    if enabled and not isinstance(storage, CloudStorage):
        _log.warning(
            "table %s is on no object store: only StorageBasedLockProvider, which needs one, writes an audit of its lock", storage.uri
        )
    if not keep_files:
        for status in _files(storage):
            storage.delete(status.path)
    return lock_audit_status(storage)


def lock_audit_status(storage: Storage) -> LockAuditStatus:
    """Return whether the audit is on.

    Raises:
        CorruptTableError: the file that says so is damaged.
    """
    uri = storage.uri.rstrip("/")
    return LockAuditStatus(is_audited(storage), f"{uri}/{CONFIG_FILE}", f"{uri}/{AUDIT_FOLDER}", len(_files(storage)))


def validate_lock_audit(storage: Storage) -> LockAuditReport:
    """Check that no holder took the lock before the one before it had released it, or its lock had expired."""
    windows, damaged = [], []
    files = _files(storage)
    for status in files:
        try:
            windows.append(_window(status.name, decode_records(storage.read(status.path, max_bytes=_MAX_BYTES))))
        except FileNotFoundError:
            continue  # deleted meanwhile
        except ValueError as error:
            damaged.append(f"[ERROR] Failed to parse audit file: {status.name} ({error})")
    windows.sort(key=lambda one: (one.begin_ms, one.name))
    overlaps = _overlaps(windows)
    open_ended = [
        f"[WARNING] {one.name} => transaction did not end gracefully. This could be due to driver OOM or non-graceful shutdown."
        for one in windows
        if not one.has_end
    ]
    errors, issues = (*overlaps, *damaged), (*overlaps, *damaged, *open_ended)
    return LockAuditReport("FAILED" if errors else "WARNING" if issues else "PASSED", len(files), len(windows), issues)


def clean_lock_audit(storage: Storage, clock: Clock, age_days: int, *, dry_run: bool) -> LockAuditCleanup:
    """Delete the files of records that did not change for more than so many days.

    Raises:
        UsageError: the age is negative.
    """
    if age_days < 0:
        raise UsageError(f"age_days is {age_days}: give the number of days for which the records of the lock are to stay, 0 or more.")
    limit_ms = now_millis(clock) - age_days * _DAY_MS
    old = tuple(status.path for status in _files(storage) if status.modified_ms < limit_ms)
    if not dry_run:
        for path in old:
            storage.delete(path)
    return LockAuditCleanup(old, age_days, dry_run)


@dataclass(frozen=True, slots=True)
class _Window:
    """One time that the lock was held: from the first START to the last END, or else until the lock expired."""

    name: str
    begin_ms: int
    end_ms: int
    has_end: bool


def _window(name: str, records: Sequence[AuditRecord]) -> _Window:
    begins = [record.time_ms for record in records if record.state is AuditState.START]
    ends = [record.time_ms for record in records if record.state is AuditState.END]
    return _Window(name, begins[0] if begins else records[0].begin_ms, ends[-1] if ends else records[-1].expiration_ms, bool(ends))


def _overlaps(windows: Sequence[_Window]) -> list[str]:
    """Name the pairs of windows, which are sorted by their begin, that overlap."""
    return [
        f"[ERROR] {one.name} => overlaps with {other.name}"
        for index, one in enumerate(windows)
        for other in windows[index + 1 :]
        if other.begin_ms < one.end_ms
    ]


def _files(storage: Storage) -> list[FileStatus]:
    return [status for status in storage.list(AUDIT_FOLDER) if not status.is_dir and status.name.endswith(SUFFIX)]
