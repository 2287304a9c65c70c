"""The commit sequence: from data files that tasks wrote to an action that readers see. Writes, compaction and clustering share it.

The order is what makes a commit atomic and safe to cut anywhere: files that the commit does not name are deleted, files that it names are
there in full, the metadata table records the commit, the completed instant makes all of it visible, and only then are the markers deleted
and the metadata table's own services run. Rules: `BaseHoodieWriteClient.commitStats`, `HoodieTable.finalizeWrite`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from pyhudi.codec.actions.commit_metadata import commit_content
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.metadata_table.lifecycle.metadata_sync import MetadataSync
from pyhudi.schema.internal.schema_history import SchemaHistory
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat
from pyhudi.spec.committed_instants import MOST_NOTED_INSTANTS, committed_note
from pyhudi.spec.instant import Instant
from pyhudi.spec.log_checksums import LogChecksum, log_checksum_note
from pyhudi.storage.storage_protocol import Storage
from pyhudi.txn.commit_checks import check_files, check_lock_held
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import delete_marker_directory, delete_unlisted
from pyhudi.txn.metadata_updates import keep_times_apart, maintain, record_commit


def reconcile_files(storage: Storage, requested: str, stats: Collection[WriteStat]) -> None:
    """Delete the files of an action that its statistics do not name, and check that those they name are there in full.

    Args:
        storage: the table's storage.
        requested: the requested time of the action, whose markers name every file that was begun.
        stats: the write statistics that the commit will hold.

    Raises:
        StorageError: a data file is not there in full, or the storage failed; nothing is visible.
    """
    delete_unlisted(storage, requested, {path for stat in stats for path in stat.files})
    check_files(storage, stats)


def checksums_of_logs(results: Iterable[TaskResult]) -> dict[str, str]:
    """Return the entry of a commit's extra metadata that notes the checksums of the log files that its tasks wrote."""
    return log_checksum_note(
        {path: LogChecksum(result.stat.files[path], crc) for result in results for path, crc in result.log_crc32.items()}
    )


@dataclass(frozen=True, slots=True)
class CompletedAction:
    """An action that is visible, and the metadata table as it is then; None where there is none, or it has to be opened again."""

    instant: Instant
    sync: MetadataSync | None = None


def complete_commit(
    table: LockedTable,
    inflight: Instant,
    metadata: CommitMetadata,
    sync: MetadataSync | None,
    *,
    history: SchemaHistory | None = None,
    before_completion: Callable[[], None] = lambda: None,
    after_completion: Callable[[], None] = lambda: None,
) -> CompletedAction:
    """Make an action visible whose files are reconciled.

    Args:
        table: the table, locked, with its timeline read again.
        inflight: the action's inflight instant.
        metadata: what the completed instant says.
        sync: the metadata table as `prepare_metadata_table` returned it; None when the table has none.
        history: that of the schema, if the table keeps one.
        before_completion: writes what must be on storage once the action is complete, such as new consistent hashing metadata.
        after_completion: follows it; must not fail.

    Raises:
        ConflictError: the lock was lost; nothing is visible.
        StorageError: the storage failed; nothing is visible.
        UnknownOutcomeError: the storage gave no answer to the last step.
    """
    check_lock_held(table, inflight)
    if sync is not None:
        sync = record_commit(sync, inflight.requested, metadata, history)
    before_completion()
    metadata = replace(metadata, extra_metadata={**metadata.extra_metadata, **_completed_before(table, inflight)})
    content = commit_content(metadata, table.config.layout, sync=table.ids.sync_marker())
    completed = table.writer.complete(inflight, table.times.next(), content, functools.partial(check_lock_held, table, inflight))
    after_completion()
    delete_marker_directory(table.storage, inflight.requested)
    maintained = maintain(sync)
    if maintained is not None:
        keep_times_apart(table, maintained.mdt)
    return CompletedAction(completed, maintained)


def _completed_before(table: LockedTable, inflight: Instant) -> dict[str, str]:
    """Return the note of the completed writes before an action, so that the loss of one of their files is noticed.

    What was requested later is left out: a restore to this action's time would take it off the timeline.
    """
    earlier = [instant for instant in table.timeline.data_instants() if instant.requested < inflight.requested]
    return committed_note([instant.file_name(table.config.layout) for instant in earlier[-MOST_NOTED_INSTANTS:]])
