"""What an action of the data table changes in one partition of the metadata table, before it is spread over file groups.

Rules: `HoodieTableMetadataUtil.mapRecordKeyToFileGroupIndex`; docs/format/metadata-table.md#what-each-action-records, #key-to-file-group.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import pyarrow as pa

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.metadata_table.format.cell_blocks import CellColumns, Values, cell_columns
from pyhudi.metadata_table.format.metadata_keys import shard
from pyhudi.metadata_table.format.metadata_partitions import file_id, within_of
from pyhudi.metadata_table.format.record import MetadataRecord
from pyhudi.metadata_table.format.record_encoder import RecordEncoder
from pyhudi.metadata_table.format.shards import shards


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """What goes into one log file: records by key, or as `columns` of cells, and keys that are removed."""

    records: Mapping[str, MetadataRecord] = field(default_factory=dict)
    deleted: Collection[str] = ()
    columns: CellColumns | None = None


class PartitionChanges(Protocol):
    """The changes of one partition; `Changes` for all whose keys are spread by their hash."""

    def by_group(self, file_ids: Sequence[str]) -> Mapping[str, GroupChanges]:
        """Return the changes by file id, those of groups without changes left out.

        Args:
            file_ids: the groups that there are, sorted. A group that is not among them is begun with its first records.
        """
        ...


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes whose keys are spread over the file groups by a hash.

    `hashed` tells what of a key decides: the key itself, but the value in a secondary index of version 2.
    """

    records: Mapping[str, MetadataRecord] = field(default_factory=dict)
    deleted: Collection[str] = ()
    hashed: Callable[[str], str] = str

    def by_group(self, file_ids: Sequence[str]) -> Mapping[str, GroupChanges]:
        """Return the changes by file id, those of groups without changes left out."""
        records: dict[str, dict[str, MetadataRecord]] = defaultdict(dict)
        deleted: dict[str, list[str]] = defaultdict(list)
        for key, record in self.records.items():
            records[self._group(key, file_ids)][key] = record
        for key in self.deleted:
            deleted[self._group(key, file_ids)].append(key)
        return {group: GroupChanges(records[group], deleted[group]) for group in sorted(records.keys() | deleted.keys())}

    def _group(self, key: str, file_ids: Sequence[str]) -> str:
        return file_ids[shard(self.hashed(key), len(file_ids))]


@dataclass(frozen=True, slots=True)
class ColumnChanges:
    """Changes of many keys with few values, or with a column of them.

    `rows` are the keys that are set, each to the one of `values` that `which` numbers, and `deleted` those that are removed. What of a key
    decides on its file group is in `hashed` and `deleted_hashed`, when it is not the whole key.
    """

    rows: pa.StringArray
    values: Values
    which: Indices
    deleted: pa.StringArray
    hashed: pa.StringArray | None = None
    deleted_hashed: pa.StringArray | None = None

    def by_group(self, file_ids: Sequence[str]) -> Mapping[str, GroupChanges]:
        """Return the changes by file id, those of groups without changes left out."""
        groups = shards(self.rows if self.hashed is None else self.hashed, len(file_ids))
        deleted_groups = shards(self.deleted if self.deleted_hashed is None else self.deleted_hashed, len(file_ids))
        result = {}
        for number in np.union1d(groups, deleted_groups).tolist():
            indices = np.flatnonzero(groups == number)
            columns = cell_columns(self.rows.take(pa.array(indices)), self.values, self.which[indices])
            deleted = self.deleted.filter(pa.array(deleted_groups == number)).to_pylist()
            result[file_ids[number]] = GroupChanges(deleted=deleted, columns=columns)
        return result


@dataclass(frozen=True, slots=True)
class ChangesByPartition:
    """Changes of a record index that has file groups of its own for each partition of the data table.

    The first keys of a data partition begin its one file group. More are laid out only when the index is rebuilt.
    """

    partition: str
    of_path: Mapping[str, ColumnChanges]

    def by_group(self, file_ids: Sequence[str]) -> Mapping[str, GroupChanges]:
        """Return the changes by file id, those of groups without changes left out."""
        known: dict[str, list[str]] = defaultdict(list)
        for group in file_ids:
            known[within_of(self.partition, group)].append(group)
        result: dict[str, GroupChanges] = {}
        for path, changes in self.of_path.items():
            result |= changes.by_group(known.get(path) or (file_id(self.partition, 0, path),))
        return result


@dataclass(frozen=True, slots=True)
class InitialGroup:
    """A file group that a partition is built with: its file id, and its (row, value) cells in order of rows, iterated once.

    Values are encoded records; a group without cells has no base file. Indexes of records, which have millions of cells, give
    `columns` in place of them: it is called once, on a thread of its own.
    """

    file_id: str
    cells: Iterable[tuple[bytes, bytes]] = ()
    columns: Callable[[], CellColumns] | None = None


def spread_records(
    partition: str, records: Mapping[str, MetadataRecord], count: int, encoder: RecordEncoder, hashed: Callable[[str], str] = str
) -> list[InitialGroup]:
    """Spread the first records of a partition over `count` file groups by the hash of their keys."""
    groups = _groups(records, count, hashed)
    return [InitialGroup(file_id(partition, number), _cells(keys, records, encoder)) for number, keys in enumerate(groups)]


def spread_cells(partition: str, cells: Mapping[str, bytes], count: int) -> list[InitialGroup]:
    """Spread the first cells of a partition, which are encoded records by key, over `count` file groups by the hash of their keys."""
    return [
        InitialGroup(file_id(partition, number), columns=functools.partial(_columns, keys, cells))
        for number, keys in enumerate(_groups(cells, count))
    ]


def _groups(keys: Iterable[str], count: int, hashed: Callable[[str], str] = str) -> list[list[str]]:
    """Return the keys of each file group in their order."""
    groups: list[list[str]] = [[] for _ in range(count)]
    for key in keys:
        groups[shard(hashed(key), count)].append(key)
    return [sorted(group) for group in groups]


def numbered_file_ids(partition: str, count: int) -> list[str]:
    """Return the file ids of a partition of `count` file groups."""
    return [file_id(partition, number) for number in range(count)]


def _cells(keys: Iterable[str], records: Mapping[str, MetadataRecord], encoder: RecordEncoder) -> Iterable[tuple[bytes, bytes]]:
    return ((key.encode(), encoder.encode(records[key])) for key in keys)


def _columns(keys: Sequence[str], cells: Mapping[str, bytes]) -> CellColumns:
    return CellColumns(pa.array(keys, pa.string()), [cells[key] for key in keys], np.arange(len(keys)))
