"""What options say about the metadata table, in one value. Rules: `HoodieMetadataConfig`."""

from __future__ import annotations

from dataclasses import dataclass

from pyhudi.metadata_table import partitions
from pyhudi.spec.options import Options
from pyhudi.spec.table_config import TableConfig


@dataclass(frozen=True, slots=True)
class MetadataSettings:
    """What a write wants of the metadata table; what it does not say is Apache Hudi's default.

    Attributes:
        enabled: whether there shall be one; None leaves everything as it is.
        column_stats: whether there shall be statistics of columns by file.
        partition_stats: whether there shall be statistics of columns by partition; they need those by file.
        columns: which columns have statistics; none means the first `max_columns` of a fitting type.
        max_columns: see `columns`.
        column_stats_groups: file groups of a new partition `column_stats`.
        partition_stats_groups: file groups of a new partition `partition_stats`.
        max_delta_commits: delta commits of the metadata table after which it is compacted.
    """

    enabled: bool | None = True
    column_stats: bool = True
    partition_stats: bool = True
    columns: tuple[str, ...] = ()
    max_columns: int = 32
    column_stats_groups: int = 2
    partition_stats_groups: int = 1
    max_delta_commits: int = 10

    def wanted(self, config: TableConfig) -> tuple[str, ...]:
        """Return the partitions that there shall be; those that the table has and no option speaks of stay beside them."""
        has_columns = self.column_stats
        has_partitions = has_columns and self.partition_stats and bool(config.partition_fields)
        spoken_of = {partitions.FILES: True, partitions.COLUMN_STATS: has_columns, partitions.PARTITION_STATS: has_partitions}
        others = (name for name in config.metadata_partitions if name not in spoken_of)
        return (*(name for name, is_wanted in spoken_of.items() if is_wanted), *others)


DEFAULTS = MetadataSettings()
#: What a table service wants that has no options of its own.
AS_IT_IS = MetadataSettings(enabled=None)


def metadata_settings(options: Options) -> MetadataSettings:
    """Return what the options say."""
    names = options.text("hoodie.metadata.index.column.stats.column.list").split(",")
    return MetadataSettings(
        enabled=options.flag("hoodie.metadata.enable"),
        column_stats=options.flag("hoodie.metadata.index.column.stats.enable"),
        partition_stats=options.flag("hoodie.metadata.index.partition.stats.enable"),
        columns=tuple(name.strip() for name in names if name.strip()),
        max_columns=options.integer("hoodie.metadata.index.column.stats.max.columns.to.index"),
        column_stats_groups=options.integer("hoodie.metadata.index.column.stats.file.group.count"),
        partition_stats_groups=options.integer("hoodie.metadata.index.partition.stats.file.group.count"),
        max_delta_commits=options.integer("hoodie.metadata.compact.max.delta.commits"),
    )
