"""Statistics of columns that are new in the index, for the files that were written before.

Apache Hudi takes a file, or a partition, without a record of a column for one that has no row, as soon as it asks about other columns, too
(`n IS NULL OR id = 'x'`, seen with 1.2.0). So the records of a new column are there before its definition names it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.column_types import bound_types
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.record import ColumnStats, MetadataRecord
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.indexes.file_stats import file_stats, partition_stats
from pyhudi.metadata_table.read.instant_times import build_time
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.metadata_table.write.data_table_changes import Changes
from pyhudi.metadata_table.write.metadata_commit import write_changes


class StaleStatisticsError(CorruptTableError):
    """Statistics are of a column that had the name before, or were not kept up meanwhile."""


def record_added_columns(table: DataTable, known: IndexDefinition, definition: IndexDefinition) -> MetadataWriterTable:
    """Record what the latest base files say of columns that only the wanted definition has; return the metadata table as it is then.

    Raises:
        CorruptTableError: a base file has no whole footer.
        StaleStatisticsError: there are others of a column of that name, of before.
        StorageError: the storage failed; the columns are not in the index.
    """
    added = tuple(name for name in definition.source_fields if name not in known.source_fields)
    if table.schema is None or not added:
        return table.mdt
    types = bound_types(table.schema, added, definition.version)
    files: dict[str, ColumnStats] = {}
    of_partitions: dict[str, MetadataRecord] = {}
    for path in table.view.partition_paths():
        bases = table.view.latest_base_files(path)
        stats_of_slices = LocalEngine().run(
            lambda base: file_stats(table.view.storage, base.path, types, table.stored_columns(base.path, types)), list(bases)
        )
        recorded = [stats for stats in stats_of_slices if stats is not None]
        for stats in (one for file in recorded for one in file.values()):
            files[keys.column_stats_key(stats.column, path, stats.file_name)] = stats
        if recorded and not any(file_slice.logs for file_slice in table.view.latest_slices(path)):
            of_partitions |= {keys.partition_stats_key(stats.column, path): stats for stats in partition_stats(path, recorded, types)}
    changes = {partitions.COLUMN_STATS: Changes(_unrecorded_files(table, partitions.COLUMN_STATS, files))}
    if partitions.PARTITION_STATS in table.view.config.metadata_partitions:
        changes[partitions.PARTITION_STATS] = Changes(_unrecorded_files(table, partitions.PARTITION_STATS, of_partitions))
    if not any(change.records for change in changes.values()):
        return table.mdt
    write_changes(table.mdt, build_time(table.mdt, table.view.timeline), changes)
    return table.mdt.reload()


def names_lost_columns(table: DataTable, partition: str) -> bool:
    """Tell whether an index of statistics is defined by columns that the table has not, as after a restore to before a rename."""
    known = table.definitions.get(partition)
    if partition != partitions.COLUMN_STATS or known is None or table.schema is None:
        return False
    return len(bound_types(table.schema, known.source_fields, known.version)) < len(known.source_fields)


def _unrecorded_files(table: DataTable, partition: str, records: Mapping[str, MetadataRecord]) -> dict[str, MetadataRecord]:
    """Return the records that are not there yet.

    A run that was cut off, or an earlier definition, may have left some. They must be the same: what is written now counts as written
    before all commits, so that an older record of a partition would win, and two of a file would be united.
    """
    index = table.partition(partition)
    known = {} if index is None else dict(index.get_many(records))
    for key, record in known.items():
        now = records[key]
        if isinstance(record, ColumnStats) and isinstance(now, ColumnStats) and not record.is_deleted and _bounds(record) != _bounds(now):
            raise StaleStatisticsError(f"it has other statistics of column '{record.column}' in {record.file_name or 'it'}, of before")
    return {key: record for key, record in records.items() if key not in known}


def _bounds(stats: ColumnStats) -> tuple[object, ...]:
    return stats.minimum, stats.maximum, stats.value_count, stats.null_count
