"""The metadata table of a Hudi table, for reading: files, statistics, filters, where records live.

Rules: `HoodieBackedTableMetadata`, `HoodieTableMetadataUtil`; docs/format/metadata-table.md#rules-for-readers. It is a
merge-on-read table of HFiles below `.hoodie/metadata`. A partition of it is read when it is asked for, and of that only
the blocks that may hold what is asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from pyhudi.cache import cached_property
from pyhudi.errors import CorruptTableError, KeyFieldError, TableNotFound, UnsupportedError
from pyhudi.fsview.committed_sizes import CheckedView
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.locks.known_objects import as_it_is_now
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import IndexDefinition, load_definitions
from pyhudi.metadata_table.format.record import BloomFilterRecord, ColumnStats, FileList, MetadataRecord, RecordLocation
from pyhudi.metadata_table.read.key_count import count_keys
from pyhudi.metadata_table.read.partition_reader import MetadataPartition, slices_by_data_partition
from pyhudi.metadata_table.read.record_groups import RecordIndexGroups
from pyhudi.metadata_table.read.stats_records import stats_records
from pyhudi.metadata_table.read.valid_instants import is_rebuilt, missing_instants, unknown_instants, visible_timeline
from pyhudi.metadata_table.read.writer_table import FOLDER
from pyhudi.spec.files.file_group import FileSlice, join_path
from pyhudi.spec.files.partition_path import check
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.prefix_storage import FolderStorage
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline

R = TypeVar("R", bound=MetadataRecord)
#: What no file is named.
_NO_NAMES = frozenset({"", ".", ".."})


class MetadataTable:
    """The metadata table as of a timeline of its data table. Immutable view; what was listed once is kept.

    Example:
        >>> from pyhudi.timeline.load_timeline import load_timeline
        >>> metadata = MetadataTable.open(table.storage, table.config, load_timeline(table.storage, table.config))
        >>> len(metadata.files("oslo"))
        2
    """

    def __init__(
        self,
        storage: Storage,
        config: TableConfig,
        data_timeline: Timeline,
        view: FileSystemView,
        full_timeline: Timeline,
        *,
        hidden: tuple[str, ...] = (),
    ) -> None:
        """Take the parts that `open` reads; `view` shows `full_timeline` as far as `data_timeline` lets it, `hidden` see `without`."""
        self._data_storage = storage
        self._data_config = config
        self._data_timeline = data_timeline
        self._full_timeline = full_timeline
        self._view = view
        self._hidden = hidden

    @classmethod
    def open(cls, storage: Storage, config: TableConfig, timeline: Timeline) -> MetadataTable:
        """Open the metadata table of the table on `storage`.

        Args:
            storage: the storage of the data table.
            config: its properties.
            timeline: its timeline; what is pending there is not shown.

        Raises:
            UnsupportedError: the table has no metadata table that may be read (`hoodie.table.metadata.partitions`).
            CorruptTableError: it should have one, which is missing or damaged.
        """
        if partitions.FILES not in config.metadata_partitions:
            raise UnsupportedError(f"table {storage.uri} has no metadata table")
        folder = FolderStorage(storage, FOLDER)
        try:
            metadata_config = TableConfig(load_properties(folder))
        except TableNotFound:
            raise CorruptTableError(f"table {storage.uri} should have a metadata table, but {folder.uri} is none") from None
        if metadata_config.version != config.version:
            raise CorruptTableError(f"{folder.uri} has table version {metadata_config.version}, its table has {config.version}")
        full_timeline = load_full_timeline(folder, metadata_config)
        view = CheckedView(folder, metadata_config, visible_timeline(full_timeline, timeline))
        return cls(storage, config, timeline, view, full_timeline)

    @property
    def timeline(self) -> Timeline:
        """Its timeline, with writes that the data table has not completed."""
        return self._full_timeline

    @property
    def partitions(self) -> tuple[str, ...]:
        """Its own partitions that may be read, e.g. `files`, `column_stats`."""
        return tuple(name for name in self._data_config.metadata_partitions if not name.startswith(self._hidden))

    def without(self, prefixes: Iterable[str]) -> MetadataTable:
        """Return the same table without the partitions whose names begin so."""
        return MetadataTable(
            self._data_storage, self._data_config, self._data_timeline, self._view, self._full_timeline, hidden=tuple(prefixes)
        )

    @property
    def missing_instants(self) -> tuple[str, ...]:
        """Completed instants of the data table that it does not know of: while there are any, it must not be trusted."""
        return missing_instants(self._full_timeline, self._data_timeline)

    @cached_property
    def is_ahead(self) -> bool:
        """True when it shows writes that the data table's timeline, read earlier or ended earlier, does not have."""
        if unknown_instants(self._view.timeline, self._data_timeline):
            return True
        if not is_rebuilt(self._view.timeline, self._data_timeline):
            return False
        # Which writes a build found is not written down: none but those that are complete now.
        known = {instant.requested for instant in self._data_timeline.data_instants()}
        now = load_timeline(as_it_is_now(self._data_storage), self._data_config)
        return any(instant.requested not in known for instant in now.data_instants())

    @property
    def state(self) -> object:
        """A value that is equal as long as it shows the same writes."""
        return self._view.timeline.completed()

    def count_keys(self, name: str) -> int | None:
        """Return how many keys a partition holds; None when counting takes too long. Errors as in `partition`."""
        return count_keys(self._view.storage, self._slices(name), self._view.timeline)

    def files_to_open(self, name: str) -> int:
        """Return how many files of a partition a question to all of its file groups opens; errors as in `partition`."""
        return sum(len(slice_.logs) + (slice_.base is not None) for slice_ in self._slices(name))

    @cached_property
    def definitions(self) -> dict[str, IndexDefinition]:
        """The definitions of the table's indexes by name."""
        return load_definitions(self._data_storage, self._data_config)

    def partition(self, name: str) -> MetadataPartition:
        """Return one of its partitions, to be read.

        Raises:
            UnsupportedError: there is no such partition, it is still being built, or its layout is not served.
        """
        slices = self._slices(name)
        if not slices:
            raise CorruptTableError(f"the partition {name} of the metadata table {self._view.storage.uri} has no files")
        definition = self.definitions.get(name)
        by_value = definition is not None and definition.version >= 2 and name.startswith(partitions.SECONDARY_PREFIX)
        hashed = keys.secondary_key_prefix if by_value else str
        return MetadataPartition(self._view.storage, name, slices, self._view.timeline, hashed)

    def records(self, name: str) -> Iterator[tuple[str, MetadataRecord]]:
        """Yield (key, record) of a whole partition; errors as in `partition`."""
        by_path = self._record_indexes if name == partitions.RECORD_INDEX and self.is_by_partition else {"": self.partition(name)}
        for partition in by_path.values():
            yield from partition.scan()

    def partition_paths(self) -> tuple[str, ...]:
        """Return the paths of the data table's partitions, sorted; `("",)` when it is not partitioned and has files."""
        match = dict(self._get(partitions.FILES, [keys.ALL_PARTITIONS], FileList)).get(keys.ALL_PARTITIONS)
        names = [] if match is None else [name for name, entry in match.entries.items() if not entry.is_deleted]
        return tuple(sorted(self._check_records(keys.partition_path(name)) for name in names))

    def files(self, partition_path: str) -> list[FileStatus]:
        """Return the data files in a partition as a listing would, sorted; those of pending writes may be among them."""
        return self.files_of([partition_path])[partition_path]

    def files_of(self, partition_paths: Collection[str]) -> dict[str, list[FileStatus]]:
        """Return the data files of several partitions with one look-up; those without files map to `[]`."""
        sizes = self.sizes_of(partition_paths)
        return {path: listing_of(path, sizes[path]) for path in partition_paths}

    def sizes(self, partition_path: str) -> dict[str, int]:
        """Return the same files of a partition by name, with their sizes in bytes."""
        return self.sizes_of([partition_path])[partition_path]

    def sizes_of(self, partition_paths: Collection[str]) -> dict[str, dict[str, int]]:
        """Return the same files of several partitions with one look-up; those without files map to `{}`."""
        listings = dict(self._get(partitions.FILES, map(keys.partition_name, partition_paths), FileList))
        return {path: self._live(listings.get(keys.partition_name(path))) for path in partition_paths}

    def lookup_record_keys(self, record_keys: Iterable[str], partition_path: str | None = None) -> dict[str, RecordLocation]:
        """Return where each of the record keys lives, by the record index; keys that it does not hold are left out.

        An index by partition knows a key once in each partition of the data table: `partition_path` says which one is meant.

        Raises:
            UnsupportedError: there is no such index, or it is one by partition and none is named.
        """
        if not self.is_by_partition:
            return dict(self._get(partitions.RECORD_INDEX, record_keys, RecordLocation))
        if partition_path is None:
            raise UnsupportedError(f"the record index of table {self._data_storage.uri} is one by partition: say in which the keys are")
        match = self._record_indexes.get(partition_path)
        return (
            {} if match is None else {key: self._of_kind(index, RecordLocation, match.name) for key, index in match.get_many(record_keys)}
        )

    def record_locations(self, record_keys: Collection[str]) -> dict[str, list[RecordLocation]]:
        """Return all places where each of the record keys lives; in an index by partition these may be several."""
        indices: dict[str, list[RecordLocation]] = defaultdict(list)
        paths = sorted(self._record_indexes) if self.is_by_partition else [None]
        for path in paths:
            for key, index in self.lookup_record_keys(record_keys, path).items():
                indices[key].append(index)
        return dict(indices)

    @property
    def record_index_groups(self) -> RecordIndexGroups:
        """The file groups of the record index, to be asked one by one; errors as in `partition`."""
        if self.is_by_partition:
            return RecordIndexGroups(self._record_indexes, is_by_partition=True)
        return RecordIndexGroups({"": self.partition(partitions.RECORD_INDEX)}, is_by_partition=False)

    @property
    def is_by_partition(self) -> bool:
        """Whether the record index knows a key once in each partition of the data table."""
        definition = self.definitions.get(partitions.RECORD_INDEX)
        return definition is not None and definition.is_partitioned

    @cached_property
    def _record_indexes(self) -> dict[str, MetadataPartition]:
        """The record index of each partition of the data table."""
        name, storage, timeline = partitions.RECORD_INDEX, self._view.storage, self._view.timeline
        slices = slices_by_data_partition(name, self._slices(name))
        return {path: MetadataPartition(storage, name, slices_of_path, timeline, within=path) for path, slices_of_path in slices.items()}

    def _slices(self, name: str) -> tuple[FileSlice, ...]:
        if name not in self.partitions:
            raise UnsupportedError(f"table {self._data_storage.uri} has no index {name}; it has {', '.join(self.partitions)}")
        slices = partitions.slices_of_partition(name, self._view.latest_slices(name))
        if not slices and not (name == partitions.RECORD_INDEX and self.is_by_partition):
            raise CorruptTableError(f"the partition {name} of the metadata table {self._view.storage.uri} has no files")
        return slices

    def column_stats(self, columns: Iterable[str], partition_path: str | None = None) -> Iterator[ColumnStats]:
        """Yield the statistics of files for these columns, in one partition or in all."""
        yield from self._stats(partitions.COLUMN_STATS, columns, partition_path)

    def partition_stats(self, columns: Iterable[str], partition_path: str | None = None) -> Iterator[ColumnStats]:
        """Yield the statistics of partitions for these columns; `file_name` is the partition's name."""
        yield from self._stats(partitions.PARTITION_STATS, columns, partition_path)

    def bloom_filters(self, partition_path: str, file_names: Iterable[str]) -> dict[str, BloomFilterRecord]:
        """Return the bloom filters of base files by their names, as far as there are any."""
        by_key = {keys.bloom_filter_key(partition_path, name): name for name in file_names}
        records = self._get(partitions.BLOOM_FILTERS, by_key, BloomFilterRecord)
        return {by_key[key]: record for key, record in records if not record.is_deleted}

    def record_keys_of(self, index: str, values: Iterable[str | None]) -> dict[str | None, list[str]]:
        """Return the keys of the records that have these values, by a secondary index; None is the null value.

        Values are strings as the index holds them: a date is its day's number.
        """
        partition = self.partition(index)
        by_value: dict[str | None, list[str]] = defaultdict(list)
        scan = partition.scan if self.definitions[index].version < 2 else partition.scan_group
        for value in set(values):
            for key, _ in scan(keys.secondary_prefix(value)):
                by_value[value].append(keys.split_secondary_key(key)[1])
        return dict(by_value)

    def _stats(self, partition: str, columns: Iterable[str], partition_path: str | None) -> Iterator[ColumnStats]:
        for column in columns:
            for cells in self.partition(partition).scan_cells([keys.column_stats_prefix(column, partition_path)]):
                yield from (stats for _, stats in stats_records(cells, partition) if not stats.is_deleted)

    def _get(self, partition: str, record_keys: Iterable[str], kind: type[R]) -> Iterator[tuple[str, R]]:
        for key, record in self.partition(partition).get_many(record_keys):
            yield key, self._of_kind(record, kind, partition)

    def _of_kind(self, record: MetadataRecord, kind: type[R], partition: str) -> R:
        if not isinstance(record, kind):
            raise CorruptTableError(f"the partition {partition} of {self._view.storage.uri} holds a {type(record).__name__}")
        return record

    def _live(self, listing: FileList | None) -> dict[str, int]:
        """Return the sizes of the files that are there by their names."""
        live = {} if listing is None else {name: size for name, (size, is_deleted) in listing.entries.items() if not is_deleted}
        # All at once, since each commit asks, and there may be thousands.
        if live and (not _NO_NAMES.isdisjoint(live) or "/" in (text := "".join(live)) or "\\" in text or min(live.values()) < 0):
            name, size = next(one for one in live.items() if one[0] in _NO_NAMES or "/" in one[0] or "\\" in one[0] or one[1] < 0)
            raise CorruptTableError(f"the metadata table {self._view.storage.uri} lists the file {name!r} of {size} bytes")
        return live

    def _check_records(self, path: str) -> str:
        """Refuse a path that leads out of the table."""
        try:
            if path:
                check(path)
        except KeyFieldError as error:
            raise CorruptTableError(f"the metadata table {self._view.storage.uri} lists a partition that cannot be: {error}") from None
        return path


def listing_of(partition_path: str, sizes: Mapping[str, int]) -> list[FileStatus]:
    """Return the files of a partition, given their sizes in bytes by name, as a listing would."""
    return [FileStatus(join_path(partition_path, name), size, 0) for name, size in sorted(sizes.items())]
