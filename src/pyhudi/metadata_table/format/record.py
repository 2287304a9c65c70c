"""Records of the metadata table as values, one class for each kind.

Rules: `HoodieMetadataRecord`; docs/format/metadata-table.md#metadata-record. A record's key is not in it: it is the row of the HFile.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class RecordType(enum.IntEnum):
    """The kind of a record by its number on disk."""

    ALL_PARTITIONS = 1
    FILES = 2
    COLUMN_STATS = 3
    BLOOM_FILTER = 4
    RECORD_INDEX = 5
    PARTITION_STATS = 6
    SECONDARY_INDEX = 7


class ValueType(enum.IntEnum):
    """What a bound of column statistics is, by its number on disk.

    Bounds of the types from DATE on are whole numbers: days or the unit of the name, since 1970 or midnight.
    """

    V1 = 0
    NULL = 1
    BOOLEAN = 2
    INT = 3
    LONG = 4
    FLOAT = 5
    DOUBLE = 6
    STRING = 7
    BYTES = 8
    FIXED = 9
    DECIMAL = 10
    UUID = 11
    DATE = 12
    TIME_MILLIS = 13
    TIME_MICROS = 14
    TIMESTAMP_MILLIS = 15
    TIMESTAMP_MICROS = 16
    TIMESTAMP_NANOS = 17
    LOCAL_TIMESTAMP_MILLIS = 18
    LOCAL_TIMESTAMP_MICROS = 19
    LOCAL_TIMESTAMP_NANOS = 20


class FileEntry(NamedTuple):
    """A file's size in bytes, or that it was deleted. A tuple for the same reason as `FileStatus`."""

    size: int
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class FileList:
    """Files of one partition by name, or (`ALL_PARTITIONS`) the table's partitions by name, with size 0."""

    type: RecordType
    entries: Mapping[str, FileEntry]


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Statistics of a column: in a file, or (`PARTITION_STATS`) in a partition, whose name is then the `file_name`.

    Bounds are bool, int, float, str, bytes or `Decimal` as `value_type` says, None when all values are null or the
    column has no order. `is_tight_bound` is False when the bounds may be wider than the values. Sizes in bytes.
    """

    type: RecordType
    file_name: str
    column: str
    value_type: ValueType | None = None
    minimum: object = None
    maximum: object = None
    value_count: int | None = None
    null_count: int | None = None
    total_size: int | None = None
    total_uncompressed_size: int | None = None
    is_deleted: bool = False
    is_tight_bound: bool = False
    #: Precision and scale, as in `"15,2"`, of DECIMAL bounds of table version 9.
    type_info: str | None = None
    #: Of the index: in V1 the bounds' wrappers tell their type (timestamps are LONG), in V2 the type is stored next to them.
    index_version: int = 2


@dataclass(frozen=True, slots=True)
class BloomFilterRecord:
    """A base file's bloom filter as it is in its footer, and which kind it is; `instant` is the file's."""

    kind: str
    instant: str
    text: bytes
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """Where a record key lives; `instant_ms` is the time of the instant that put it there, in epoch milliseconds."""

    partition_path: str
    file_id: str
    instant_ms: int | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class SecondaryEntry:
    """That a record has a value; both are in the key."""

    is_deleted: bool = False


MetadataRecord: TypeAlias = FileList | ColumnStats | BloomFilterRecord | RecordLocation | SecondaryEntry
