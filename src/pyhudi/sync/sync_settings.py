"""What options say about the synchronisation with catalogs, in one value.

Rules: `HoodieSyncConfig`, `HiveSyncConfig`, `HiveSyncConfigHolder`; what is not given is inferred from the table.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from pyhudi.cache import cached_property
from pyhudi.errors import OptionError
from pyhudi.schema.meta_columns import is_meta_column
from pyhudi.spec.config.sync_keys import CUSTOM_CATALOG
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.remote.hadoop_settings import session_setting
from pyhudi.sync.custom_catalog import TOOL_CLASSES, is_custom
from pyhudi.sync.partition_values import EXTRACTOR_CLASS, Extractor, extractor_of, inferred_extractor

ENABLE: Final = "hoodie.datasource.hive_sync.enable"
ENABLE_ALL: Final = "hoodie.datasource.meta.sync.enable"
MODE: Final = "hoodie.datasource.hive_sync.mode"
USE_JDBC: Final = "hoodie.datasource.hive_sync.use_jdbc"
JDBC_URL: Final = "hoodie.datasource.hive_sync.jdbcurl"
URIS: Final = "hoodie.datasource.hive_sync.metastore.uris"
DATABASE: Final = "hoodie.datasource.hive_sync.database"
TABLE: Final = "hoodie.datasource.hive_sync.table"
STRATEGY: Final = "hoodie.datasource.hive_sync.table.strategy"
PARTITION_FIELDS: Final = "hoodie.datasource.hive_sync.partition_fields"
BASE_PATH: Final = "hoodie.datasource.meta.sync.base.path"
_GLUE: Final = "hoodie.datasource.meta.sync.glue"
#: Options of a sync with AWS Glue that precede those of Hive.
_OF_GLUE: Final = {
    f"{_GLUE}.database_name": DATABASE,
    f"{_GLUE}.table_name": TABLE,
    f"{_GLUE}.recreate_table_on_error": "hoodie.datasource.hive_sync.recreate_table_on_error",
}
#: The setting of Hive, and so of a Spark session, that says where the metastore is.
_SESSION_URIS: Final = "hive.metastore.uris"
_HIVE_TOOL: Final = "org.apache.hudi.hive.HiveSyncTool"
_GLUE_TOOL: Final = "org.apache.hudi.aws.sync.AwsGlueCatalogSyncTool"


class CatalogKind(enum.StrEnum):
    """The kinds of catalogs, and the ways to a Hive metastore."""

    HMS = "hms"
    JDBC = "jdbc"
    HIVEQL = "hiveql"
    GLUE = "glue"


_CLASSES: Final = {_HIVE_TOOL: CatalogKind.HMS, _GLUE_TOOL: CatalogKind.GLUE}


@dataclass(frozen=True)
class SyncSettings:
    """How one table is synchronised. What is not listed is read from `options`."""

    options: Options
    config: TableConfig
    #: Properties that the catalog wants beside those of the options.
    catalog_properties: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def database(self) -> str:
        """The database of the catalog, in lower case as catalogs store it."""
        return (self.options.get(DATABASE) or self.config.database or "default").lower()

    @cached_property
    def table(self) -> str:
        """The name of the table in the catalog, in lower case; suffixes are added to it."""
        return (self.options.get(TABLE) or self.config.name).lower()

    @cached_property
    def partition_fields(self) -> tuple[str, ...]:
        """The partition columns of the catalog."""
        stated = self.options.get(PARTITION_FIELDS)
        if stated is None:
            return self.config.partition_fields
        names = (name.strip().partition(":")[0] for name in stated.split(",") if name.strip())
        known = {name.lower(): name for name in self.config.partition_fields}
        return tuple(known.get(name.lower(), name) for name in names)

    @cached_property
    def extractor_class(self) -> str:
        """The name of the class that takes values from partition paths."""
        inferred = inferred_extractor(self.partition_fields, hive_style=self.config.hive_style)
        return self.options.get(EXTRACTOR_CLASS) or inferred

    @cached_property
    def extractor(self) -> Extractor:
        """Takes values from partition paths."""
        return extractor_of(self.extractor_class)

    @cached_property
    def catalogs(self) -> tuple[CatalogKind | str, ...]:
        """The catalogs to synchronise with, in the order of `hoodie.meta.sync.client.tool.class`: kinds, or names of the user's own."""
        named = [name.strip() for name in self.options.text(TOOL_CLASSES).split(",") if name.strip()]
        unknown = [name for name in named if name not in _CLASSES and not is_custom(name)]
        if unknown:
            raise OptionError(
                f"{TOOL_CLASSES}={unknown[0]}: there is no such tool here; it can be {', '.join(_CLASSES)}, a name of"
                " pyhudi.register_catalog, or a class of Python as module:Class"
            )
        kinds: list[CatalogKind | str] = [_CLASSES.get(name, name) for name in named]
        way = self._way_to_hive
        if way is CatalogKind.GLUE:
            kinds = [*(kind for kind in kinds if kind is not CatalogKind.HMS), CatalogKind.GLUE]
        chosen: list[CatalogKind | str] = [way if kind is CatalogKind.HMS else kind for kind in kinds]
        return tuple(dict.fromkeys(chosen))

    @property
    def _way_to_hive(self) -> CatalogKind:
        """The mode; without one the deprecated switch decides when it is given, else it is `jdbc` where a URL of that is given alone."""
        mode, use_jdbc = self.options.get(MODE), self.options.get(USE_JDBC)
        if mode is None and use_jdbc is None:
            is_jdbc = self.options.get(JDBC_URL) is not None and self.options.get(URIS) is None
            return CatalogKind.JDBC if is_jdbc else CatalogKind.HMS
        by_switch = CatalogKind.JDBC if self.options.flag(USE_JDBC) else CatalogKind.HIVEQL
        if mode is None:
            return by_switch
        kind = CatalogKind(mode.strip().lower())
        if use_jdbc is not None and by_switch is CatalogKind.JDBC and kind is not CatalogKind.JDBC:
            raise OptionError(f"{USE_JDBC}=true and {MODE}={mode} contradict each other: leave {USE_JDBC} out")
        return kind

    @cached_property
    def uris(self) -> tuple[str, ...]:
        """The addresses of the metastore; the first that answers is used. On Spark, the session's metastore is the default."""
        stated = self.options.text(URIS, default=session_setting(_SESSION_URIS))
        return tuple(uri.strip() for uri in stated.split(",") if uri.strip())

    @cached_property
    def batch_size(self) -> int:
        """How many partitions go to the catalog at once."""
        return self.options.integer("hoodie.datasource.hive_sync.batch_num")

    @property
    def decodes_values(self) -> bool:
        """Whether partition values are URL-decoded."""
        return self.options.flag("hoodie.meta.sync.decode_partition")

    def with_location(self, uri: str) -> str:
        """Return under which URI the catalog knows the base path of the table."""
        stated = self.options.get(BASE_PATH) or uri
        return stated.rstrip("/") or "/"

    def of_catalog(self, kind: CatalogKind | str) -> SyncSettings:
        """Return the settings of one catalog: AWS Glue has names of its own for some of them."""
        if kind is not CatalogKind.GLUE:
            return self
        given = {name: value for key, name in _OF_GLUE.items() if (value := self.options.get(key)) is not None}
        listing = {"hudi.metadata-listing-enabled": str(self.options.flag(f"{_GLUE}.metadata_file_listing")).upper()}
        return SyncSettings(Options({**self.options.given, **given}), self.config, listing)

    def names(self) -> tuple[tuple[str, bool], ...]:
        """Return the names that the table gets in the catalog, each with whether it is read-optimised.

        Raises:
            OptionError: options contradict the table.
        """
        strategy = self.options.get(STRATEGY)
        if not self.config.is_merge_on_read:
            return ((self.table, False),)
        chosen = (strategy or "ALL").strip().upper()
        if chosen != "ALL":
            return ((self.table, chosen == "RO"),)
        skips_suffix = self.options.flag("hoodie.datasource.hive_sync.skip_ro_suffix")
        names = [(self.table if skips_suffix else f"{self.table}_ro", True), (f"{self.table}_rt", False)]
        if self.options.flag("hoodie.meta.sync.sync_snapshot_with_table_name") and not skips_suffix:
            names.append((self.table, False))
        return tuple(names)

    def pairs(self, name: str) -> Mapping[str, str]:
        """Return the properties of an option that holds `key=value` lines.

        Raises:
            OptionError: a line is none.
        """
        result = {}
        for line in self.options.text(name).splitlines():
            key, separator, value = line.partition("=")
            if line.strip() and not separator:
                raise OptionError(f"{name}: '{line}' is no key=value; give one on each line")
            if line.strip():
                result[key.strip()] = value.strip()
        return result


