"""The partition `record_index`: which file group holds the record of a key.

Rules: `HoodieTableMetadataUtil.convertMetadataToRecordIndexRecords`, `HoodieMetadataPayload.createRecordIndexUpdate`;
docs/format/metadata-table.md#what-each-action-records, #record-index-value, #key-to-file-group. A commit changes the entries of the keys
that it adds, moves or deletes; entries of rows that it only updates stay. A key that leaves one file group and comes into another is moved.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

import numpy as np
import pyarrow as pa

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UnsupportedError
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.record import RecordLocation
from pyhudi.metadata_table.indexes.bulk_index_build import (
    NO_STRINGS,
    KeyedRows,
    group_file_ids,
    initial_groups,
    joined,
    live_slices,
    refuse_virtual_keys,
    without,
)
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.indexes.slice_changes import SliceChange, SliceRows, slice_changes
from pyhudi.metadata_table.read.partition_reader import MetadataPartition
from pyhudi.metadata_table.write.data_table_changes import ChangesByPartition, ColumnChanges, InitialGroup, PartitionChanges
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_group import FileGroupId, FileSlice
from pyhudi.spec.table.table_version import TableVersion
from pyhudi.timeline.clock import instant_millis

_FileSliceOrChange = TypeVar("_FileSliceOrChange", FileSlice, SliceChange)


class RecordIndexKind:
    """See `PartitionKind`."""

    def serves(self, partition: str) -> bool:
        """Tell whether a partition of this name is of the kind."""
        return partition == partitions.RECORD_INDEX

    def definition(self, table: DataTable, partition: str) -> IndexDefinition | None:
        """Return the definition of an index over the whole table, or by partition when options say so.

        Tables of version 8 define no record index, which is global then; so it is in version 6.

        Raises:
            UnsupportedError: there is one that is not as options say, or the table can have none by partition.
        """
        by_partition = table.settings.record_index_by_partition
        known = table.definitions.get(partition)
        if known is not None and partition in table.view.config.metadata_partitions and table.settings.record_index:
            if known.is_partitioned != by_partition:
                raise UnsupportedError(
                    f"the record index of table {table.view.storage.uri} is {'one by partition' if known.is_partitioned else 'global'};"
                    " drop it to get another one"
                )
            return known
        version = table.view.config.version
        is_new = version >= TableVersion.NINE
        if by_partition and not (is_new and table.view.config.partition_fields):
            why = "has no partitions" if is_new else f"is of version {version}"
            raise UnsupportedError(f"table {table.view.storage.uri} {why}; it can have a global record index")
        if version == TableVersion.EIGHT:
            return None
        return IndexDefinition(partition, partition, "", (), {"isPartitioned": str(by_partition).lower()}, 1)

    def file_ids(self, table: DataTable, partition: str) -> Iterable[str]:
        """Return the file ids of the groups that `initial` returns."""
        slices = live_slices(table)
        if not _is_by_partition(table, partition):
            return group_file_ids(table, partition, slices)
        by_path = _by_path(slices)
        return chain.from_iterable(group_file_ids(table, partition, by_path[path], path) for path in sorted(by_path))

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the file groups with where each record is.

        Raises:
            UnsupportedError: the table has no meta columns.
        """
        refuse_virtual_keys(table, partition)
        slices = live_slices(table)
        if not _is_by_partition(table, partition):
            return _initial(table, partition, slices, "")
        by_path = _by_path(slices)
        return chain.from_iterable(_initial(table, partition, by_path[path], path) for path in sorted(by_path))

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> PartitionChanges:
        """Return the keys that came, went or moved."""
        changes = slice_changes(table.view, metadata)
        if not _is_by_partition(table, partition):
            return _changes(table, _Entries(table, partition), changes, instant)
        return ChangesByPartition(
            partition,
            {path: _changes(table, _Entries(table, partition, path), some, instant) for path, some in _by_path(changes).items()},
        )

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> None:  # noqa: ARG002
        """Return None: a clean deletes what no snapshot reads."""
        return


@dataclass(frozen=True, slots=True)
class _KeyMoves:
    """The keys that came into a file group with a commit, and those that left it."""

    added: pa.StringArray
    removed: pa.StringArray


_NOBODY = _KeyMoves(NO_STRINGS, NO_STRINGS)


