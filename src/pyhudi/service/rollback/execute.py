"""Carrying a planned rollback out, from wherever it stands.

Rules: `BaseRollbackActionExecutor`. inflight - files - the failed instant's own files - completed - markers. Every step
may be repeated, and the rollback completes only after all before it succeeded: a killed rollback is taken up again by
the next writer.
"""

from __future__ import annotations

import time

from pyhudi.codec.rollback import encode_rollback_metadata
from pyhudi.errors import CorruptTableError
from pyhudi.service.rollback.heartbeat import heartbeat_path
from pyhudi.service.rollback.plan import absolute, planned_files
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.rollback import RollbackMetadata, RollbackPartition, RollbackPlan
from pyhudi.storage.left_overs import remove_left_overs
from pyhudi.txn.locked import LockedTable
from pyhudi.txn.markers import delete_markers


def execute_rollback(table: LockedTable, rollback: Instant, plan: RollbackPlan) -> RollbackMetadata:
    """Bring a requested or inflight rollback to its end and return what it did.

    Raises:
        CorruptTableError: the plan takes back an instant that is completed, or files that are not that instant's.
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
    remove_left_overs(table.storage, files)
    table.writer.remove(failed)
    metadata = RollbackMetadata(
        start=rollback.requested,
        time_taken_ms=int((time.perf_counter() - started) * 1000),
        files_deleted=sum(map(len, files.values())),
        commits=(failed.requested,),
        partitions={
            partition: RollbackPartition(partition, deleted=tuple(absolute(table, path) for path in paths))
            for partition, paths in files.items()
        },
        instants=(plan.instant,),
    )
    content = encode_rollback_metadata(metadata, sync=table.ids.sync_marker())
    table.writer.complete(rollback, table.times.next(), content)
    delete_markers(table.storage, failed.requested)
    table.storage.delete(heartbeat_path(failed.requested))
    return metadata


def _failed_instant(table: LockedTable, rollback: Instant, requested: str, action: Action) -> Instant:
    """Return the instant to take back; its files may be gone already when the rollback was killed late."""
    for instant in table.timeline.find(requested):
        if instant.is_completed and instant.action.writes_data:
            raise CorruptTableError(
                f"rollback {rollback.requested} of table {table.storage.uri} is pending and takes back {instant.action} {requested}, which "
                "is completed. This release takes back failed writes only; let Apache Hudi finish that rollback."
            )
    return Instant(requested, action, State.INFLIGHT)
