"""Write statistics of one file group, as records of Avro and JSON commit metadata.

Rules: `HoodieWriteStat`, `HoodieDeltaWriteStat`. Avro has all fields always; JSON has the log fields on appends to
    log files only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyhudi.codec.avro.avro_record import Record
from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.commit import WriteStat

_STRINGS = {
    "fileId": "file_id",
    "path": "path",
    "prevCommit": "prev_commit",
    "partitionPath": "partition_path",
    "baseFile": "base_file",
    "prevBaseFile": "prev_base_file",
}
_COUNTS = {
    "numWrites": "num_writes",
    "numDeletes": "num_deletes",
    "numUpdateWrites": "num_update_writes",
    "numInserts": "num_inserts",
    "totalWriteBytes": "total_write_bytes",
    "totalWriteErrors": "total_write_errors",
    "totalLogRecords": "total_log_records",
    "totalLogFilesCompacted": "total_log_files_compacted",
    "totalLogSizeCompacted": "total_log_size_compacted",
    "totalLogReadTimeMs": "total_log_read_ms",
    "totalUpdatedRecordsCompacted": "total_updated_records_compacted",
    "totalLogBlocks": "total_log_blocks",
    "totalCorruptLogBlock": "total_corrupt_log_blocks",
    "totalRollbackBlocks": "total_rollback_blocks",
    "fileSizeInBytes": "file_size_in_bytes",
}
_OPTIONAL_COUNTS = {
    "logVersion": "log_version",
    "logOffset": "log_offset",
    "minEventTime": "min_event_time",
    "maxEventTime": "max_event_time",
}
_TIMES = {"totalScanTime": "total_scan_ms", "totalUpsertTime": "total_upsert_ms", "totalCreateTime": "total_create_ms"}
_JSON_HEAD = ("fileId", "path", "cdcStats", "prevCommit")
_JSON_COUNTS = ("numWrites", "numDeletes", "numUpdateWrites", "numInserts", "totalWriteBytes", "totalWriteErrors")
_JSON_LOG_COUNTS = (
    "totalLogRecords",
    "totalLogFilesCompacted",
    "totalLogSizeCompacted",
    "totalUpdatedRecordsCompacted",
    "totalLogBlocks",
    "totalCorruptLogBlock",
    "totalRollbackBlocks",
    "fileSizeInBytes",
)
_MAX_LONG = (1 << 63) - 1
#: Fields that hold one value: name in the record and in `WriteStat`, type, what stands for none.
_PLAIN: tuple[tuple[str, str, Any, Any], ...] = (
    *((name, to, str, None) for name, to in _STRINGS.items()),
    *((name, to, int, 0) for name, to in _COUNTS.items()),
    *((name, to, int, None) for name, to in _OPTIONAL_COUNTS.items()),
)


def stat_from(record: object) -> WriteStat:
    """Return the value for a decoded record; fields that are missing or null count as 0 or None.

    Raises:
        CorruptTableError: a field has another type than Hudi gives it.
    """
    if not isinstance(record, dict):
        raise CorruptTableError(f"a write stat is a {type(record).__name__}, expected is an object")
    fields: dict[str, Any] = {}
    get = record.get
    for name, to, kind, absent in _PLAIN:  # a commit has thousands of these records
        value = get(name)
        if value is None:
            value = absent
        elif type(value) is not kind or (kind is int and not -_MAX_LONG <= value <= _MAX_LONG):
            value = _optional(record, name, kind)
        fields[to] = value
    logs, cdc = _optional(record, "logFiles", list), _optional(record, "cdcStats", dict)
    times = _optional(record, "runtimeStats", dict)
    fields |= {to: _optional(times or {}, name, int) or 0 for name, to in _TIMES.items()}
    return WriteStat(
        **fields,
        log_files=None if logs is None else tuple(str(name) for name in logs),
        cdc_stats=None if cdc is None else {path: _optional(cdc, path, int) or 0 for path in cdc},
        has_runtime=times is not None,
    )


def stat_to_avro(stat: WriteStat) -> Record:
    """Return the record of `HoodieWriteStat`."""
    record = {name: getattr(stat, of) for name, of in (_STRINGS | _COUNTS | _OPTIONAL_COUNTS).items()}
    return record | {
        "totalLogFiles": None,
        "logFiles": None if stat.log_files is None else list(stat.log_files),
        "cdcStats": None if stat.cdc_stats is None else dict(stat.cdc_stats),
        "runtimeStats": _times(stat),
        "tempPath": None,
        "numUpdates": 0,
    }


def stat_to_json(stat: WriteStat) -> Record:
    """Return the members of a version 6 write stat, in Hudi's order."""
    avro = stat_to_avro(stat)
    order = (*_JSON_HEAD, *_JSON_COUNTS, "tempPath", "partitionPath", *_JSON_LOG_COUNTS, "minEventTime", "maxEventTime")
    record = {name: avro[name] for name in (*order, "runtimeStats")}
    if stat.log_version is not None:
        record |= {name: avro[name] for name in ("logVersion", "logOffset", "baseFile", "logFiles")}
        record["recordsStats"] = {"val": None}
    return record


def _times(stat: WriteStat) -> Record | None:
    return {name: getattr(stat, of) for name, of in _TIMES.items()} if stat.has_runtime else None


def _optional(record: Mapping[str, Any], name: str, kind: type) -> Any:
    value = record.get(name)
    if value is None:
        return None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise CorruptTableError(f"'{name}' of a write stat is a {type(value).__name__}, expected is {kind.__name__}")
    if isinstance(value, int) and abs(value) > _MAX_LONG:
        raise CorruptTableError(f"'{name}' of a write stat does not fit 64 bits")
    return value
