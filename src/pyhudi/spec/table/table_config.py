"""`hoodie.properties` as a typed value, and the properties of a new table.

Rules: `HoodieTableConfig`, `HoodieTableMetaClient.PropertyBuilder`. What this release can do with a table is in
    `table_features`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from pyhudi.errors import CorruptTableError, OptionError, UnsupportedError
from pyhudi.spec.files.partition_path import parse
from pyhudi.spec.notebook_html import properties_html
from pyhudi.spec.table import table_keys as keys
from pyhudi.spec.table.key_generator import KeyGeneratorType, infer_key_generator, key_generator_of_class, parse_key_generator
from pyhudi.spec.table.merge_mode import MergeMode, infer_merge_mode, parse_merge_mode
from pyhudi.spec.table.merge_properties import NewMerging, merge_properties
from pyhudi.spec.table.table_version import SERVED, TableVersion, check_served

_Value = TypeVar("_Value")
_TABLE_TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
_SHORT_TYPES = {"COW": "COPY_ON_WRITE", "MOR": "MERGE_ON_READ"}


@dataclass(frozen=True, slots=True, repr=False)
class TableConfig:
    """Typed view of a table's properties.

    Raises:
        CorruptTableError: on construction, when name, version, type or layout are missing, malformed or contradict
            each other; nothing is assumed in their place.

    Example:
        >>> TableConfig({"hoodie.table.name": "t"})
        Traceback (most recent call last):
        ...
        pyhudi.errors.CorruptTableError: hoodie.properties has no hoodie.table.version: ...
    """

    properties: Mapping[str, str]
    # Asked for with each file of the timeline.
    _layout: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in (keys.NAME, keys.VERSION, keys.TYPE, keys.LAYOUT):
            self._require(name)
        object.__setattr__(self, "_layout", self._number(keys.LAYOUT))
        if self.table_type not in _TABLE_TYPES:
            types = " and ".join(_TABLE_TYPES)
            raise CorruptTableError(f"{keys.TYPE}={self.table_type} is neither of {types}: hoodie.properties is damaged")
        if self.version in SERVED and self.layout != TableVersion(self.version).layout:
            raise CorruptTableError(
                f"{keys.VERSION}={self.version} and {keys.LAYOUT}={self.layout} contradict each other: hoodie.properties is damaged"
            )
        _ = self.record_key_fields, self.initial_version, self.populate_meta_fields, self.drop_partition_columns
        _ = self.hive_style, self.url_encode, self.timeline_zone

    def __repr__(self) -> str:
        return f"TableConfig(name={self.name!r}, table_type={self.table_type!r}, version={self.version}, keys={self.record_key_fields})"

    def _repr_html_(self) -> str:
        return properties_html(f"Properties of table {self.name}", dict(sorted(self.properties.items())))

    @property
    def name(self) -> str:
        """Name of the table."""
        return self._require(keys.NAME)

    @property
    def database(self) -> str:
        """Database of the table, `""` when it has none."""
        return self.properties.get(keys.DATABASE, "")

    @property
    def version(self) -> int:
        """Table version as stored; `check_readable` tells whether it is served."""
        return self._number(keys.VERSION)

    @property
    def initial_version(self) -> int | None:
        """Version with which the table was created; None before 1.0."""
        return self._number(keys.INITIAL_VERSION) if keys.INITIAL_VERSION in self.properties else None

    @property
    def layout(self) -> int:
        """Timeline layout: 1 or 2."""
        return self._layout

    @property
    def table_type(self) -> str:
        """`COPY_ON_WRITE` or `MERGE_ON_READ`."""
        return self._require(keys.TYPE).upper()

    @property
    def is_merge_on_read(self) -> bool:
        """True when updates go to log files."""
        return self.table_type == "MERGE_ON_READ"

    @property
    def record_key_fields(self) -> tuple[str, ...]:
        """Columns of the record key; empty when keys are generated."""
        return _names(self.properties.get(keys.RECORD_KEY_FIELDS, ""))

    @property
    def partition_fields(self) -> tuple[str, ...]:
        """Columns of the partition path; empty when not partitioned."""
        return tuple(name.partition(":")[0] for name in self._stored_partition_fields)

    @property
    def partition_field_types(self) -> tuple[str | None, ...]:
        """For each partition column the kind that a custom key generator gives it (`SIMPLE`, `TIMESTAMP`), else
        None.
        """
        return tuple(name.partition(":")[2].upper() or None for name in self._stored_partition_fields)

    @property
    def _stored_partition_fields(self) -> tuple[str, ...]:
        return _names(self.properties.get(keys.PARTITION_FIELDS, ""))

    @property
    def naming_columns(self) -> tuple[str, ...]:
        """Columns that tell record key and partition of a row; of a field inside a struct, the struct."""
        return tuple(dict.fromkeys(field.partition(".")[0] for field in (*self.record_key_fields, *self.partition_fields)))

    @property
    def ordering_fields(self) -> tuple[str, ...]:
        """Columns that order records of one key: the ordering fields of version 9, the precombine field before."""
        return _names(self.properties.get(keys.ORDERING_FIELDS) or self.properties.get(keys.PRECOMBINE_FIELD, ""))

    @property
    def merge_mode(self) -> MergeMode:
        """How two records of one key are merged, inferred when not stored (UnsupportedError for an unknown mode)."""
        stored = self.properties.get(keys.MERGE_MODE)
        if stored:
            return _stated(parse_merge_mode, stored)
        return infer_merge_mode(
            payload_class=self.properties.get(keys.PAYLOAD_CLASS) or self.properties.get(keys.LEGACY_PAYLOAD_CLASS),
            strategy_id=self.properties.get(keys.MERGE_STRATEGY_ID),
            has_ordering=bool(self.ordering_fields),
        )

    @property
    def key_generator(self) -> KeyGeneratorType:
        """The key generator: by class, else by type, else inferred (UnsupportedError for an unknown type)."""
        if class_name := self.properties.get(keys.KEY_GENERATOR_CLASS):
            return _stated(key_generator_of_class, class_name)
        if type_name := self.properties.get(keys.KEY_GENERATOR_TYPE):
            return _stated(parse_key_generator, type_name)
        return infer_key_generator(self.record_key_fields, self._stored_partition_fields)

    @property
    def hive_style(self) -> bool:
        """True when partition folders are named `field=value`."""
        return self._flag(keys.HIVE_STYLE, default=False)

    @property
    def url_encode(self) -> bool:
        """True when partition values are URL-encoded in folder names."""
        return self._flag(keys.URL_ENCODE, default=False)

    @property
    def slash_dates(self) -> bool:
        """True when a date in a partition path has a folder for year, month and day each."""
        return self._flag(keys.SLASH_DATES, default=False)

    @property
    def timestamps_as_text(self) -> bool:
        """True when timestamps are in keys and partition paths as a clock shows them, not as numbers."""
        return self._flag(keys.LOGICAL_TIMESTAMPS, default=False)

    def partition_values(self, path: str) -> tuple[str | None, ...]:
        """Return the text of each partition field in a partition path, None for the default partition.

        Raises:
            KeyFieldError: the path cannot be taken apart into the fields without guessing.
        """
        fields = self.partition_fields
        return parse(path, fields, hive_style=self.hive_style, url_encode=self.url_encode, slash_dates=self.slash_dates)

    @property
    def key_encoding_is_open(self) -> bool:
        """True when the keys may be `field:value` or the bare value, and the table does not say which.

        Hudi 0.14.1 to 1.0.2 wrote the bare value with the generator COMPLEX and one field, others `field:value`; from version 9 on it is
        always the latter.
        """
        is_one = self.key_generator.family is KeyGeneratorType.COMPLEX and len(self.record_key_fields) == 1
        return is_one and self.version < TableVersion.NINE and keys.COMPLEX_KEY_ENCODING not in self.properties

    @property
    def paths_may_blur(self) -> bool:
        """True when a value may make several folders, so that not every path of several fields can be taken apart."""
        return len(self.partition_fields) > 1 and not self.hive_style and not self.url_encode

    @property
    def populate_meta_fields(self) -> bool:
        """False for tables with virtual keys, whose files have no `_hoodie_*` columns."""
        return self._flag(keys.POPULATE_META_FIELDS, default=True)

    @property
    def drop_partition_columns(self) -> bool:
        """True when data files leave out the partition columns."""
        return self._flag(keys.DROP_PARTITION_COLUMNS, default=False)

    @property
    def timeline_zone(self) -> str:
        """`UTC` or `LOCAL`: the zone of instant strings."""
        zone = self.properties.get(keys.TIMELINE_ZONE, "LOCAL").upper()
        if zone not in {"UTC", "LOCAL"}:
            raise CorruptTableError(f"{keys.TIMELINE_ZONE}={zone} is neither UTC nor LOCAL: hoodie.properties is damaged")
        return zone

    @property
    def base_file_format(self) -> str:
        """`PARQUET`, `ORC`, `HFILE` or `LANCE`."""
        return self.properties.get(keys.BASE_FILE_FORMAT, "PARQUET").upper()

    @property
    def create_schema_json(self) -> str | None:
        """The Avro schema stated at creation, without meta columns; None when none was."""
        return self.properties.get(keys.CREATE_SCHEMA) or None

    @property
    def metadata_partitions(self) -> tuple[str, ...]:
        """Partitions of the metadata table that are built; empty when there is no metadata table."""
        return _names(self.properties.get(keys.METADATA_PARTITIONS, ""))

    @property
    def metadata_partitions_inflight(self) -> tuple[str, ...]:
        """Partitions of the metadata table that are being built: writers keep them in step, readers do not look at them."""
        return _names(self.properties.get(keys.METADATA_PARTITIONS_INFLIGHT, ""))

    @property
    def timeline_path(self) -> str:
        """Folder of the active timeline, relative to the base path."""
        return ".hoodie" if self.layout == 1 else f".hoodie/{self._folder(keys.TIMELINE_PATH, 'timeline')}"

    @property
    def history_path(self) -> str:
        """Folder of the LSM history (layout 2), relative to the base path."""
        return f"{self.timeline_path}/{self._folder(keys.HISTORY_PATH, 'history')}"

    @property
    def archive_path(self) -> str:
        """Folder of the archived timeline (layout 1), relative to the base path."""
        return f".hoodie/{self._folder(keys.ARCHIVE_FOLDER, 'archived')}"

    def _require(self, name: str) -> str:
        value = self.properties.get(name, "")
        if not value:
            raise CorruptTableError(f"hoodie.properties has no {name}: it is damaged, restore it from hoodie.properties.backup")
        return value

    def _number(self, name: str) -> int:
        value = self._require(name)
        if not (value.isascii() and value.isdecimal() and len(value) < 10):
            raise CorruptTableError(f"{name}={value} is not a number: hoodie.properties is damaged")
        return int(value)

    def _flag(self, name: str, *, default: bool) -> bool:
        value = self.properties.get(name, "").strip().lower()
        if value not in {"", "true", "false"}:
            raise CorruptTableError(f"{name}={value} is neither true nor false: hoodie.properties is damaged")
        return value == "true" if value else default

    def _folder(self, name: str, default: str) -> str:
        value = self.properties.get(name) or default
        if set(value.split("/")) & {"", ".", ".."} or "\\" in value:
            raise CorruptTableError(f"{name}={value} is no folder inside the table: hoodie.properties is damaged")
        return value


def _stated(parse: Callable[[str], _Value], text: str) -> _Value:
    """Return what a property says, parsed; the error of one that is not known names the file."""
    try:
        return parse(text)
    except UnsupportedError as error:
        raise UnsupportedError(f"{error} (in hoodie.properties)") from None


def checksum(properties: Mapping[str, str]) -> int:
    """Return the checksum that Hudi stores: it covers the names of database and table only.

    Example:
        >>> checksum({"hoodie.table.name": "v6_nonpartitioned", "hoodie.database.name": "default"})
        1363530505
    """
    text = f"{properties.get(keys.DATABASE, '')}.{properties.get(keys.NAME, '')}"
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def parse_table_type(text: str) -> str:
    """Return a table type by its name or its short form, in any case.

    Raises:
        OptionError: it is none.

    Example:
        >>> parse_table_type("mor")
        'MERGE_ON_READ'
    """
    name = text.strip().upper()
    match = _SHORT_TYPES.get(name, name)
    if match not in _TABLE_TYPES:
        raise OptionError(f"table type '{text}' is neither of {' and '.join(_TABLE_TYPES)}")
    return match


def new_table_properties(
    *,
    name: str,
    version: int = 9,
    table_type: str = "COPY_ON_WRITE",
    database: str = "",
    record_key_fields: Sequence[str] = (),
    partition_fields: Sequence[str] = (),
    ordering_fields: Sequence[str] = (),
    merging: NewMerging = NewMerging(),  # noqa: B008 - a frozen value
    key_generator: KeyGeneratorType | None = None,
    hive_style: bool = False,
    url_encode: bool = False,
    create_schema_json: str | None = None,
    timeline_zone: str = "UTC",
    key_lines: Mapping[str, str] = MappingProxyType({}),
    change_log_mode: str = "",
) -> dict[str, str]:
    """Return the properties of a new table as Hudi 1.2's CREATE TABLE stores them, checksum included.

    Raises:
        UnsupportedError: the version is not written by this release.
        OptionError: the table has no name, its type is unknown, or what it says about merging contradicts itself.
    """
    served = check_served(version, for_write=True)
    if not name:
        raise OptionError("a new table needs a name")
    generator = key_generator or infer_key_generator(record_key_fields, partition_fields)
    properties = {
        keys.NAME: name,
        keys.DATABASE: database,
        keys.TYPE: parse_table_type(table_type),
        keys.VERSION: str(int(served)),
        keys.LAYOUT: str(served.layout),
        keys.TIMELINE_PATH: "timeline",
        keys.HISTORY_PATH: "history",
        keys.ARCHIVE_FOLDER: "archived",
        keys.TIMELINE_ZONE: timeline_zone,
        keys.RECORD_KEY_FIELDS: ",".join(record_key_fields),
        keys.PARTITION_FIELDS: ",".join(partition_fields),
        keys.KEY_GENERATOR_TYPE: generator.value,
        keys.HIVE_STYLE: _text(hive_style),
        keys.URL_ENCODE: _text(url_encode),
        keys.DROP_PARTITION_COLUMNS: "false",
        keys.CREATE_SCHEMA: create_schema_json or "",
        keys.CDC_ENABLED: _text(True) if change_log_mode else "",
        keys.CDC_MODE: change_log_mode.upper(),
    }
    properties |= _properties_of_version(served, generator, ordering_fields)
    properties |= merge_properties(served, merging, ordering_fields)
    properties = {key: value for key, value in properties.items() if value} | dict(key_lines)
    return properties | {keys.CHECKSUM: str(checksum(properties))}


def _properties_of_version(version: TableVersion, generator: KeyGeneratorType, ordering_fields: Sequence[str]) -> dict[str, str]:
    """Return the settings that not all versions have.

    Older versions get them under the names of Hudi 1.2 and under those of the releases that such a table is kept for:
    1.0 (version 8), 0.14 and 0.15 (version 6) know but one ordering field, the precombine field.
    """
    result = {keys.ORDERING_FIELDS: ",".join(ordering_fields)}
    if version is not TableVersion.SIX:
        result[keys.INITIAL_VERSION] = str(int(version))
    if version is TableVersion.NINE:
        result[keys.TABLE_FORMAT] = "native"
    else:
        result[keys.PRECOMBINE_FIELD] = ordering_fields[0] if len(ordering_fields) == 1 else ""
    if version is TableVersion.SIX:
        result[keys.KEY_GENERATOR_CLASS] = generator.class_name or ""
    return result


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _text(flag: bool) -> str:
    return "true" if flag else "false"
