"""Plans of table services and what they did: savepoint, compaction, clustering, indexing.

Rules: the Avro records of the same names in `org.apache.hudi.avro.model`. Each function raises CorruptTableError
when the bytes are not such a record.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyhudi.codec.avro.avro_record import Record, decode_record, encode_record
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringPlan, ClusteringSlice, RequestedReplace, Strategy
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.actions.compaction import CompactionOperation, CompactionPlan
from pyhudi.spec.actions.indexing import IndexedPartition, Indexing
from pyhudi.spec.actions.savepoint import SavepointMetadata

_SAVEPOINT = "HoodieSavepointMetadata"
_COMPACTION_PLAN = "HoodieCompactionPlan"
_REQUESTED_REPLACE = "HoodieRequestedReplaceMetadata"
_INDEX_PLAN = "HoodieIndexPlan"
_INDEX_COMMIT = "HoodieIndexCommitMetadata"


def decode_savepoint(data: bytes) -> SavepointMetadata:
    """Decode a completed savepoint."""
    _, record = decode_record(data, _SAVEPOINT)
    files = {path: tuple(retained["savepointDataFile"]) for path, retained in record["partitionMetadata"].items()}
    return SavepointMetadata(record["savepointedBy"], record["savepointedAt"], record["comments"], files, record["version"])


def encode_savepoint(savepoint: SavepointMetadata, *, sync: bytes) -> bytes:
    """Encode a completed savepoint; `sync` are the container's 16 random bytes."""
    record: Record = {
        "savepointedBy": savepoint.user,
        "savepointedAt": savepoint.at_ms,
        "comments": savepoint.comments,
        "partitionMetadata": {path: {"partitionPath": path, "savepointDataFile": list(names)} for path, names in savepoint.files.items()},
        "version": savepoint.version,
    }
    return encode_record(_SAVEPOINT, record, sync=sync)


def decode_compaction_plan(data: bytes) -> CompactionPlan:
    """Decode a requested compaction or log compaction."""
    _, record = decode_record(data, _COMPACTION_PLAN)
    operations = record["operations"]
    return CompactionPlan(
        operations=None if operations is None else tuple(_operation(operation) for operation in operations),
        extra_metadata=record["extraMetadata"],
        version=record["version"],
        strategy=_strategy(record["strategy"], "compactorClassName"),
        preserve_meta_columns=record["preserveHoodieMetadata"],
        missing_partitions=_strings(record["missingSchedulePartitions"]),
    )


def _operation(record: Record) -> CompactionOperation:
    return CompactionOperation(
        base_instant=record["baseInstantTime"],
        file_id=record["fileId"],
        partition_path=record["partitionPath"],
        data_file=record["dataFilePath"],
        delta_files=_strings(record["deltaFilePaths"]),
        metrics=record["metrics"],
        bootstrap_file=record["bootstrapFilePath"],
    )


def encode_compaction_plan(plan: CompactionPlan, *, sync: bytes) -> bytes:
    """Encode a requested compaction or log compaction; `sync` are the container's 16 random bytes."""
    strategy = plan.strategy
    record: Record = {
        "operations": None if plan.operations is None else [_operation_record(operation) for operation in plan.operations],
        "extraMetadata": None if plan.extra_metadata is None else dict(plan.extra_metadata),
        "version": plan.version,
        "strategy": None
        if strategy is None
        else {"compactorClassName": strategy.class_name, "strategyParams": strategy.params, "version": strategy.version},
        "preserveHoodieMetadata": plan.preserve_meta_columns,
        "missingSchedulePartitions": None if plan.missing_partitions is None else list(plan.missing_partitions),
    }
    return encode_record(_COMPACTION_PLAN, record, sync=sync)


def _operation_record(operation: CompactionOperation) -> Record:
    return {
        "baseInstantTime": operation.base_instant,
        "deltaFilePaths": None if operation.delta_files is None else list(operation.delta_files),
        "dataFilePath": operation.data_file,
        "fileId": operation.file_id,
        "partitionPath": operation.partition_path,
        "metrics": None if operation.metrics is None else dict(operation.metrics),
        "bootstrapFilePath": operation.bootstrap_file,
    }


def decode_requested_replace(data: bytes) -> RequestedReplace:
    """Decode a requested replacecommit or clustering; no bytes are an empty request."""
    if not data:
        return RequestedReplace()
    _, record = decode_record(data, _REQUESTED_REPLACE)
    plan = record["clusteringPlan"]
    return RequestedReplace(record["operationType"], None if plan is None else _plan(plan), record["extraMetadata"], record["version"])


