"""Makes a compaction that has run visible: the last part of a run, under the table's lock, after the timeline was read again."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from pyhudi.errors import ConflictError
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.read.snapshot.read_schema import StoredSchema, table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.compaction.revalidate_slices import planned_slices
from pyhudi.service.compaction.start_compaction import StartedCompaction, concurrent_instants
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat, stats_by_partition
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table_identity import IDENTITY_NOTE, identity_note
from pyhudi.txn.commit_sequence import checksums_of_logs, complete_commit, reconcile_files
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import prepare_metadata_table
from pyhudi.txn.release import VERSION
from pyhudi.txn.schema_record import record_version

_log = logging.getLogger(__name__)
_OPERATIONS = {Action.COMPACTION: Operation.COMPACT, Action.LOG_COMPACTION: Operation.LOG_COMPACT}


def complete(table: LockedTable, work: StartedCompaction, results: Sequence[TaskResult], engine: str) -> tuple[Instant, list[TaskResult]]:
    """Complete the compaction, and return the completed instant with the results that are in it.

    `engine` names what ran the tasks. Groups that others replaced while they ran are left out, and their new files deleted: what others
    did stays.

    Raises:
        ConflictError: somebody took the compaction off the timeline, or ran it too.
        StorageError: a file is not there in full, or the storage failed; nothing is visible.
        UnknownOutcomeError: the storage gave no answer to the last step.
    """
    instant = work.instant
    if not any(one.action is instant.action and one.state is State.INFLIGHT for one in table.timeline.find(instant.requested)):
        raise ConflictError(
            f"{instant.action} {instant.requested} of table {table.storage.uri} is not inflight any more: somebody else took it back or "
            "completed it. Nothing of this run is visible."
        )
    is_alone = concurrent_instants(table, instant) == work.concurrent_instants
    declined = work.declined if is_alone else planned_slices(table, instant, work.plan).declined
    for group in declined.keys() - work.declined.keys():
        _log.warning("%s %s leaves %s out: %s", instant.action, instant.requested, group, declined[group])
    retained = [result for result in results if _group(result.stat) not in declined]
    reconcile_files(table.storage, instant.requested, [result.stat for result in retained])
    stored = table_schema(table.storage, table.config, table.timeline)
    version = _version(table, work, stored)
    metadata = CommitMetadata(
        stats=stats_by_partition(result.stat for result in retained),
        # As of now: a writer may have added a column while the tasks ran, and readers take the schema of what completed last.
        extra={
            "pyhudi.version": VERSION,
            "pyhudi.engine": engine,
            "schema": stored.avro_json,
            IDENTITY_NOTE: identity_note(table.config),
            **checksums_of_logs(retained),
            **version,
        },
        operation=_OPERATIONS[instant.action],
        compacted=True,
    )
    history = history_of(stored.columns)
    table, in_step = prepare_metadata_table(table, metadata.schema_json, history=history)
    return complete_commit(table, instant, metadata, in_step, history=history), retained


def _version(table: LockedTable, work: StartedCompaction, stored: StoredSchema) -> dict[str, str]:
    """Record which version of the schema the files have, for a table that keeps a history of it.

    Raises:
        ConflictError: the schema changed while the tasks ran, so that no version is that of both the files and the table.
    """
    before, now = history_of(work.context.schema), history_of(stored.columns)
    if now is not None and (before is None or before.current != now.current):
        raise ConflictError(
            f"the schema of table {table.storage.uri} was changed while {work.instant.action} {work.instant.requested} ran. Nothing of this"
            " run is visible; run it again."
        )
    return record_version(table, work.instant.requested, stored.columns)


def _group(stat: WriteStat) -> FileGroupId:
    return FileGroupId(stat.partition_path or "", stat.file_id or "")
