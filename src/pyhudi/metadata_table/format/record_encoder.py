"""Records of the metadata table to their Avro bytes, as Hudi writes them into HFiles: the key is left empty.

Rules: `HoodieMetadataPayload`; docs/format/metadata-table.md#stored-keys, #metadata-record, #record-index-value.
"""

from __future__ import annotations

import functools
import io
import re
import uuid
from typing import Any

import fastavro

from pyhudi.codec.avro.avro_record import parse_avro_schema, schema_text
from pyhudi.codec.varint import prefix_length, prefix_lengths, write_varint
from pyhudi.metadata_table.format.column_bound import encode_bound
from pyhudi.metadata_table.format.record import (
    BloomFilterRecord,
    ColumnStats,
    FileEntry,
    FileList,
    MetadataRecord,
    RecordLocation,
    RecordType,
    SecondaryEntry,
    ValueType,
)
from pyhudi.metadata_table.format.stats_encoder import StatsEncoder
from pyhudi.schema.avro_arrow import with_meta_fields
from pyhudi.spec.table.table_version import TableVersion

_UUID_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-(\d{1,9}))?")
_SIGN = 1 << 63
_LOW = (1 << 64) - 1
#: Indexes of records have few values for many keys: so many are kept once they are encoded.
_MOST_KNOWN = 4096
#: A name that nothing else in a record looks like.
_NAME = "the name of a file or of a column"
_NAME_BYTES = prefix_length(_NAME.encode())
#: Entries of a list of files of which one has that name: their number, the name, no bytes, not deleted.
_ONE_FILE = write_varint(1) + _NAME_BYTES + b"\x00\x00"
_REMOVED, _REMOVED_BYTES = FileEntry(0, is_deleted=True), b"\x00\x01"


