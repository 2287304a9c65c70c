"""Records of the metadata table, from and to their Avro bytes.

Rules: `HoodieMetadata.avsc`, `HoodieMetadataPayload`; docs/format/metadata-table.md#stored-keys, #metadata-record, #record-index-value. The
bytes follow the schema that is in the HFile or in the log block, and hold no key.
"""

from __future__ import annotations

import functools
import io
import json
import operator
import uuid
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import fastavro

from pyhudi.codec.avro.avro_record import parse_avro_schema
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format.column_bound import decode_bound, decode_type
from pyhudi.metadata_table.format.merge_records import is_tombstone
from pyhudi.metadata_table.format.record import (
    BloomFilterRecord,
    ColumnStats,
    FileEntry,
    FileList,
    MetadataRecord,
    RecordLocation,
    RecordType,
    SecondaryEntry,
)

_DAMAGE = (EOFError, ValueError, TypeError, KeyError, IndexError, OverflowError)
_UUID_ENCODING = 0
_DELETED = "isDeleted"
_LONG = 1 << 64
#: Entries of lists of files, of which a partition may have thousands.
_SIZE_AND_MARK: Callable[[Any], tuple[int, bool]] = operator.itemgetter("size", _DELETED)
_FILE_ENTRY: Callable[[tuple[int, bool]], FileEntry] = functools.partial(tuple.__new__, FileEntry)
#: Indexes of records have few values for many keys: so many are kept once they are decoded.
_MOST_KNOWN = 4096
#: Of so many files what they hold is kept for the next time, of those with so few records.
_CACHED_DECODERS, _FEW_RECORDS = 128, 256
#: Records of so many bytes are kept for the next time, so many of them.
_LONG_LIST, _LONG_LISTS = 4096, 32


def decoder_of(schema: str, what: str, count: int) -> RecordDecoder:
    """Return a decoder for a file or block of so many records; each commit reads small ones again until they are compacted.

    Raises:
        CorruptTableError: the schema is damaged.
    """
    return _cached_decoder(schema, what) if count <= _FEW_RECORDS else RecordDecoder(schema, what)


class RecordDecoder:
    """Decodes the records that were written with one schema; `what` names their file in errors, `keep` is for those of few records.

    Raises:
        CorruptTableError: the schema is damaged.
    """

    def __init__(self, schema: str, what: str, *, keep: bool = False) -> None:
        self.schema = schema
        self._keep = keep
        self._schema = parse_avro_schema(schema)
        self.what = what
        self._known: dict[bytes, MetadataRecord] = {}

    def decode(self, value: bytes) -> MetadataRecord:
        """Return the record.

        Raises:
            CorruptTableError: the bytes do not follow the schema, or the record is of no known kind.
        """
        known = self._known.get(value)
        if known is not None:
            return known
        if len(value) >= _LONG_LIST:
            return _long_list(self.schema, self.what, value)
        record = _decode_records(self._schema, self.what, value)
        if (self._keep or isinstance(record, RecordLocation | SecondaryEntry)) and len(self._known) < _MOST_KNOWN:
            self._known[value] = record
        return record

    def is_tombstone(self, value: bytes) -> bool:
        """Tell whether a record of a schema of this package only says that something is deleted; most of it is not decoded for that.

        Raises:
            CorruptTableError: as in `decode`.
        """
        known = self._known.get(value)
        if known is None:
            try:
                flags: Any = fastavro.schemaless_reader(io.BytesIO(value), self._schema, _flags_of(self.schema))
                kind = RecordType(flags["type"])
                if kind not in (RecordType.RECORD_INDEX, RecordType.SECONDARY_INDEX):
                    content = flags.get(_READERS[kind][0])
                    return content is not None and content.get(_DELETED, False) is True
            except _DAMAGE as error:
                raise _damaged(self.what, error) from None
            known = self.decode(value)  # of few values, which are decoded once
        return is_tombstone(known)


@lru_cache(maxsize=16)
def _flags_of(schema: str) -> Any:
    """Return the schema of what tells tombstones: the kind of a record, and of records that can be deleted that they are."""
    text = json.loads(schema)
    for field in text["fields"]:
        for branch in field["type"] if isinstance(field["type"], list) else ():
            if isinstance(branch, dict) and any(inner["name"] == _DELETED for inner in branch.get("fields", ())):
                branch["fields"] = [inner for inner in branch["fields"] if inner["name"] == _DELETED]
    names = {"type", *(field for field, read in _READERS.values() if read is not _file_list)}
    text["fields"] = [field for field in text["fields"] if field["name"] in names]
    return parse_avro_schema(json.dumps(text))


