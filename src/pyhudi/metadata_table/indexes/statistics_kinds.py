"""The partitions `column_stats` and `partition_stats`: bounds and counts of columns, in files and in partitions.

Rules: `HoodieTableMetadataUtil.convertMetadataToColumnStatsRecords`, `.convertMetadataToPartitionStatsRecords`;
docs/format/metadata-table.md#what-each-action-records, #metadata-record.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.codec.varint import prefix_lengths
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.column_types import index_version_of, indexed_columns
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.record import ColumnStats, MetadataRecord
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.indexes.file_stats import partition_stats
from pyhudi.metadata_table.write.data_table_changes import (
    Changes,
    ColumnChanges,
    InitialGroup,
    numbered_file_ids,
    spread_cells,
    spread_records,
)
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_names import base_file_names, parse_base_file_name

_NOTHING = CommitMetadata()
_NO_ROWS, _NO_VALUES = pa.array([], pa.string()), pa.array([], pa.large_binary())


class ColumnStatsKind:
    """See `PartitionKind`."""

    def serves(self, partition: str) -> bool:
        """Tell whether a partition of this name is of the kind."""
        return partition == partitions.COLUMN_STATS

    def definition(self, table: DataTable, partition: str) -> IndexDefinition | None:
        """Return which columns have statistics: some meta columns, and those named by options or the first ones of a fitting type.

        None while the columns of the table are unknown. An index that is there keeps its version when its table is upgraded.
        """
        known, settings = table.definitions.get(partition), table.settings
        version = index_version_of(table.view.config.version, None if known is None else known.version)
        if table.schema is None:
            return None
        fields = indexed_columns(table.schema, version, settings.max_columns, settings.columns)
        return IndexDefinition(partition, partition, partition, fields, {}, version)

    def file_ids(self, table: DataTable, partition: str) -> Iterable[str]:
        """Return the file ids of the groups that `initial` returns."""
        return numbered_file_ids(partition, table.settings.column_stats_groups)

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the statistics of all base files that a snapshot reads."""
        paths = [path for path in table.view.partition_paths() if table.view.latest_slices(path)]
        files = [file for path in paths for file in table.after(path, _NOTHING).base]
        return spread_cells(partition, table.stats_cells(files), table.settings.column_stats_groups)

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> Changes:  # noqa: ARG002
        """Return the statistics of the base files that were written."""
        records: dict[str, MetadataRecord] = {}
        for path, stats in metadata.stats.items():
            for stat in stats:
                if stat.path is not None and parse_base_file_name(stat.path.rpartition("/")[2]):
                    records.update(_key_records(table, path, stat.path))
        return Changes(records)

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> ColumnChanges:  # noqa: ARG002
        """Return tombstones of the base files that were removed: many, which differ by the names of files and columns alone."""
        definition = table.definitions.get(partition)
        columns = {} if definition is None else {column: table.mdt.encoder.stats_tombstone(column) for column in definition.source_fields}
        names: list[str] = []
        counts: list[int] = []
        for done in metadata.partitions.values():
            named = [file.rpartition("/")[2] for file in done.deleted]
            base_files = named if base_file_names(named) is not None else list(filter(parse_base_file_name, named))
            names += base_files
            counts.append(len(base_files))
        suffixes, files = pa.array(map(keys.column_stats_suffix, names), pa.string()), pa.array(prefix_lengths(names), pa.binary())
        path_of = pa.array(np.repeat(np.arange(len(counts)), counts))
        rows, values = [_NO_ROWS], [_NO_VALUES]
        for column, (head, tail) in columns.items():
            prefixes = pa.array([keys.column_stats_prefix(column, path) for path in metadata.partitions], pa.string())
            rows.append(pc.binary_join_element_wise(prefixes.take(path_of), suffixes, ""))
            values.append(pc.binary_join_element_wise(head, files, tail, b"").cast(pa.large_binary()))
        tombstones = pa.concat_arrays(rows)
        return ColumnChanges(tombstones, pa.concat_arrays(values), np.arange(len(tombstones)), _NO_ROWS)


class PartitionStatsKind:
    """See `PartitionKind`."""

    def serves(self, partition: str) -> bool:
        """Tell whether a partition of this name is of the kind."""
        return partition == partitions.PARTITION_STATS

    def definition(self, table: DataTable, partition: str) -> IndexDefinition | None:  # noqa: ARG002 - one protocol for all kinds
        """Return None: the columns are those of `column_stats`."""
        return None

    def file_ids(self, table: DataTable, partition: str) -> Iterable[str]:
        """Return the file ids of the groups that `initial` returns."""
        return numbered_file_ids(partition, table.settings.partition_stats_groups)

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the statistics of all partitions with rows."""
        records: dict[str, MetadataRecord] = {
            key: stats
            for path in table.view.partition_paths()
            if table.view.latest_slices(path)
            for key, stats in _of_partition(table, path, _NOTHING)
            if not stats.is_deleted
        }
        return spread_records(partition, records, table.settings.partition_stats_groups, table.mdt.encoder)

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> Changes:  # noqa: ARG002
        """Return the statistics of the partitions that were touched, as they are now."""
        touched = sorted(metadata.stats.keys() | (metadata.replaced or {}).keys())
        return Changes({key: stats for path in touched for key, stats in _of_partition(table, path, metadata)})

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> None:  # noqa: ARG002
        """Return None: a clean deletes what no snapshot reads."""
        return


def _key_records(table: DataTable, partition_path: str, file: str) -> Iterable[tuple[str, MetadataRecord]]:
    for column, stats in (table.stats_of(file) or {}).items():
        yield keys.column_stats_key(column, partition_path, stats.file_name), stats


def _of_partition(table: DataTable, path: str, metadata: CommitMetadata) -> Iterable[tuple[str, ColumnStats]]:
    read = table.after(path, metadata)
    # Rows in log files have no statistics here, so that nothing may be said of the partition as a whole.
    files = [{}] if read.has_logs else table.stats_of_all(read.base)
    for stats in partition_stats(path, files, table.types):
        yield keys.partition_stats_key(stats.column, path), stats
