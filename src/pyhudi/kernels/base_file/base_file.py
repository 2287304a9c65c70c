"""What a base file is: the table's shape, the settings of its writer, and the names of Hudi's entries in the footer.

Rules: Hudi technical specification, "Base file"; `HoodieAvroParquetWriter` and `HoodieBloomFilterWriteSupport` for
the footer.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from pyhudi.codec.bloom_codec import BloomType
from pyhudi.codec.varint import Buffer
from pyhudi.errors import OptionError
from pyhudi.keygen.key_generator_protocol import KeyFields
from pyhudi.markers.marker_route import DIRECT_MARKERS, MarkerRoute
from pyhudi.merge.custom import RecordMerger
from pyhudi.merge.partial_update import FillPolicy
from pyhudi.schema.field_paths import head_columns
from pyhudi.schema.meta_columns import COMMIT_TIME, FILE_NAME, META_FIELDS, PARTITION_PATH
from pyhudi.spec.files.log_block import BlockType
from pyhudi.spec.table.cdc_mode import LoggingMode
from pyhudi.spec.table.merge_mode import MergeMode

FOOTER_AVRO_SCHEMA = "parquet.avro.schema"
FOOTER_BLOOM_FILTER = "org.apache.hudi.bloomfilter"
OLD_FOOTER_BLOOM_FILTER = "com.uber.hoodie.bloomfilter"
FOOTER_BLOOM_TYPE = "hoodie_bloom_filter_type_code"
FOOTER_MIN_KEY = "hoodie_min_record_key"
FOOTER_MAX_KEY = "hoodie_max_record_key"
#: CRC-32 of the other entries: a flipped bit in a key range or a bloom filter would hide keys, and an upsert would insert them again. Hudi
#: has none; files of other writers lack it.
FOOTER_CRC = "pyhudi.footer.crc"

_CHECKED_ENTRIES = (FOOTER_AVRO_SCHEMA, FOOTER_BLOOM_FILTER, FOOTER_BLOOM_TYPE, FOOTER_MIN_KEY, FOOTER_MAX_KEY)

#: Values of `hoodie.parquet.compression.codec`, and what pyarrow calls them.
PARQUET_CODECS = {
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "brotli": "brotli",
    "lz4_raw": "lz4",
    "uncompressed": "none",
}
#: Meta columns that hold few values in a file; in Arrow they are dictionaries, so that they cost nothing.
CONSTANT_TYPE = pa.dictionary(pa.int32(), pa.string())
CONSTANT_COLUMNS = (COMMIT_TIME, PARTITION_PATH, FILE_NAME)


def footer_crc(entries: Mapping[str, str | Buffer]) -> str:
    """Return the checksum of Hudi's entries in a footer, which are text or its bytes, as eight hexadecimal digits.

    Example:
        >>> footer_crc({"hoodie_min_record_key": "a"}), footer_crc({"hoodie_min_record_key": "b"})
        ('c592a2b6', 'eebff175')
    """
    crc = 0
    for name in _CHECKED_ENTRIES:
        if name in entries:
            for part in (f"{name}=", entries[name], "\n"):  # not joined: a filter may have half a megabyte
                crc = zlib.crc32(part.encode() if isinstance(part, str) else part, crc)
    return f"{crc:08x}"


@dataclass(frozen=True, slots=True)
class RecordContext:
    """What a task must know of the table.

    `schema` holds the data columns, `avro_schema_json` the same with the meta fields in front. Rows are deletes that
    carry an ordering value when `_hoodie_is_deleted` is true, or when the text of `delete_field` equals
    `delete_marker`. `fill_policy` says which values of the newer of two versions are filled from the older one, `merger` merges two
    versions in the mode CUSTOM. With `combines_by_ordering` rows of one batch go by their ordering values, whatever the mode.
    `change_log` says what is logged of changes, None for nothing. `virtual_key` says how the keys of files without meta columns come
    from the data. `path_columns` come with incoming rows and say their partition; no file holds them. `event_time_field` is the field
    whose least and greatest value the statistics of files state.
    """

    name: str
    schema: pa.Schema
    avro_schema_json: str
    ordering_fields: tuple[str, ...] = ()
    merge_mode: MergeMode = MergeMode.COMMIT_TIME_ORDERING
    populate_meta_fields: bool = True
    delete_field: str | None = None
    delete_marker: str | None = None
    fill_policy: FillPolicy | None = None
    merger: RecordMerger | None = None
    combines_by_ordering: bool = False
    change_log: LoggingMode | None = None
    virtual_key: KeyFields | None = None
    path_columns: tuple[pa.Field, ...] = ()
    event_time_field: str | None = None

    @property
    def incoming_schema(self) -> pa.Schema:
        """The data columns of incoming rows."""
        return pa.schema([*self.schema, *self.path_columns], metadata=self.schema.metadata) if self.path_columns else self.schema

    @property
    def mixes_versions(self) -> bool:
        """True when a row can take values from several versions."""
        return self.fill_policy is not None or self.merger is not None

    @property
    def compared_fields(self) -> tuple[str, ...]:
        """The ordering fields, when the mode compares them."""
        return () if self.merge_mode is MergeMode.COMMIT_TIME_ORDERING else self.ordering_fields

    @property
    def compared_columns(self) -> tuple[str, ...]:
        """The columns that hold the compared fields, which may be inside structs."""
        return head_columns(self.compared_fields)

    @property
    def file_schema(self) -> pa.Schema:
        """Schema of the Arrow tables that are written: meta columns of few values as dictionaries."""
        meta = [field.with_type(CONSTANT_TYPE) if field.name in CONSTANT_COLUMNS else field for field in META_FIELDS]
        return pa.schema([*meta, *self.schema])


@dataclass(frozen=True, slots=True)
class LogSettings:
    """How log files are written; sizes in bytes.

    Rows go into blocks of `block_type`, about `block_bytes` of rows each; a file that has grown to `file_bytes` gets no
    further block. `positions` says whether blocks tell where in the base file their records stand.
    """

    block_type: BlockType = BlockType.PARQUET
    block_bytes: int = 268435456
    file_bytes: int = 1073741824
    positions: bool = True


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """How files are written; sizes in bytes. Defaults are Hudi's but for the codec, zstd at level 1, and the smaller row groups.

    `max_file_rows` bounds planned files in addition to their bytes, None for bytes alone. With `small_file_stated` the options name the
    small-file limit, and every file below it takes new records. With `bloom_fits` a dynamic
    bloom filter is sized for the keys of its file, `bloom_entries` at most; without it, for these always. `bounded` are the columns with
    statistics, None for all that can have them.
    """

    compression: str = "zstd"
    level: int | None = 1
    max_file_bytes: int = 125829120
    small_file_bytes: int = 104857600
    max_file_rows: int | None = None
    small_file_stated: bool = False
    row_group_bytes: int = 16777216
    page_bytes: int = 1048576
    dictionary: bool = True
    bloom_enabled: bool = True
    bloom_type: str = "DYNAMIC_V0"
    bloom_entries: int = 60000
    bloom_fits: bool = False
    bloom_fpp: float = 1e-9
    bloom_max_entries: int = 100000
    bounded: tuple[str, ...] | None = None
    log: LogSettings = LogSettings()
    markers: MarkerRoute = DIRECT_MARKERS

    def bounded_by_rows(self, row_bytes: float) -> WriterSettings:
        """Return the settings with the sizes of files of narrow rows: those of `max_file_rows` rows, where these are fewer bytes.

        Example:
            >>> WriterSettings(max_file_bytes=1000, small_file_bytes=800, max_file_rows=10).bounded_by_rows(5.0).max_file_bytes
            50
        """
        limit = self.max_file_bytes if self.max_file_rows is None else max(1, int(self.max_file_rows * row_bytes))
        if limit >= self.max_file_bytes:
            return self
        return replace(self, max_file_bytes=limit, small_file_bytes=self.small_file_bytes * limit // self.max_file_bytes)

    def __post_init__(self) -> None:
        if self.compression not in PARQUET_CODECS:
            served = ", ".join(sorted(PARQUET_CODECS))
            raise OptionError(f"hoodie.parquet.compression.codec: '{self.compression}' is not served; take one of {served}.")
        if self.bloom_type not in tuple(BloomType):
            served = ", ".join(BloomType)
            raise OptionError(f"hoodie.bloom.index.filter.type: '{self.bloom_type}' is not served; take one of {served}.")
