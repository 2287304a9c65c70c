"""What a clean plans and what it did, from and to Avro.

Rules: `HoodieCleanerPlan`, `HoodieCleanMetadata`. Each decoder raises CorruptTableError when the bytes are not such a record.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyhudi.codec.avro.avro_record import Record, decode_record, encode_record
from pyhudi.spec.actions.clean import CleanMetadata, CleanPartition, CleanPlan

_PLAN = "HoodieCleanerPlan"
_METADATA = "HoodieCleanMetadata"


def decode_clean_plan(data: bytes) -> CleanPlan:
    """Decode a requested clean; plans of version 1 name files, later ones paths."""
    _, record = decode_record(data, _PLAN)
    retained = record["earliestInstantToRetain"]
    infos = record["filePathsToBeDeletedPerPartition"]
    sources: dict[str, tuple[str, ...]] = {}
    if infos is None:
        files = {path: tuple(names) for path, names in (record["filesToBeDeletedPerPartition"] or {}).items()}
    else:
        files = {path: _paths(listed, of_source=False) for path, listed in infos.items()}
        sources = {path: named for path, listed in infos.items() if (named := _paths(listed, of_source=True))}
    return CleanPlan(
        policy=record["policy"],
        retained_from=None if retained is None else retained["timestamp"],
        retained_action=None if retained is None else retained["action"],
        last_completed=record["lastCompletedCommitTimestamp"],
        files=files,
        partitions_to_delete=tuple(record["partitionsToBeDeleted"] or ()),
        extra_metadata=record["extraMetadata"],
        version=record["version"],
        sources=sources,
    )


def _paths(infos: Iterable[Record], *, of_source: bool) -> tuple[str, ...]:
    return tuple(info["filePath"] or "" for info in infos if bool(info["isBootstrapBaseFile"]) is of_source)


def _infos(plan: CleanPlan, partition: str) -> list[Record]:
    inside, outside = plan.files.get(partition, ()), plan.sources.get(partition, ())
    return [{"filePath": path, "isBootstrapBaseFile": path in outside} for path in (*inside, *outside)]


def encode_clean_plan(plan: CleanPlan, *, sync: bytes) -> bytes:
    """Encode a requested clean, in the way of version 2; `sync` are the container's 16 random bytes."""
    retained = {"timestamp": plan.retained_from, "action": plan.retained_action, "state": "COMPLETED"}
    record: Record = {
        "earliestInstantToRetain": None if plan.retained_from is None else retained,
        "lastCompletedCommitTimestamp": plan.last_completed,
        "policy": plan.policy,
        "filesToBeDeletedPerPartition": {},
        "version": plan.version,
        "filePathsToBeDeletedPerPartition": {
            partition: _infos(plan, partition) for partition in dict.fromkeys((*plan.files, *plan.sources))
        },
        "partitionsToBeDeleted": list(plan.partitions_to_delete),
        "extraMetadata": None if plan.extra_metadata is None else dict(plan.extra_metadata),
    }
    return encode_record(_PLAN, record, sync=sync)


def decode_clean_metadata(data: bytes) -> CleanMetadata:
    """Decode a completed clean."""
    _, record = decode_record(data, _METADATA)
    return CleanMetadata(
        start=record["startCleanTime"],
        time_taken_ms=record["timeTakenInMillis"],
        files_deleted=record["totalFilesDeleted"],
        retained_from=record["earliestCommitToRetain"],
        last_completed=record["lastCompletedCommitTimestamp"],
        partitions={path: _partition(done) for path, done in record["partitionMetadata"].items()},
        sources={path: _partition(done) for path, done in (record["bootstrapPartitionMetadata"] or {}).items()},
        extra_metadata=record["extraMetadata"],
        version=record["version"],
    )


def encode_clean_metadata(metadata: CleanMetadata, *, sync: bytes) -> bytes:
    """Encode a completed clean; `sync` are the container's 16 random bytes."""
    record: Record = {
        "startCleanTime": metadata.start,
        "timeTakenInMillis": metadata.time_taken_ms,
        "totalFilesDeleted": metadata.files_deleted,
        "earliestCommitToRetain": metadata.retained_from,
        "lastCompletedCommitTimestamp": metadata.last_completed,
        "partitionMetadata": {path: _partition_record(done) for path, done in metadata.partitions.items()},
        "version": metadata.version,
        "bootstrapPartitionMetadata": {path: _partition_record(done) for path, done in metadata.sources.items()},
        "extraMetadata": None if metadata.extra_metadata is None else dict(metadata.extra_metadata),
    }
    return encode_record(_METADATA, record, sync=sync)


def _partition(record: Record) -> CleanPartition:
    return CleanPartition(
        partition_path=record["partitionPath"],
        policy=record["policy"],
        delete_patterns=tuple(record["deletePathPatterns"]),
        deleted=tuple(record["successDeleteFiles"]),
        failed=tuple(record["failedDeleteFiles"]),
        is_partition_deleted=bool(record["isPartitionDeleted"]),
    )


def _partition_record(done: CleanPartition) -> Record:
    return {
        "partitionPath": done.partition_path,
        "policy": done.policy,
        "deletePathPatterns": list(done.delete_patterns),
        "successDeleteFiles": list(done.deleted),
        "failedDeleteFiles": list(done.failed),
        "isPartitionDeleted": done.is_partition_deleted,
    }
