"""Commit metadata: Avro in table version 8 and later, JSON in version 6.

Rules: `HoodieCommitMetadata`, `HoodieReplaceCommitMetadata`, `MetadataConversionUtils`. Both forms name the fields
alike; the order of fields and a few presences differ.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from pyhudi.codec.actions.write_stat_codec import stat_from, stat_to_avro, stat_to_json
from pyhudi.codec.avro.avro_container import MAGIC
from pyhudi.codec.avro.avro_record import Record, decode_record, encode_record
from pyhudi.errors import CorruptTableError
from pyhudi.javacompat.jackson import parse_json, render_json
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat

COMMIT = "HoodieCommitMetadata"
REPLACE = "HoodieReplaceCommitMetadata"


def decode_commit(data: bytes) -> CommitMetadata:
    """Decode the content of a completed or inflight commit, deltacommit or replacecommit; no bytes are an empty one.

    Raises:
        CorruptTableError: the bytes are neither.
    """
    if not data:
        return CommitMetadata()
    if data.startswith(MAGIC):
        _, record = decode_record(data, COMMIT, REPLACE)
    else:
        record = parse_json(data)
    return metadata_from(record)


def decode_written_paths(data: bytes) -> CommitMetadata:
    """Decode the same as far as it says which files were written after which: each stat has its path, file id and predecessor alone.

    Raises:
        CorruptTableError: as in `decode_commit`, of what is decoded.
    """
    if not data.startswith(MAGIC):
        return decode_commit(data)
    _, record = decode_record(data, COMMIT, REPLACE, narrow=_paths_alone)
    stats = {
        path: tuple(WriteStat(file_id=stat["fileId"], path=stat["path"], prev_commit=stat["prevCommit"]) for stat in listed)
        for path, listed in _object(record, "partitionToWriteStats").items()
    }
    replaced = record.get("partitionToReplaceFileIds")
    return CommitMetadata(stats=stats, replaced=None if replaced is None else _decode_replaced_groups(replaced))


@functools.cache
def _paths_alone(schema: str) -> str:
    """Return the schema of a commit without what `decode_written_paths` leaves out."""
    record = json.loads(schema)
    record["fields"] = [field for field in record["fields"] if field["name"] in ("partitionToWriteStats", "partitionToReplaceFileIds")]
    stat = record["fields"][0]["type"][1]["values"]["items"]
    stat["fields"] = [field for field in stat["fields"] if field["name"] in ("fileId", "path", "prevCommit")]
    return json.dumps(record)


def decode_extra_metadata(data: bytes) -> dict[str, str]:
    """Decode the extra metadata of a commit alone; stats are passed over, which takes a tenth of the time.

    Raises:
        CorruptTableError: as in `decode_commit`, of what is decoded.
    """
    if not data.startswith(MAGIC):
        return dict(decode_commit(data).extra_metadata)
    _, record = decode_record(data, COMMIT, REPLACE, narrow=_extra_metadata_alone)
    return _extra_metadata(record)


@functools.cache
def _extra_metadata_alone(schema: str) -> str:
    record = json.loads(schema)
    record["fields"] = [field for field in record["fields"] if field["name"] == "extraMetadata"]
    return json.dumps(record)


def _extra_metadata(record: Mapping[str, Any]) -> dict[str, str]:
    return {key: _text(value) for key, value in _object(record, "extraMetadata").items() if value is not None}


def metadata_from(record: Mapping[str, Any]) -> CommitMetadata:
    """Return the value for a decoded Avro or JSON record.

    Raises:
        CorruptTableError: a field has another type than Hudi gives it.
    """
    stats = _object(record, "partitionToWriteStats")
    replaced = record.get("partitionToReplaceFileIds")
    return CommitMetadata(
        stats={path: tuple(stat_from(stat) for stat in _list(listed)) for path, listed in stats.items()},
        extra_metadata=_extra_metadata(record),
        operation=None if record.get("operationType") is None else _text(record["operationType"]),
        compacted=record.get("compacted") is True,
        replaced=None if replaced is None else _decode_replaced_groups(_object(record, "partitionToReplaceFileIds")),
    )


def commit_content(metadata: CommitMetadata, layout: int, *, sync: bytes) -> bytes:
    """Encode as the files of a timeline layout hold it; `sync` as for `encode_commit`."""
    return encode_commit_json(metadata) if layout == 1 else encode_commit(metadata, sync=sync)


def encode_commit(metadata: CommitMetadata, *, sync: bytes) -> bytes:
    """Encode for table version 8 and later; `sync` are the container's 16 random bytes."""
    return encode_record(COMMIT if metadata.replaced is None else REPLACE, commit_record(metadata), sync=sync)


def commit_record(metadata: CommitMetadata) -> Record:
    """Return the fields of the Avro record: of a replacecommit where file groups are replaced."""
    record: Record = {
        "partitionToWriteStats": {path: [stat_to_avro(stat) for stat in stats] for path, stats in metadata.stats.items()},
        "compacted": metadata.compacted,
        "extraMetadata": dict(metadata.extra_metadata),
        "version": None,
        "operationType": metadata.operation,
    }
    if metadata.replaced is not None:
        record["partitionToReplaceFileIds"] = {path: list(ids) for path, ids in metadata.replaced.items()}
    return record


def encode_commit_json(metadata: CommitMetadata) -> bytes:
    """Encode for table version 6."""
    record: Record = {
        "partitionToWriteStats": {path: [stat_to_json(stat) for stat in stats] for path, stats in metadata.stats.items()},
        "compacted": metadata.compacted,
        "extraMetadata": metadata.extra_metadata,
        "operationType": metadata.operation,
    }
    if metadata.replaced is not None:
        record["partitionToReplaceFileIds"] = metadata.replaced
    return render_json(record)


def _decode_replaced_groups(by_path: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {path: tuple(_text(file_id) for file_id in _list(ids)) for path, ids in by_path.items()}


def _object(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = record.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise CorruptTableError(f"'{name}' of the commit metadata is a {type(value).__name__}, expected is an object")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise CorruptTableError(f"the commit metadata holds a {type(value).__name__} where a list is expected")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise CorruptTableError(f"the commit metadata holds a {type(value).__name__} where a text is expected")
    return value
