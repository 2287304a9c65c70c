"""Rollback and restore payloads, from and to Avro.

Rules: `HoodieRollbackPlan`, `HoodieRollbackMetadata`, `HoodieRestorePlan`, `HoodieRestoreMetadata`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyhudi.codec.avro.avro_record import Record, decode_record, encode_record
from pyhudi.spec.actions.restore import RestoreMetadata, RestorePlan
from pyhudi.spec.actions.rollback import InstantInfo, RollbackMetadata, RollbackPartition, RollbackPlan, RollbackRequest

_PLAN = "HoodieRollbackPlan"
_METADATA = "HoodieRollbackMetadata"
_RESTORE_PLAN = "HoodieRestorePlan"
_RESTORE_METADATA = "HoodieRestoreMetadata"


def decode_rollback_plan(data: bytes) -> RollbackPlan:
    """Decode a requested rollback (CorruptTableError when the bytes are not one)."""
    _, record = decode_record(data, _PLAN)
    instant, requests = record["instantToRollback"], record["RollbackRequests"]
    return RollbackPlan(
        instant=None if instant is None else _instant(instant),
        requests=None if requests is None else tuple(_request(request) for request in requests),
        version=record["version"],
    )


def encode_rollback_plan(plan: RollbackPlan, *, sync: bytes) -> bytes:
    """Encode a requested rollback; `sync` are the container's 16 random bytes."""
    record: Record = {
        "instantToRollback": None if plan.instant is None else _instant_record(plan.instant),
        "RollbackRequests": None if plan.requests is None else [_request_record(request) for request in plan.requests],
        "version": plan.version,
    }
    return encode_record(_PLAN, record, sync=sync)


def decode_rollback_metadata(data: bytes) -> RollbackMetadata:
    """Decode a completed rollback (CorruptTableError when the bytes are not one)."""
    return _metadata(decode_record(data, _METADATA)[1])


def encode_rollback_metadata(metadata: RollbackMetadata, *, sync: bytes) -> bytes:
    """Encode a completed rollback; `sync` are the container's 16 random bytes."""
    return encode_record(_METADATA, _metadata_record(metadata), sync=sync)


def _metadata_record(metadata: RollbackMetadata) -> Record:
    return {
        "startRollbackTime": metadata.start,
        "timeTakenInMillis": metadata.time_taken_ms,
        "totalFilesDeleted": metadata.files_deleted,
        "commitsRollback": list(metadata.commits),
        "partitionMetadata": {path: _partition_record(done) for path, done in metadata.partitions.items()},
        "version": metadata.version,
        "instantsRollback": [_instant_record(instant) for instant in metadata.instants],
    }


def decode_restore_plan(data: bytes) -> RestorePlan:
    """Decode a requested restore (CorruptTableError when the bytes are not one)."""
    _, record = decode_record(data, _RESTORE_PLAN)
    return RestorePlan(_instants(record["instantsToRollback"]), record["savepointToRestoreTimestamp"], record["version"])


def encode_restore_plan(plan: RestorePlan, *, sync: bytes) -> bytes:
    """Encode a requested restore; `sync` are the container's 16 random bytes."""
    record: Record = {
        "instantsToRollback": [_instant_record(instant) for instant in plan.instants],
        "version": plan.version,
        "savepointToRestoreTimestamp": plan.savepoint,
    }
    return encode_record(_RESTORE_PLAN, record, sync=sync)


def decode_restore_metadata(data: bytes) -> RestoreMetadata:
    """Decode a completed restore (CorruptTableError when the bytes are not one)."""
    _, record = decode_record(data, _RESTORE_METADATA)
    rollbacks = {
        time: tuple(_metadata(rollback) for rollback in listed if rollback is not None)
        for time, listed in record["hoodieRestoreMetadata"].items()
    }
    return RestoreMetadata(
        start=record["startRestoreTime"],
        time_taken_ms=record["timeTakenInMillis"],
        rolled_back=tuple(record["instantsToRollback"]),
        rollbacks=rollbacks,
        instants=_instants(record["restoreInstantInfo"]),
        version=record["version"],
    )


def encode_restore_metadata(metadata: RestoreMetadata, *, sync: bytes) -> bytes:
    """Encode a completed restore; `sync` are the container's 16 random bytes."""
    record: Record = {
        "startRestoreTime": metadata.start,
        "timeTakenInMillis": metadata.time_taken_ms,
        "instantsToRollback": list(metadata.rolled_back),
        "hoodieRestoreMetadata": {time: list(map(_metadata_record, done)) for time, done in metadata.rollbacks.items()},
        "version": metadata.version,
        "restoreInstantInfo": [_instant_record(instant) for instant in metadata.instants],
    }
    return encode_record(_RESTORE_METADATA, record, sync=sync)


def _metadata(record: Record) -> RollbackMetadata:
    return RollbackMetadata(
        start=record["startRollbackTime"],
        time_taken_ms=record["timeTakenInMillis"],
        files_deleted=record["totalFilesDeleted"],
        commits=tuple(record["commitsRollback"]),
        partitions={path: _partition(done) for path, done in record["partitionMetadata"].items()},
        instants=_instants(record["instantsRollback"]),
        version=record["version"],
    )


def _partition(record: Record) -> RollbackPartition:
    return RollbackPartition(
        partition_path=record["partitionPath"],
        deleted=tuple(record["successDeleteFiles"]),
        failed=tuple(record["failedDeleteFiles"]),
        rollback_log_files=record["rollbackLogFiles"],
        failed_log_files=record["logFilesFromFailedCommit"],
    )


def _partition_record(done: RollbackPartition) -> Record:
    return {
        "partitionPath": done.partition_path,
        "successDeleteFiles": list(done.deleted),
        "failedDeleteFiles": list(done.failed),
        "rollbackLogFiles": _sizes(done.rollback_log_files),
        "logFilesFromFailedCommit": _sizes(done.failed_log_files),
    }


def _request(record: Record) -> RollbackRequest:
    return RollbackRequest(
        partition_path=record["partitionPath"],
        file_id=record["fileId"],
        latest_base_instant=record["latestBaseInstant"],
        files_to_delete=tuple(record["filesToBeDeleted"]),
        log_blocks_to_delete=record["logBlocksToBeDeleted"],
    )


def _request_record(request: RollbackRequest) -> Record:
    return {
        "partitionPath": request.partition_path,
        "fileId": request.file_id,
        "latestBaseInstant": request.latest_base_instant,
        "filesToBeDeleted": list(request.files_to_delete),
        "logBlocksToBeDeleted": _sizes(request.log_blocks_to_delete),
    }


def _instants(records: Iterable[Record]) -> tuple[InstantInfo, ...]:
    return tuple(_instant(record) for record in records)


def _instant(record: Record) -> InstantInfo:
    return InstantInfo(record["commitTime"], record["action"])


def _instant_record(instant: InstantInfo) -> Record:
    return {"commitTime": instant.time, "action": instant.action}


def _sizes(sizes: Mapping[str, int] | None) -> dict[str, int] | None:
    return None if sizes is None else dict(sizes)
