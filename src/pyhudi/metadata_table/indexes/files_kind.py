"""The partition `files`: which files there are in each partition of the data table.

Rules: `HoodieTableMetadataUtil.convertMetadataToFilesPartitionRecords`; docs/format/metadata-table.md#what-each-action-records,
#metadata-record. Files of a commit are added, those that it replaces stay listed until a clean deletes them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from pyhudi.fsview.committed_sizes import CheckedView
from pyhudi.fsview.file_groups import committed_files
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.fsview.pending_cleans import files_being_cleaned
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.record import FileEntry, FileList, MetadataRecord, RecordType
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.write.data_table_changes import Changes, InitialGroup, numbered_file_ids, spread_records
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.actions.rollback import RollbackMetadata
from pyhudi.spec.files.file_group import join_path
from pyhudi.storage.storage_protocol import Storage

_log = logging.getLogger(__name__)
_DELETED = FileEntry(0, is_deleted=True)
_LIVE = FileEntry(0)


class FilesKind:
    """See `PartitionKind`."""

    def serves(self, partition: str) -> bool:
        """Tell whether a partition of this name is of the kind."""
        return partition == partitions.FILES

    def definition(self, table: DataTable, partition: str) -> IndexDefinition | None:  # noqa: ARG002 - one protocol for all kinds
        """Return None: it is no index."""
        return None

    def file_ids(self, table: DataTable, partition: str) -> Iterable[str]:  # noqa: ARG002 - one protocol for all kinds
        """Return the file ids of the groups that `initial` returns."""
        return numbered_file_ids(partition, 1)

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the one file group, with the committed files of all partitions."""
        paths = _partitions_with_files(table)
        names = dict.fromkeys(map(keys.partition_name, paths), _LIVE)
        records: dict[str, MetadataRecord] = {keys.ALL_PARTITIONS: FileList(RecordType.ALL_PARTITIONS, names)}
        for path, sizes in paths.items():
            records[keys.partition_name(path)] = FileList(RecordType.FILES, {name: FileEntry(size) for name, size in sizes.items()})
        return spread_records(partition, records, 1, table.mdt.encoder)

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> Changes:  # noqa: ARG002
        """Return the files that were written, and the partitions that were touched."""
        touched = sorted(metadata.stats.keys() | (metadata.replaced or {}).keys())
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
        return Changes(records)

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> Changes:  # noqa: ARG002
        """Return the files and partitions that were removed."""
        dropped = [path for path, done in metadata.partitions.items() if done.is_partition_deleted]
        files = {path: [name.rpartition("/")[2] for name in done.deleted] for path, done in metadata.partitions.items()}
        records: dict[str, MetadataRecord] = {
            keys.partition_name(path): FileList(RecordType.FILES, dict.fromkeys(names, _DELETED))
            for path, names in files.items()
            if names and path not in dropped
        }
        if dropped:
            removed = dict.fromkeys(map(keys.partition_name, dropped), _DELETED)
            records[keys.ALL_PARTITIONS] = FileList(RecordType.ALL_PARTITIONS, removed)
        return Changes(records, tuple(map(keys.partition_name, dropped)))


def files_of_rollback(storage: Storage, done: RollbackMetadata) -> Changes:
    """Return the log files of version 6 that a rollback made, and those that it left in place, with their sizes on storage."""
    records: dict[str, MetadataRecord] = {}
    for path, partition in done.partitions.items():
        named = {file.rpartition("/")[2] for file in (*(partition.rollback_log_files or ()), *(partition.failed_log_files or ()))}
        listing = storage.list(path) if named else []
        if matches := {status.name: FileEntry(status.size) for status in listing if status.name in named}:
            records[keys.partition_name(path)] = FileList(RecordType.FILES, matches)
    return Changes(records)


def _partitions_with_files(table: DataTable) -> dict[str, dict[str, int]]:
    """Return the committed data files of each partition with their sizes, also those of replaced file groups, and those that are lost.

    Files that a pending clean is to delete are left out: they may be deleted before the clean finds a metadata table to record that in.
    """
    view, stated = table.view, CheckedView(table.view.storage, table.view.config, table.view.timeline)
    cleaned = files_being_cleaned(FileSystemView(view.storage, view.config, view.timeline))
    result: dict[str, dict[str, int]] = {}
    paths = view.partition_paths()
    for path in (*paths, *stated.lost_partitions(paths)):
        files = committed_files(path, view.listing(path), view.timeline)
        left_out = cleaned.get(path, frozenset())
        result[path] = {name: size for name, size in files.sizes().items() if name not in left_out}
        for file, problem in stated.differences(path, files):
            # Listed as it should be, so that readers are told of it: from a listing alone nobody would know of its rows any more.
            _log.error("'%s' of table %s %s; restore it from a copy", join_path(path, file.name), view.storage.uri, problem)
            result[path][file.name] = file.size
    return result
