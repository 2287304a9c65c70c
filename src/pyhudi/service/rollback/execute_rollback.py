"""Carrying a planned rollback out, from wherever it stands.

Rules: `BaseRollbackActionExecutor`. inflight - files - the failed instant's own files - completed - markers. Every step
may be repeated, and the rollback completes only after all before it succeeded: a killed rollback is taken up again by
the next writer.
"""

from __future__ import annotations

import time
from dataclasses import replace

from pyhudi.codec.actions.rollback_codec import encode_rollback_metadata
from pyhudi.errors import CorruptTableError
from pyhudi.service.rollback import append_rollback_block as log_blocks
from pyhudi.service.rollback.heartbeat import heartbeat_path
from pyhudi.service.rollback.rollback_plan import absolute, planned_files
from pyhudi.spec.actions.rollback import RollbackMetadata, RollbackPartition, RollbackPlan
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.temporary_files import remove_left_overs
from pyhudi.timeline.instant_details import instant_path
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import delete_markers
from pyhudi.txn.metadata_updates import rollback_pending

_PLANNED_AGAIN = frozenset({Action.COMPACTION, Action.LOG_COMPACTION})


def execute_rollback(table: LockedTable, rollback: Instant, plan: RollbackPlan) -> RollbackMetadata:
    """Bring a requested or inflight rollback to its end and return what it did.

    Raises:
        CorruptTableError: the plan rolls back an instant that is completed, or files that are not that instant's.
        StorageError: a file could not be deleted; the rollback stays pending.
    """
    started = time.perf_counter()
    files = planned_files(plan)
    assert plan.instant is not None, "planned_files has looked"
    failed = _failed_instant(table, rollback, plan.instant.time, Action(plan.instant.action))
    if rollback.state is State.REQUESTED:
        rollback = table.writer.start(rollback)
    for paths in files.values():
        for path in paths:
            table.storage.delete(path)
    rolled_back = _append_rollback_blocks(table, rollback, plan)
    remove_left_overs(table.storage, files)
    metadata = RollbackMetadata(
        start=rollback.requested,
        time_taken_ms=int((time.perf_counter() - started) * 1000),
        files_deleted=sum(map(len, files.values())),
        commits=(failed.requested,),
        partitions={
            partition: replace(
                rolled_back.get(partition, RollbackPartition(partition)), deleted=tuple(absolute(table, path) for path in paths)
            )
            for partition, paths in files.items()
        },
        instants=(plan.instant,),
    )
    rollback_pending(table, metadata)
    _forget(table, failed)
    content = encode_rollback_metadata(metadata, sync=table.ids.sync_marker())
    table.writer.complete(rollback, table.times.next(), content)
    delete_markers(table.storage, failed.requested)
    table.storage.delete(heartbeat_path(failed.requested))
    return metadata


def _append_rollback_blocks(table: LockedTable, rollback: Instant, plan: RollbackPlan) -> dict[str, RollbackPartition]:
    """Roll back blocks of log files that stay, and return what was done by partition."""
    assert plan.instant is not None
    done: dict[str, RollbackPartition] = {}
    for request in plan.requests or ():
        if not request.log_blocks_to_delete:
            continue
        written = log_blocks.rollback_pending(table.storage, rollback.requested, plan.instant.time, request)
        before = done.get(request.partition_path, RollbackPartition(request.partition_path))
        done[request.partition_path] = replace(
            before,
            rollback_log_files={**(before.rollback_log_files or {}), absolute(table, written.path): written.size},
            failed_log_files={**(before.failed_log_files or {}), **request.log_blocks_to_delete},
        )
    return done


def _forget(table: LockedTable, failed: Instant) -> None:
    """Take the failed instant off the timeline; a compaction goes back to requested, because its plan will be run again."""
    if failed.action in _PLANNED_AGAIN:
        table.storage.delete(instant_path(table.config, failed))
    else:
        table.writer.remove(failed)


def _failed_instant(table: LockedTable, rollback: Instant, requested: str, action: Action) -> Instant:
    """Return the instant to roll back; its files may be gone already when the rollback was killed late."""
    for instant in table.timeline.find(requested):
        if instant.is_completed and instant.action.writes_data:
            raise CorruptTableError(
                f"rollback {rollback.requested} of table {table.storage.uri} is pending and takes back {instant.action} {requested}, which "
                "is completed. This release takes back failed writes only; let Apache Hudi finish that rollback."
            )
    return Instant(requested, action, State.INFLIGHT)
