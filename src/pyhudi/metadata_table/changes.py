"""What an action of the data table changes in one partition of the metadata table, before it is spread over file groups.

Rules: `HoodieTableMetadataUtil.mapRecordKeyToFileGroupIndex`; format notes (metadata table) 2.4 and 4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyhudi.metadata_table.keys import shard
from pyhudi.metadata_table.partitions import file_id
from pyhudi.metadata_table.record import MetadataRecord
from pyhudi.metadata_table.record_encoder import RecordEncoder


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """What goes into one log file: records by key, and keys that are gone."""

    records: Mapping[str, MetadataRecord] = field(default_factory=dict)
    deleted: Collection[str] = ()


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
class InitialGroup:
    """A file group that a partition is built with: its file id, and its (row, value) cells in order of rows, iterated once.

    Values are encoded records; a group without cells has no base file.
    """

    file_id: str
    cells: Iterable[tuple[bytes, bytes]]


def spread(
    partition: str, records: Mapping[str, MetadataRecord], count: int, encoder: RecordEncoder, hashed: Callable[[str], str] = str
) -> list[InitialGroup]:
    """Spread the first records of a partition over `count` file groups by the hash of their keys."""
    groups: list[list[str]] = [[] for _ in range(count)]
    for key in records:
        groups[shard(hashed(key), count)].append(key)
    return [InitialGroup(file_id(partition, number), _cells(sorted(keys), records, encoder)) for number, keys in enumerate(groups)]


def _cells(keys: Iterable[str], records: Mapping[str, MetadataRecord], encoder: RecordEncoder) -> Iterable[tuple[bytes, bytes]]:
    return ((key.encode(), encoder.encode(records[key])) for key in keys)