def encode_requested_replace(operation: Operation, *, sync: bytes) -> bytes:
    """Encode the request of an overwrite (every field null, as Hudi leaves it) or of a partition delete (which it
    names).
    """
    record: Record = dict.fromkeys(("operationType", "clusteringPlan", "extraMetadata", "version"))
    if operation is Operation.DELETE_PARTITION:
        record |= {"operationType": operation.value, "extraMetadata": {}, "version": 1}
    return encode_record(_REQUESTED_REPLACE, record, sync=sync)


def encode_clustering_plan(plan: ClusteringPlan, *, sync: bytes) -> bytes:
    """Encode the request of a clustering; `sync` are the container's 16 random bytes."""
    strategy = plan.strategy
    content: Record = {
        "inputGroups": None if plan.groups is None else [_group_record(group) for group in plan.groups],
        "strategy": None
        if strategy is None
        else {"strategyClassName": strategy.class_name, "strategyParams": strategy.params, "version": strategy.version},
        "extraMetadata": None if plan.extra_metadata is None else dict(plan.extra_metadata),
        "version": plan.version,
        "preserveHoodieMetadata": plan.preserve_meta_columns,
        "missingSchedulePartitions": None if plan.missing_partitions is None else list(plan.missing_partitions),
    }
    record: Record = {"operationType": Operation.CLUSTER.value, "clusteringPlan": content, "extraMetadata": {}, "version": 1}
    return encode_record(_REQUESTED_REPLACE, record, sync=sync)


def _group_record(group: ClusteringGroup) -> Record:
    return {
        "slices": None if group.slices is None else [_slice_record(one) for one in group.slices],
        "metrics": None if group.metrics is None else dict(group.metrics),
        "numOutputFileGroups": group.output_file_groups,
        "extraMetadata": None if group.extra_metadata is None else dict(group.extra_metadata),
        "version": group.version,
    }


def _slice_record(one: ClusteringSlice) -> Record:
    return {
        "dataFilePath": one.data_file,
        "deltaFilePaths": None if one.delta_files is None else list(one.delta_files),
        "fileId": one.file_id,
        "partitionPath": one.partition_path,
        "bootstrapFilePath": one.bootstrap_file,
        "version": one.version,
    }


def _plan(record: Record) -> ClusteringPlan:
    groups = record["inputGroups"]
    return ClusteringPlan(
        groups=None if groups is None else tuple(_group(group) for group in groups),
        strategy=_strategy(record["strategy"], "strategyClassName"),
        extra_metadata=record["extraMetadata"],
        version=record["version"],
        preserve_meta_columns=record["preserveHoodieMetadata"],
        missing_partitions=_strings(record["missingSchedulePartitions"]),
    )


def _group(record: Record) -> ClusteringGroup:
    slices = record["slices"]
    return ClusteringGroup(
        slices=None if slices is None else tuple(_slice(one) for one in slices),
        metrics=record["metrics"],
        output_file_groups=record["numOutputFileGroups"],
        extra_metadata=record["extraMetadata"],
        version=record["version"],
    )


def _slice(record: Record) -> ClusteringSlice:
    return ClusteringSlice(
        file_id=record["fileId"],
        partition_path=record["partitionPath"],
        data_file=record["dataFilePath"],
        delta_files=_strings(record["deltaFilePaths"]),
        bootstrap_file=record["bootstrapFilePath"],
        version=record["version"],
    )


def decode_indexing(data: bytes) -> Indexing:
    """Decode a requested or completed indexing action."""
    _, record = decode_record(data, _INDEX_PLAN, _INDEX_COMMIT)
    partitions = tuple(
        IndexedPartition(info["metadataPartitionPath"], info["indexUptoInstant"], info["version"])
        for info in record["indexPartitionInfos"] or ()
    )
    return Indexing(partitions, record["version"])


def encode_indexing_plan(plan: Indexing, *, sync: bytes) -> bytes:
    """Encode a requested indexing action; `sync` are the container's 16 random bytes."""
    return encode_record(_INDEX_PLAN, _indexing_record(plan), sync=sync)


def encode_indexing_done(done: Indexing, *, sync: bytes) -> bytes:
    """Encode a completed indexing action; `sync` as above."""
    return encode_record(_INDEX_COMMIT, _indexing_record(done) | {"operationType": None}, sync=sync)


def _indexing_record(indexing: Indexing) -> Record:
    infos: list[Record] = [
        {"version": one.version, "metadataPartitionPath": one.metadata_partition, "indexUptoInstant": one.upto, "extraMetadata": {}}
        for one in indexing.partitions
    ]
    return {"version": indexing.version, "indexPartitionInfos": infos}


def _strategy(record: Record | None, class_field: str) -> Strategy | None:
    if record is None:
        return None
    return Strategy(record[class_field], record["strategyParams"], record["version"])


def _strings(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