def _by_path(file_slices: Sequence[_FileSliceOrChange]) -> dict[str, list[_FileSliceOrChange]]:
    """Return slices, or changes of them, by partition of the data table."""
    by_path: dict[str, list[_FileSliceOrChange]] = defaultdict(list)
    for file_slice in file_slices:
        by_path[file_slice.group.partition_path].append(file_slice)
    return by_path


def _is_by_partition(table: DataTable, partition: str) -> bool:
    definition = table.definitions.get(partition)
    return definition is not None and definition.is_partitioned


def _initial(table: DataTable, partition: str, slices: Sequence[FileSlice], within: str) -> Iterable[InitialGroup]:
    def keyed(slice_: FileSlice) -> KeyedRows:
        keys = table.rows.keys(slice_)
        return KeyedRows(keys, keys)

    values = [_location(table, slice_.group, slice_.base_instant) for slice_ in slices]
    return initial_groups(table, partition, slices, values, keyed, within)


class _Entries:
    """What the index says before a commit, of the whole table or `within` a partition of it; nothing while it is being built."""

    def __init__(self, table: DataTable, partition: str, within: str = "") -> None:
        self._index = table.partition(partition, within)
        self._is_being_built = partition in table.view.config.metadata_partitions_inflight
        self._rows = table.rows

    def existing_keys(self, change: SliceChange, keys: pa.StringArray) -> pa.StringArray:
        """Return those of the keys that were in a file group before a change."""
        return self._rows.keys(change.before, keys) if self._is_being_built else _find_indexed(self._index, keys, change.group)

    def to_delete(self, change: SliceChange, keys: pa.StringArray) -> pa.StringArray:
        """Return those of the keys that left a file group whose entries go.

        All of them while the index is being built: an entry too few is looked for among the rows, one too many would stand for a row.
        """
        return keys if self._is_being_built else _find_indexed(self._index, keys, change.group)


def _changes(table: DataTable, index: _Entries, changes: Sequence[SliceChange], instant: str) -> ColumnChanges:
    """Return what some file groups of the data table change in an index.

    A key that left one and came into another is moved. One that left, and that the index has elsewhere, is there, too: so it stays.
    """
    if not changes:
        return ColumnChanges(NO_STRINGS, [], np.empty(0, np.int64), NO_STRINGS)
    rows = table.rows
    moves = LocalEngine().run(lambda change: _diff_keys(rows, index, change), changes)
    added = joined(move.added for move in moves)
    which = np.repeat(np.arange(len(moves)), [len(move.added) for move in moves])
    removed = joined(index.to_delete(change, without(move.removed, added)) for change, move in zip(changes, moves, strict=True))
    return ColumnChanges(added, [_location(table, change.group, instant) for change in changes], which, removed)


def _location(table: DataTable, group: FileGroupId, instant: str) -> bytes:
    millis = instant_millis(instant, table.view.config.timeline_zone)
    return table.mdt.encoder.encode(RecordLocation(group.partition_path, group.file_id, millis))


def _diff_keys(rows: SliceRows, index: _Entries, change: SliceChange) -> _KeyMoves:
    if change.keeps_keys:
        return _NOBODY
    if change.appended:
        return _diff_logged_keys(rows, index, change)
    before, after = rows.keys(change.before), rows.keys(change.after)
    return _KeyMoves(without(after, before), without(before, after))


def _diff_logged_keys(rows: SliceRows, index: _Entries, change: SliceChange) -> _KeyMoves:
    """Look at the keys that the new logs refer to: those that the index has here were here before."""
    counted = change.has_uncounted_inserts or any(stat.num_inserts or stat.num_deletes for stat in change.stats)
    if not (counted or rows.marks_deletes or rows.may_hold_deletes(change.before)):
        return _NOBODY
    keys, has_deletes = rows.logged(change)
    indexed = index.existing_keys(change, keys)
    if not has_deletes and len(indexed) == len(keys):
        return _NOBODY
    after = rows.keys(change.after, keys)
    return _KeyMoves(without(after, indexed), without(indexed, after))


def _find_indexed(index: MetadataPartition | None, keys: pa.StringArray, group: FileGroupId) -> pa.StringArray:
    """Return those of the keys that the index has in a file group."""
    if index is None or not len(keys):
        return NO_STRINGS
    group_id = (group.partition_path, group.file_id)
    matches = ((key, position) for key, position in index.get_many(keys.to_pylist()) if isinstance(position, RecordLocation))
    return pa.array([key for key, position in matches if (position.partition_path, position.file_id) == group_id], pa.string())