class RecordEncoder:
    """Encodes records for a metadata table of a version.

    `schema` is the text for commits; `file_schema`, with the meta fields before it, that of HFiles and log blocks.
    """

    def __init__(self, version: int) -> None:
        self._has_types = version >= TableVersion.NINE
        self.schema = schema_text("HoodieMetadataRecord")
        self.file_schema = _file_schema(self.schema)
        self._parsed = parse_avro_schema(self.file_schema)
        self._known: dict[MetadataRecord, bytes] = {}
        self._named: dict[RecordType, list[bytes]] = {}
        self._lists: dict[RecordType, tuple[bytes, bytes]] = {}
        self._stats = StatsEncoder(self.file_schema, has_types=self._has_types)

    def encode(self, record: MetadataRecord) -> bytes:
        """Return the bytes of a record."""
        if isinstance(record, ColumnStats):
            rest = self._stats.rest(record)
            return self._encode_record(record) if rest is None else self._with_names(record, rest)
        if isinstance(record, FileList) and record.entries:
            return self._file_list(record)
        if not isinstance(record, RecordLocation | SecondaryEntry):
            return self._encode_record(record)
        known = self._known.get(record)
        if known is None:
            known = self._encode_record(record)
            if len(self._known) < _MOST_KNOWN:
                self._known[record] = known
        return known

    def stats_tombstone(self, column: str) -> tuple[bytes, bytes]:
        """Return the bytes of a record that takes the statistics of a column back: those before the name of the file, and those after."""
        model = self.encode(ColumnStats(RecordType.COLUMN_STATS, _NAME, column, is_deleted=True))
        head, tail = model.split(_NAME_BYTES, 1)
        return head, tail

    def _with_names(self, stats: ColumnStats, rest: bytes) -> bytes:
        """Return the bytes of a record of statistics: what comes before the names is the same in all of a kind."""
        parts = self._named.get(stats.type)
        if parts is None:
            model = self._encode_record(ColumnStats(stats.type, _NAME, _NAME))
            parts = self._named[stats.type] = model.split(_NAME_BYTES)
        head, between, _ = parts
        return b"".join((head, prefix_length(stats.file_name.encode()), between, prefix_length(stats.column.encode()), rest))

    def _file_list(self, record: FileList) -> bytes:
        """Return the bytes of a list of some files without fastavro: commits and cleans list every file that they touch."""
        parts = self._lists.get(record.type)
        if parts is None:
            head, tail = self._encode_record(FileList(record.type, {_NAME: FileEntry(0)})).split(_ONE_FILE, 1)
            parts = self._lists[record.type] = (head, tail)
        names = prefix_lengths(record.entries)
        entries = record.entries.values()
        files = [name + (_REMOVED_BYTES if entry == _REMOVED else _entry(entry)) for name, entry in zip(names, entries, strict=True)]
        return b"".join((parts[0], write_varint(len(files)), *files, parts[1]))

    def _encode_record(self, record: MetadataRecord) -> bytes:
        sink = io.BytesIO()
        fastavro.schemaless_writer(sink, self._parsed, {"key": "", **self._fields(record)})
        return sink.getvalue()

    def _fields(self, record: MetadataRecord) -> dict[str, Any]:
        match record:
            case FileList():
                entries = {name: {"size": entry.size, "isDeleted": entry.is_deleted} for name, entry in record.entries.items()}
                return {"type": record.type, "filesystemMetadata": entries}
            case ColumnStats():
                return {"type": record.type, "ColumnStatsMetadata": self._column_stats(record)}
            case BloomFilterRecord():
                return {"type": RecordType.BLOOM_FILTER, "BloomFilterMetadata": _bloom_filter(record)}
            case RecordLocation():
                return {"type": RecordType.RECORD_INDEX, "recordIndexMetadata": _location(record)}
            case SecondaryEntry():
                return {"type": RecordType.SECONDARY_INDEX, "SecondaryIndexMetadata": {"isDeleted": record.is_deleted}}

    def _column_stats(self, stats: ColumnStats) -> dict[str, Any]:
        with_type = self._has_types and stats.index_version > 1
        fields: dict[str, Any] = {
            "fileName": stats.file_name,
            "columnName": stats.column,
            "minValue": encode_bound(stats.minimum, stats.value_type, stats.type_info, with_type=with_type),
            "maxValue": encode_bound(stats.maximum, stats.value_type, stats.type_info, with_type=with_type),
            "valueCount": stats.value_count,
            "nullCount": stats.null_count,
            "totalSize": stats.total_size,
            "totalUncompressedSize": stats.total_uncompressed_size,
            "isDeleted": stats.is_deleted,
            "isTightBound": stats.is_tight_bound,
        }
        if with_type and not stats.is_deleted:
            kind = ValueType.NULL if stats.value_type is None else stats.value_type
            fields["valueType"] = {"typeOrdinal": int(kind), "additionalInfo": stats.type_info}
        return fields


@functools.lru_cache(maxsize=8)
def _file_schema(schema: str) -> str:
    return with_meta_fields(schema)


def _entry(entry: FileEntry) -> bytes:
    return write_varint(entry.size) + bytes((entry.is_deleted,))


def _bloom_filter(record: BloomFilterRecord) -> dict[str, Any]:
    return {"type": record.kind, "timestamp": record.instant, "bloomFilter": record.text, "isDeleted": record.is_deleted}


def _location(location: RecordLocation) -> dict[str, Any]:
    fields = {"partitionName": location.partition_path, "instantTime": location.instant_ms, "position": location.position}
    match = _UUID_ID.fullmatch(location.file_id)
    if match is None:
        return fields | {"fileIdHighBits": -1, "fileIdLowBits": -1, "fileIndex": -1, "fileId": location.file_id, "fileIdEncoding": 1}
    number = uuid.UUID(match[1]).int
    index = -1 if match[2] is None else int(match[2])
    bits = {"fileIdHighBits": _to_signed(number >> 64), "fileIdLowBits": _to_signed(number & _LOW), "fileIndex": index}
    return fields | bits | {"fileId": "", "fileIdEncoding": 0}


def _to_signed(bits: int) -> int:
    return bits - 2 * _SIGN if bits >= _SIGN else bits