@lru_cache(maxsize=_CACHED_DECODERS)
def _cached_decoder(schema: str, what: str) -> RecordDecoder:
    return RecordDecoder(schema, what, keep=True)


@lru_cache(maxsize=_LONG_LISTS)
def _long_list(schema: str, what: str, value: bytes) -> MetadataRecord:
    """Return a long record, as lists of files are: each commit reads that of its partition again until it is compacted."""
    return _decode_records(parse_avro_schema(schema), what, value)


def _decode_records(schema: Any, what: str, value: bytes) -> MetadataRecord:
    source = io.BytesIO(value)
    try:
        # Names of the records tell the wrappers of bounds apart; unions with one record give it bare.
        decoded = fastavro.schemaless_reader(source, schema, None, return_record_name=True, return_record_name_override=True)
        return _record(decoded)
    except _DAMAGE as error:
        raise _damaged(what, error) from None


def _damaged(what: str, error: Exception) -> CorruptTableError:
    return CorruptTableError(f"a record of {what} is damaged ({type(error).__name__}: {error})")


def _record(entry: Any) -> MetadataRecord:
    kind = RecordType(entry["type"])
    field, read = _READERS[kind]
    content = entry[field]
    if content is None:
        raise CorruptTableError(f"a record of the metadata table of the kind {kind.name} has no {field}")
    return read(kind, content)


def _file_list(kind: RecordType, content: Mapping[str, Any]) -> FileList:
    return FileList(kind, dict(zip(content, map(_FILE_ENTRY, map(_SIZE_AND_MARK, content.values())), strict=True)))


def _column_stats(kind: RecordType, entry: Mapping[str, Any]) -> ColumnStats:
    named, info = decode_type(entry)
    low_kind, low = decode_bound(entry["minValue"], named, info)
    high_kind, high = decode_bound(entry["maxValue"], named, info)
    return ColumnStats(
        kind,
        entry["fileName"] or "",
        entry["columnName"] or "",
        low_kind or high_kind or named,
        low,
        high,
        entry["valueCount"],
        entry["nullCount"],
        entry["totalSize"],
        entry["totalUncompressedSize"],
        entry["isDeleted"],
        entry.get("isTightBound", False),
        info,
        2 if entry.get("valueType") or entry["isDeleted"] else 1,
    )


def _bloom_filter(_: RecordType, entry: Mapping[str, Any]) -> BloomFilterRecord:
    return BloomFilterRecord(entry["type"], entry["timestamp"], entry["bloomFilter"], entry["isDeleted"])


def _location(_: RecordType, entry: Mapping[str, Any]) -> RecordLocation:
    file_id = entry["fileId"] or ""
    if entry["fileIdEncoding"] == _UUID_ENCODING:
        file_id = _file_id(entry["fileIdHighBits"], entry["fileIdLowBits"], entry["fileIndex"])
    return RecordLocation(entry["partitionName"] or "", file_id, entry["instantTime"], entry.get("position"))


def _file_id(high: int, low: int, index: int) -> str:
    text = str(uuid.UUID(int=high % _LONG << 64 | low % _LONG))
    return text if index == -1 else f"{text}-{index}"


def _secondary(_: RecordType, entry: Mapping[str, Any]) -> SecondaryEntry:
    return SecondaryEntry(entry["isDeleted"])


_READERS: dict[RecordType, tuple[str, Callable[[RecordType, Any], MetadataRecord]]] = {
    RecordType.ALL_PARTITIONS: ("filesystemMetadata", _file_list),
    RecordType.FILES: ("filesystemMetadata", _file_list),
    RecordType.COLUMN_STATS: ("ColumnStatsMetadata", _column_stats),
    RecordType.PARTITION_STATS: ("ColumnStatsMetadata", _column_stats),
    RecordType.BLOOM_FILTER: ("BloomFilterMetadata", _bloom_filter),
    RecordType.RECORD_INDEX: ("recordIndexMetadata", _location),
    RecordType.SECONDARY_INDEX: ("SecondaryIndexMetadata", _secondary),
}