def is_enabled(options: Options) -> bool:
    """Tell whether a write synchronises the table after its commit."""
    return options.flag(ENABLE) or options.flag(ENABLE_ALL)


def sync_settings(options: Options, config: TableConfig) -> SyncSettings:
    """Return the settings, checked as far as that is possible without the catalog.

    Raises:
        OptionError: an option has a value it cannot have, or two contradict each other or the table.
    """
    settings = SyncSettings(options, config)
    _ = settings.catalogs, settings.extractor
    _check_of_custom(settings)
    for name in ("hoodie.datasource.hive_sync.table_properties", "hoodie.datasource.hive_sync.serde_properties"):
        settings.pairs(name)
    if settings.partition_fields and settings.extractor_class.endswith("NonPartitionedExtractor"):
        raise OptionError(
            f"{EXTRACTOR_CLASS}=NonPartitionedExtractor contradicts the partition field(s) {', '.join(settings.partition_fields)}: leave"
            f" it out, or set {PARTITION_FIELDS} to the empty text"
        )
    if settings.partition_fields and not config.partition_fields:
        raise OptionError(
            f"{PARTITION_FIELDS}={','.join(settings.partition_fields)} contradicts the table, which has no partitions: leave it out"
        )
    _check_names(settings)
    location = settings.with_location("/")
    if not location.startswith("/") and ":/" not in location:
        raise OptionError(f"{BASE_PATH}={location} is no location: programs that read it have other working folders; give an absolute path")
    if settings.options.get(STRATEGY) is not None and not config.is_merge_on_read and settings.options.text(STRATEGY).upper() != "ALL":
        raise OptionError(f"{STRATEGY}={settings.options.text(STRATEGY)} is for merge-on-read tables, which this one is not: leave it out")
    return settings


def _check_names(settings: SyncSettings) -> None:
    """Refuse partition columns that the catalog would have twice."""
    names = [name.lower() for name in settings.partition_fields]
    twice = next((name for name in names if names.count(name) > 1 or is_meta_column(name)), None)
    if twice is not None:
        raise OptionError(f"{PARTITION_FIELDS} names '{twice}', which the table of the catalog would have twice: leave it out")


def _check_of_custom(settings: SyncSettings) -> None:
    given = [name for name in settings.options.given if name.startswith(CUSTOM_CATALOG.rstrip("*"))]
    if given and all(isinstance(kind, CatalogKind) for kind in settings.catalogs):
        raise OptionError(f"{given[0]} is for a catalog in Python, and {TOOL_CLASSES} names none: name it there, or leave the option out")
