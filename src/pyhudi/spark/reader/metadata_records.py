"""The records of a metadata table as rows, which `hudi_metadata` of SQL returns.

Rules: `HoodieMetadataTableValuedFunction`; the columns are those of `HoodieMetadata.avsc` as Spark's Avro reader has them: of a union with
several types it makes a struct of `member0`, `member1` and so on, of which one is not null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa

from pyhudi.errors import UsageError
from pyhudi.metadata_table.format import record as records
from pyhudi.metadata_table.format.column_bound import WRAPPERS, encode_bound
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.load_timeline import load_timeline

_TEXT, _NUMBER, _FLAG = pa.string(), pa.int64(), pa.bool_()
_TYPES: Final = {
    "BooleanWrapper": _FLAG,
    "IntWrapper": pa.int32(),
    "FloatWrapper": pa.float32(),
    "DoubleWrapper": pa.float64(),
    "BytesWrapper": pa.binary(),
    "StringWrapper": _TEXT,
    "DateWrapper": pa.int32(),
    "DecimalWrapper": pa.decimal128(30, 15),
    "LocalDateWrapper": pa.int32(),
}
#: The member of a bound's struct by the name of its wrapper.
_MEMBERS: Final = {name: f"member{number}" for number, name in enumerate(WRAPPERS)}
_BOUND: Final = pa.struct([(member, pa.struct([("value", _TYPES.get(name, _NUMBER))])) for name, member in _MEMBERS.items()])
METADATA: Final = pa.schema(
    [
        ("key", _TEXT),
        ("type", pa.int32()),
        ("filesystemMetadata", pa.map_(_TEXT, pa.struct([("size", _NUMBER), ("isDeleted", _FLAG)]))),
        ("BloomFilterMetadata", pa.struct([("type", _TEXT), ("timestamp", _TEXT), ("bloomFilter", pa.binary()), ("isDeleted", _FLAG)])),
        (
            "ColumnStatsMetadata",
            pa.struct(
                [
                    ("fileName", _TEXT),
                    ("columnName", _TEXT),
                    ("minValue", _BOUND),
                    ("maxValue", _BOUND),
                    *((name, _NUMBER) for name in ("valueCount", "nullCount", "totalSize", "totalUncompressedSize")),
                    ("isDeleted", _FLAG),
                    ("isTightBound", _FLAG),
                    ("valueType", pa.struct([("typeOrdinal", pa.int32()), ("additionalInfo", _TEXT)])),
                ]
            ),
        ),
        ("recordIndexMetadata", pa.struct([("partitionName", _TEXT), ("fileId", _TEXT), ("instantTime", _NUMBER), ("position", _NUMBER)])),
        ("SecondaryIndexMetadata", pa.struct([("isDeleted", _FLAG)])),
    ]
)


def metadata_of(table: HudiTable, argument: str) -> MetadataTable:
    """Open the metadata table of a table; `argument` says for messages what wants it.

    Raises:
        UsageError: it has none.
    """
    if not table.config.metadata_partitions:
        raise UsageError(f"{argument}: {table.config.name} has no metadata table.")
    return MetadataTable.open(table.storage, table.config, load_timeline(table.storage, table.config))


def metadata_rows(table: HudiTable, _: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the records of the metadata table, partition by partition."""
    metadata = metadata_of(table, "hudi_metadata")
    for name in metadata.partitions:
        for key, record in metadata.partition(name).scan():
            yield {"key": key, **_record_row(record)}


def _record_row(record: records.MetadataRecord) -> dict[str, Any]:
    match record:
        case records.FileList(type=kind, entries=entries):
            files = [(name, {"size": entry.size, "isDeleted": entry.is_deleted}) for name, entry in entries.items()]
            return {"type": int(kind), "filesystemMetadata": files}
        case records.BloomFilterRecord():
            stored = {"type": record.kind, "timestamp": record.instant, "bloomFilter": record.text, "isDeleted": record.is_deleted}
            return {"type": int(records.RecordType.BLOOM_FILTER), "BloomFilterMetadata": stored}
        case records.ColumnStats():
            return {"type": int(record.type), "ColumnStatsMetadata": _stats_row(record)}
        case records.RecordLocation():
            location = {
                "partitionName": record.partition_path,
                "fileId": record.file_id,
                "instantTime": record.instant_ms,
                "position": record.position,
            }
            return {"type": int(records.RecordType.RECORD_INDEX), "recordIndexMetadata": location}
        case records.SecondaryEntry():
            return {"type": int(records.RecordType.SECONDARY_INDEX), "SecondaryIndexMetadata": {"isDeleted": record.is_deleted}}


def _stats_row(stats: records.ColumnStats) -> dict[str, Any]:
    return {
        "fileName": stats.file_name,
        "columnName": stats.column,
        "minValue": _bound(stats, stats.minimum),
        "maxValue": _bound(stats, stats.maximum),
        "valueCount": stats.value_count,
        "nullCount": stats.null_count,
        "totalSize": stats.total_size,
        "totalUncompressedSize": stats.total_uncompressed_size,
        "isDeleted": stats.is_deleted,
        "isTightBound": stats.is_tight_bound,
        "valueType": _value_type(stats),
    }


def _bound(stats: records.ColumnStats, value: object) -> dict[str, Any] | None:
    wrapped = encode_bound(value, stats.value_type, stats.type_info, with_type=stats.index_version > 1)
    if wrapped is None:
        return None
    name, fields = wrapped
    return {_MEMBERS[name.rpartition(".")[2]]: fields}


def _value_type(stats: records.ColumnStats) -> dict[str, Any] | None:
    """Return the type that indexes of V2 store next to the bounds."""
    if stats.index_version == 1 or stats.value_type is None:
        return None
    return {"typeOrdinal": int(stats.value_type), "additionalInfo": stats.type_info}
