"""Records that only delete: told from others without being decoded, encoded from parts, and left out of compacted base files."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.errors import CorruptTableError
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
    ValueType,
)
from pyhudi.metadata_table.format.record_codec import RecordDecoder
from pyhudi.metadata_table.format.record_encoder import RecordEncoder

UUID = "c0000120-0000-0000-0000-000000000000-0"
BOUNDS: list[tuple[ValueType | None, Any, Any]] = [
    (ValueType.LONG, 0, 0),
    (ValueType.LONG, -(2**40), 2**62),
    (ValueType.STRING, "", "ø" * 100),
    (ValueType.DOUBLE, 0.0, -1.5),
    (ValueType.BOOLEAN, False, True),
    (ValueType.BYTES, b"\x01\x00\x00\x00\x00", b"\x01"),
    (None, None, None),
]
STATS = [
    ColumnStats(kind, name, column, value_type, low, high, count, 0, 1, 1, is_deleted=deleted, is_tight_bound=tight)
    for kind in (RecordType.COLUMN_STATS, RecordType.PARTITION_STATS)
    for name, column in (("a.parquet", "id"), ("", ""), ("ø" * 80, "the name of a file or of a column"))
    for value_type, low, high in BOUNDS
    for count in (0, 1)
    for deleted in (False, True)
    for tight in (False, True)
]
OTHERS: list[MetadataRecord] = [
    FileList(RecordType.FILES, {"a.parquet": FileEntry(0, is_deleted=True)}),
    FileList(RecordType.ALL_PARTITIONS, {"oslo": FileEntry(0)}),
    *(BloomFilterRecord("DYNAMIC_V0", "20260101000000000", b"\x01", is_deleted=deleted) for deleted in (False, True)),
    RecordLocation("oslo", UUID, 1),
    SecondaryEntry(),
    SecondaryEntry(is_deleted=True),
]
TOMBSTONES = [
    ColumnStats(kind, name, column, is_deleted=True)
    for kind in (RecordType.COLUMN_STATS, RecordType.PARTITION_STATS)
    for name in ("", "a.parquet", "ø" * 80)
    for column in ("id", "the name of a file or of a column")
]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_tombstones_are_told_as_their_records_tell_it(version: int) -> None:
    encoder = RecordEncoder(version)
    decoder = RecordDecoder(encoder.file_schema, "a file")
    others = [record for record in OTHERS if version > 6 or not isinstance(record, SecondaryEntry)]
    records: list[MetadataRecord] = [*STATS, *TOMBSTONES, *others]
    for record in records:
        value = encoder.encode(record)
        assert decoder.is_tombstone(value) == is_tombstone(record), record
        assert decoder.is_tombstone(value) == is_tombstone(decoder.decode(value)), record


@pytest.mark.parametrize("version", [6, 8, 9])
def test_tombstones_are_encoded_as_any_record(version: int) -> None:
    encoder = RecordEncoder(version)
    for record in TOMBSTONES:
        assert encoder.encode(record) == encoder._encode_record(record), record
        assert RecordDecoder(encoder.file_schema, "a file").decode(encoder.encode(record)) == record


def test_damaged_records_are_an_error_that_names_the_file() -> None:
    encoder = RecordEncoder(9)
    value = encoder.encode(STATS[0])
    for end in range(len(value)):
        with pytest.raises(CorruptTableError, match="a record of a file is damaged"):
            RecordDecoder(encoder.file_schema, "a file").is_tombstone(value[:end])
