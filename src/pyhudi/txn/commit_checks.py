"""What must hold before a write begins, and again before it becomes visible."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pyhudi.errors import ConflictError, LockLostError, StorageError, UnsupportedError
from pyhudi.locks.known_objects import as_it_is_now
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.pending_clustering import clustered_groups, pending_clustering, resizes_buckets
from pyhudi.txn.locked_table import LockedTable, TableState


def check_nothing_planned(table: LockedTable) -> None:
    """Refuse to write while a table service is pending that a write cannot run concurrently with.

    A pending compaction is none: what is written meanwhile goes to log files, which apply on top of it. Nor is a clustering that rewrites
    file groups, which `pyhudi.service.clustering.update_strategy` checks once it is known what is written. Nor is a build of indexes, whose
    partitions of the metadata table are updated with what is written; in version 6 names of log files there would depend on it.

    Raises:
        UnsupportedError: names the instant.
    """
    for instant in table.timeline.pending():
        plan = pending_clustering(table.storage, table.config, instant)
        if plan is not None and resizes_buckets(plan):
            raise UnsupportedError(
                f"{instant.action} {instant.requested} of table {table.storage.uri} is pending; this release cannot write then. "
                f"Run it, table.services.cluster('{instant.requested}'), or roll it back, table.services.rollback('{instant.requested}'),"
                " or let Apache Hudi do so; then write."
            )
        is_unknown = instant.action is Action.CLUSTERING and plan is None
        if is_unknown or (instant.action is Action.INDEXING and table.config.layout == 1):
            raise UnsupportedError(
                f"{instant.action} {instant.requested} of table {table.storage.uri} is pending; this release cannot write then. "
                "Let Apache Hudi finish it or roll it back, then write."
            )


def check_not_clustered(table: TableState, groups: Collection[FileGroupId], advice: str = "") -> None:
    """Refuse to change or replace file groups that a planned clustering holds.

    Args:
        table: the table; the write has not begun.
        groups: the file groups.
        advice: what else may be done, for the error.

    Raises:
        ConflictError: names the clustering and the file group.
    """
    planned = clustered_groups(table.storage, table.config, table.timeline)
    conflicts = [group for group in groups if group in planned]
    if conflicts:
        group = min(conflicts)
        instant = planned[group]
        raise ConflictError(
            f"{instant.action} {instant.requested} of table {table.storage.uri} is planned and holds file group {group.file_id} of"
            f" partition '{group.partition_path}', which the write changes. Nothing was written. Run the clustering,"
            f" table.services.cluster('{instant.requested}'), or roll it back, table.services.rollback('{instant.requested}'){advice}."
        )


def check_files(storage: Storage, stats: Iterable[WriteStat]) -> None:
    """Refuse to commit files that are not there in full.

    Raises:
        StorageError: names the file.
    """
    for stat in stats:
        for path, written in stat.files.items():
            status = storage.stat(path)
            if status is None or status.size != written or not status.size:
                size = "is not there" if status is None else f"has {status.size} bytes"
                raise StorageError(f"data file '{path}' of table {storage.uri} {size}, {written} were written.")


_ROLLED_BACK = "Nothing of this write is visible; the next writer rolls it back. Write again."
_LEFT_PENDING = {
    Action.ROLLBACK: "It stays pending, and the next writer completes it.",
    Action.RESTORE: "It stays pending; run it again before anything else.",
    Action.INDEXING: "No reader uses the indexes. Build them again.",
}


def check_lock_held(table: LockedTable, instant: Instant) -> None:
    """Refuse to continue an action whose lock excludes no process any more.

    Raises:
        LockLostError: the lock file was deleted or replaced.
    """
    if not table.is_locked:
        raise LockLostError(
            f"the lock file of table {table.storage.uri} was deleted or replaced, or the lock of its provider was lost, while"
            f" {instant.action} {instant.requested} held it: another writer may be at work."
            f" {_LEFT_PENDING.get(instant.action, _ROLLED_BACK)} Leave the lock file alone."
        )


def check_locked_before_repair(table: LockedTable, trouble: str) -> None:
    """Refuse to repair the metadata table without the lock: what looks unfinished may be what another writer is doing just now.

    Args:
        table: the table.
        trouble: what would be repaired.

    Raises:
        LockLostError: the lock file was deleted or replaced.
    """
    if not table.is_locked:
        raise LockLostError(
            f"the lock file of table {table.storage.uri} was deleted or replaced, or the lock of its provider was lost: another writer may"
            f" be at work, and the metadata table is left as it is ({trouble}). Nothing of this write is visible; write again. Leave the"
            " lock file alone."
        )


def check_timeline_unchanged(table: LockedTable, inflight: Instant) -> None:
    """Refuse to commit when others changed the timeline since it was loaded: a process writes without the lock.

    Args:
        table: the table; its storage is asked, whatever was listed before.
        inflight: the write's own instant, which must still be there.

    Raises:
        ConflictError: names a file that appeared or vanished.
    """
    now = as_it_is_now(table.storage).file_names(table.config.timeline_path)
    changed = [name for name in table.timeline_files.symmetric_difference(now) if not name.startswith((inflight.requested, "."))]
    if changed:
        raise ConflictError(
            f"'{min(changed)}' on the timeline of table {table.storage.uri} was changed by a writer that does not hold the table's lock. "
            "Nothing of this write is visible; try again when the other is done."
        )
    if inflight.file_name(table.config.layout) not in now:
        raise ConflictError(f"{inflight.action} {inflight.requested} of table {table.storage.uri} was rolled back by another writer")
