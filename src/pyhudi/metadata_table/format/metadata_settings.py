"""What options say about the metadata table, in one value. Rules: `HoodieMetadataConfig`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyhudi.errors import OptionError, UnsupportedError
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.column_types import STATS_COLUMNS
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.spec.options import Options
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import TableVersion

_GLOBAL = "hoodie.metadata.global.record.level.index"
_BY_PARTITION = "hoodie.metadata.record.level.index"
_JOINS = "hoodie.metadata.log.compaction"
_BLOOM = "hoodie.metadata.index.bloom.filter"
_SECONDARY = "hoodie.metadata.index.secondary.enable"
#: What Apache Hudi retains in a metadata table (`HoodieMetadataWriteUtils`): by commits at least, or by versions.
_LEAST_COMMITS, _OF_TABLE, _VERSIONS = 20, 1.2, 2


@dataclass(frozen=True, slots=True)
class GroupLimits:
    """How many file groups an index of records gets: as many as `group_bytes` and its `growth` ask for, between limits."""

    fewest: int = 10
    most: int = 10_000
    growth: float = 2.0
    group_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class MetadataSettings:
    """What a write wants of the metadata table; what it does not say is Apache Hudi's default.

    Attributes:
        enabled: whether to maintain the metadata table; None leaves it as it is.
        column_stats: whether to keep statistics of columns by file.
        partition_stats: whether to keep statistics of columns by partition; they need those by file.
        columns: which columns have statistics; none means the first `max_columns` of a fitting type.
        max_columns: see `columns`.
        column_stats_groups: file groups of a new partition `column_stats`.
        partition_stats_groups: file groups of a new partition `partition_stats`.
        max_delta_commits: delta commits of the metadata table after which it is compacted.
        retained_commits: completed commits of the metadata table whose states stay readable after a clean.
        retained_versions: file slices of each file group that stay after a clean, however old; None where commits decide.
        log_compaction_blocks: delta commits, log files or blocks from which on log files are joined; None leaves them as they are.
        record_index: whether to keep a record index; None leaves it as it is.
        record_index_by_partition: whether a new one has file groups of its own for each partition of the table.
        record_index_groups: how many file groups a new index of records gets.
        bloom_filters: whether to keep bloom filters by file; None leaves them as they are.
        bloom_filters_groups: file groups of a new partition `bloom_filters`.
        left_to_builds: whether a write builds nothing but the list of files: what else is missing is built concurrently with writers.
        created: indexes that are made now, by their partition; None for one whose definition these settings say.
        dropped: partitions that are dropped now.
    """

    enabled: bool | None = True
    column_stats: bool = True
    partition_stats: bool = True
    columns: tuple[str, ...] = ()
    max_columns: int = 32
    column_stats_groups: int = 2
    partition_stats_groups: int = 1
    max_delta_commits: int = 10
    retained_commits: int = _LEAST_COMMITS
    retained_versions: int | None = None
    log_compaction_blocks: int | None = None

    record_index: bool | None = None
    record_index_by_partition: bool = False
    record_index_groups: GroupLimits = GroupLimits()
    bloom_filters: bool | None = None
    bloom_filters_groups: int = 4
    left_to_builds: bool = False
    created: Mapping[str, IndexDefinition | None] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()

    def enabled_partitions(self, config: TableConfig) -> tuple[str, ...]:
        """Return the partitions to maintain: the enabled ones, and existing ones that no option mentions."""
        stated = {} if self.enabled is None else self._read_flag(bool(config.partition_fields))
        if self.left_to_builds:
            known = (partitions.FILES, *config.metadata_partitions)
            stated = {name: is_enabled for name, is_enabled in stated.items() if name in known or not is_enabled}
        stated |= dict.fromkeys(self.created, True) | dict.fromkeys(self.dropped, False)
        if config.is_merge_on_read or config.version < TableVersion.EIGHT:
            # Apache Hudi takes a partition without statistics for one without matching rows, as soon as another one has some. Version 6
            # has none at all.
            stated[partitions.PARTITION_STATS] = False
        others = (name for name in config.metadata_partitions if name not in stated)
        return (*(name for name, is_enabled in stated.items() if is_enabled), *others)

    def _read_flag(self, is_partitioned: bool) -> dict[str, bool]:
        """Return what options say of partitions; indexes that they do not refer to are left out."""
        by_partition = self.column_stats and self.partition_stats and is_partitioned
        stated = {partitions.FILES: True, partitions.COLUMN_STATS: self.column_stats, partitions.PARTITION_STATS: by_partition}
        indexes = {partitions.RECORD_INDEX: self.record_index, partitions.BLOOM_FILTERS: self.bloom_filters}
        return stated | {name: is_enabled for name, is_enabled in indexes.items() if is_enabled is not None}

    @property
    def named_columns(self) -> tuple[str, ...]:
        """The columns that options name for statistics, if statistics are enabled."""
        return self.columns if self.enabled and self.column_stats else ()


DEFAULTS = MetadataSettings()
#: What a table service wants that has no options of its own.
AS_IT_IS = MetadataSettings(enabled=None)


def metadata_settings(options: Options) -> MetadataSettings:
    """Return what the options say.

    Raises:
        OptionError: they ask for two record indexes.
        UnsupportedError: they switch secondary indexes off, which a write would have to leave behind the table.
    """
    if not options.flag(_SECONDARY):
        raise UnsupportedError(
            f"{_SECONDARY}=false is not served for writes: each write keeps the secondary indexes that there are in step. Leave the option"
            " out, and drop an index with DROP INDEX; reads take it."
        )
    names = options.text(STATS_COLUMNS).split(",")
    return MetadataSettings(
        enabled=options.flag("hoodie.metadata.enable"),
        column_stats=options.flag("hoodie.metadata.index.column.stats.enable"),
        partition_stats=options.flag("hoodie.metadata.index.partition.stats.enable"),
        columns=tuple(name.strip() for name in names if name.strip()),
        max_columns=options.integer("hoodie.metadata.index.column.stats.max.columns.to.index"),
        column_stats_groups=options.integer("hoodie.metadata.index.column.stats.file.group.count"),
        partition_stats_groups=options.integer("hoodie.metadata.index.partition.stats.file.group.count"),
        max_delta_commits=options.integer("hoodie.metadata.compact.max.delta.commits"),
        retained_commits=max(_LEAST_COMMITS, int(_OF_TABLE * options.integer("hoodie.clean.commits.retained"))),
        retained_versions=None if options.flag("hoodie.metadata.derive.from.datatable.clean.policy") else _VERSIONS,
        log_compaction_blocks=options.integer(f"{_JOINS}.blocks.threshold") if options.flag(f"{_JOINS}.enable") else None,
        record_index=_record_index(options),
        record_index_by_partition=options.flag(f"{_BY_PARTITION}.enable"),
        record_index_groups=_limits(options, _BY_PARTITION if options.flag(f"{_BY_PARTITION}.enable") else _GLOBAL),
        bloom_filters=_read_flag(options, f"{_BLOOM}.enable"),
        bloom_filters_groups=options.integer(f"{_BLOOM}.file.group.count"),
        left_to_builds=options.flag("hoodie.metadata.index.async"),
    )


def _record_index(options: Options) -> bool | None:
    of_table, by_partition = _read_flag(options, f"{_GLOBAL}.enable"), _read_flag(options, f"{_BY_PARTITION}.enable")
    if of_table and by_partition:
        raise OptionError(f"{_GLOBAL}.enable and {_BY_PARTITION}.enable are both true; a table has one record index")
    if of_table or by_partition:
        return True
    return None if of_table is None and by_partition is None else False


def _read_flag(options: Options, name: str) -> bool | None:
    return None if options.get(name) is None else options.flag(name)


def _limits(options: Options, prefix: str) -> GroupLimits:
    limits = GroupLimits(
        options.integer(f"{prefix}.min.filegroup.count"),
        options.integer(f"{prefix}.max.filegroup.count"),
        options.number(f"{prefix}.growth.factor") if prefix == _GLOBAL else GroupLimits().growth,
        options.integer(f"{prefix}.max.filegroup.size"),
    )
    if limits.fewest > limits.most:
        raise OptionError(f"{prefix}.min.filegroup.count is {limits.fewest}, more than {prefix}.max.filegroup.count, {limits.most}")
    return limits
