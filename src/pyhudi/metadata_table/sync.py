"""What an action of the data table means for the metadata table: the records of each of its partitions.

Rules: `HoodieTableMetadataUtil.convertMetadataTo*Records`; format notes (metadata table) 2.4. Files of a commit are
added, those that it replaces stay listed until a clean deletes them. A rollback has no records: what the failed action
wrote is taken back (`rollback.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from pyhudi.fsview.build import committed_files
from pyhudi.metadata_table import keys, partitions
from pyhudi.metadata_table.commit import Changes
from pyhudi.metadata_table.data_table import DataTable
from pyhudi.metadata_table.file_stats import partition_stats
from pyhudi.metadata_table.record import ColumnStats, FileEntry, FileList, MetadataRecord, RecordType
from pyhudi.spec.clean import CleanMetadata
from pyhudi.spec.commit import CommitMetadata
from pyhudi.spec.file_names import parse_base_file_name

#: The partitions whose records this release makes.
SERVED = frozenset({partitions.FILES, partitions.COLUMN_STATS, partitions.PARTITION_STATS})
_DELETED = FileEntry(0, is_deleted=True)
_LIVE = FileEntry(0)


def records_of_commit(table: DataTable, metadata: CommitMetadata, wanted: Collection[str]) -> dict[str, Changes]:
    """Return what a commit, deltacommit, compaction or replacecommit changes, for the `wanted` partitions."""
    touched = sorted(metadata.stats.keys() | (metadata.replaced or {}).keys())
    records: dict[str, dict[str, MetadataRecord]] = {partitions.FILES: _files_of_commit(metadata, touched)}
    if partitions.COLUMN_STATS in wanted:
        records[partitions.COLUMN_STATS] = _column_stats_of_commit(table, metadata)
    if partitions.PARTITION_STATS in wanted:
        records[partitions.PARTITION_STATS] = _partition_stats_of_commit(table, metadata, touched)
    return {name: Changes(found) for name, found in records.items()}


def records_of_clean(table: DataTable, metadata: CleanMetadata, wanted: Collection[str]) -> dict[str, Changes]:
    """Return what a clean changes, for the `wanted` partitions."""
    dropped = [path for path, done in metadata.partitions.items() if done.is_partition_deleted]
    files = {path: [name.rpartition("/")[2] for name in done.deleted] for path, done in metadata.partitions.items()}
    records: dict[str, MetadataRecord] = {
        keys.partition_name(path): FileList(RecordType.FILES, dict.fromkeys(names, _DELETED))
        for path, names in files.items()
        if names and path not in dropped
    }
    if dropped:
        gone = dict.fromkeys(map(keys.partition_name, dropped), _DELETED)
        records[keys.ALL_PARTITIONS] = FileList(RecordType.ALL_PARTITIONS, gone)
    changes = {partitions.FILES: Changes(records, tuple(map(keys.partition_name, dropped)))}
    if partitions.COLUMN_STATS in wanted:
        changes[partitions.COLUMN_STATS] = Changes(dict(_tombstones(files, table.types)))
    return changes


def records_of_table(table: DataTable, wanted: Collection[str]) -> dict[str, dict[str, MetadataRecord]]:
    """Return the records of a table as it is, by partition: what a metadata table is built from."""
    view = table.view
    paths = _partitions_with_files(table)
    names = dict.fromkeys(map(keys.partition_name, paths), _LIVE)
    files: dict[str, MetadataRecord] = {keys.ALL_PARTITIONS: FileList(RecordType.ALL_PARTITIONS, names)}
    for path, sizes in paths.items():
        files[keys.partition_name(path)] = FileList(RecordType.FILES, {name: FileEntry(size) for name, size in sizes.items()})
    records = {partitions.FILES: files}
    after = {path: table.after(path, CommitMetadata()) for path in paths if view.latest_slices(path)}
    if partitions.COLUMN_STATS in wanted:
        found = (stats for path, read in after.items() for file in read.base for stats in _keyed_stats(table, path, file))
        records[partitions.COLUMN_STATS] = dict(found)
    if partitions.PARTITION_STATS in wanted:
        records[partitions.PARTITION_STATS] = {
            key: stats
            for path in after
            for key, stats in _partition_stats(table, path, CommitMetadata())
            if isinstance(stats, ColumnStats) and not stats.is_deleted
        }
    return records


def _files_of_commit(metadata: CommitMetadata, touched: Iterable[str]) -> dict[str, MetadataRecord]:
    names = dict.fromkeys(map(keys.partition_name, touched), _LIVE)
    records: dict[str, MetadataRecord] = {keys.ALL_PARTITIONS: FileList(RecordType.ALL_PARTITIONS, names)}
    for path, stats in metadata.stats.items():
        sizes: dict[str, int] = {}
        for stat in stats:
            written = {} if stat.path is None else {stat.path: stat.file_size_in_bytes}
            for file, size in {**written, **(stat.cdc_stats or {})}.items():
                name = file.rpartition("/")[2]
                sizes[name] = max(size, sizes.get(name, 0))
        if sizes:
            records[keys.partition_name(path)] = FileList(RecordType.FILES, {name: FileEntry(size) for name, size in sizes.items()})
    return records


def _column_stats_of_commit(table: DataTable, metadata: CommitMetadata) -> dict[str, MetadataRecord]:
    records: dict[str, MetadataRecord] = {}
    for path, stats in metadata.stats.items():
        for stat in stats:
            if stat.path is not None and parse_base_file_name(stat.path.rpartition("/")[2]):
                records |= _keyed_stats(table, path, stat.path)
    return records


def _partition_stats_of_commit(table: DataTable, metadata: CommitMetadata, touched: Iterable[str]) -> dict[str, MetadataRecord]:
    return {key: stats for path in touched for key, stats in _partition_stats(table, path, metadata)}


def _partition_stats(table: DataTable, path: str, metadata: CommitMetadata) -> Iterable[tuple[str, MetadataRecord]]:
    read = table.after(path, metadata)
    # Rows in log files have no statistics here, so that nothing may be said of the partition as a whole.
    files = [{}] if read.has_logs else table.stats_of_all(read.base)
    for stats in partition_stats(path, files, table.types):
        yield keys.partition_stats_key(stats.column, path), stats


def _keyed_stats(table: DataTable, partition_path: str, file: str) -> Iterable[tuple[str, MetadataRecord]]:
    for column, stats in (table.stats_of(file) or {}).items():
        yield keys.column_stats_key(column, partition_path, stats.file_name), stats


def _tombstones(files: Mapping[str, list[str]], columns: Iterable[str]) -> Iterable[tuple[str, MetadataRecord]]:
    wanted = tuple(columns)
    for path, names in files.items():
        for name in filter(parse_base_file_name, names):
            for column in wanted:
                gone = ColumnStats(RecordType.COLUMN_STATS, name, column, is_deleted=True)
                yield keys.column_stats_key(column, path, name), gone


def _partitions_with_files(table: DataTable) -> dict[str, dict[str, int]]:
    """Return the committed data files of each partition with their sizes, those of replaced file groups among them."""
    view = table.view
    found = {}
    for path in view.partition_paths():
        files = committed_files(path, view.storage.list(path), view.timeline)
        base = {str(file.name): file.size for file in chain.from_iterable(files.base.values())}
        logs = {str(file.name): file.size for file in chain.from_iterable(files.logs.values())}
        found[path] = base | logs
    return found
