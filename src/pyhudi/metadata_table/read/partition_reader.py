"""One partition of the metadata table: its file groups, and which of them holds a key.

Rules: `HoodieBackedTableMetadata`; docs/format/metadata-table.md#key-to-file-group. Keys are spread over the file groups by a hash; file
groups count in the order of their ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator

from pyhudi.errors import UnsupportedError
from pyhudi.metadata_table.format.metadata_keys import shard
from pyhudi.metadata_table.format.metadata_partitions import file_id, within_of
from pyhudi.metadata_table.format.record import MetadataRecord
from pyhudi.metadata_table.read.raw_cells import StoredCells, get_cells, scan_cells
from pyhudi.metadata_table.read.slice_reader import SliceReader
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.timeline import Timeline


class MetadataPartition:
    """Reads a partition by key, by prefix or whole; nothing is read before it is asked for.

    Args:
        storage: that of the metadata table.
        name: of the partition.
        slices: the newest slice of each file group.
        timeline: that of the metadata table, as far as it is visible.
        hashed: what of a key decides on its file group; the whole key for most partitions.
        within: the data table's partition that the file groups are of, in a record index by partition.

    Raises:
        UnsupportedError: the file groups are laid out in a way that this release does not know.
    """

    def __init__(
        self,
        storage: Storage,
        name: str,
        slices: Iterable[FileSlice],
        timeline: Timeline,
        hashed: Callable[[str], str] = str,
        within: str = "",
    ) -> None:
        self.name = name
        self.slices = tuple(sorted(slices, key=lambda slice_: slice_.group.file_id))
        self._storage = storage
        self._timeline = timeline
        self._hashed = hashed
        for number, slice_ in enumerate(self.slices):
            if slice_.group.file_id != file_id(name, number, within):
                raise UnsupportedError(
                    f"the partition {name} of the metadata table {storage.uri} has the file group {slice_.group.file_id};"
                    f" served are those numbered from {file_id(name, 0, within)} on"
                )

    def get_many(self, keys: Iterable[str]) -> Iterator[tuple[str, MetadataRecord]]:
        """Yield (key, record) for those of the keys that the partition holds; only their file groups are read."""
        if not self.slices:
            return
        for number, part in self._parts(keys):
            yield from self.get_from(number, part)

    def get_from(self, number: int, keys: Iterable[str]) -> Iterator[tuple[str, MetadataRecord]]:
        """Yield (key, record) for those of the keys that the file group of a number holds."""
        return self._reader(number).get_many(keys)

    def scan(self, prefix: str = "") -> Iterator[tuple[str, MetadataRecord]]:
        """Yield (key, record) of the keys that begin with `prefix`, file group after file group."""
        for number in range(len(self.slices)):
            yield from self._reader(number).scan(prefix)

    def scan_group(self, prefix: str) -> Iterator[tuple[str, MetadataRecord]]:
        """Yield (key, record) of the keys that begin with `prefix`, where the prefix itself decides on the file group."""
        if self.slices:
            yield from self._reader(shard(prefix, len(self.slices))).scan(prefix)

    def scan_cells(self, prefixes: Collection[str]) -> Iterator[StoredCells]:
        """Yield the cells of the keys that begin with one of the prefixes, see `stored_cells`; each file is opened once."""
        for slice_ in self.slices:
            yield from scan_cells(self._storage, slice_, self._timeline, prefixes)

    def get_cells(self, keys: Iterable[str]) -> Iterator[StoredCells]:
        """Yield the cells of those of the keys that the partition holds."""
        for number, part in self._parts(keys) if self.slices else ():
            yield from get_cells(self._storage, self.slices[number], self._timeline, part)

    def _parts(self, keys: Iterable[str]) -> list[tuple[int, set[str]]]:
        """Return the file groups that may hold some of the keys, and these keys."""
        parts: dict[int, set[str]] = defaultdict(set)
        for key in keys:
            parts[shard(self._hashed(key), len(self.slices))].add(key)
        return sorted(parts.items())

    def _reader(self, number: int) -> SliceReader:
        return SliceReader(self._storage, self.slices[number], self._timeline)


def slices_by_data_partition(name: str, slices: Iterable[FileSlice]) -> dict[str, list[FileSlice]]:
    """Return the file slices of a record index by partition, for each partition of the data table."""
    by_partition: dict[str, list[FileSlice]] = defaultdict(list)
    for slice_ in slices:
        by_partition[within_of(name, slice_.group.file_id)].append(slice_)
    return dict(by_partition)
