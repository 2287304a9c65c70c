"""The partition `record_index`: which file group holds the record of a key.

Rules: `HoodieTableMetadataUtil.convertMetadataToRecordIndexRecords`, `HoodieMetadataPayload.createRecordIndexUpdate`; format notes
(metadata table) 2.4, 3.2 and 4. A commit changes the entries of the keys that it adds, moves or deletes; entries of rows that it only
updates stay. A key that leaves one file group and comes into another is moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa

from pyhudi.engine.local import LocalEngine
from pyhudi.errors import UnsupportedError
from pyhudi.metadata_table import partitions
from pyhudi.metadata_table.changes import ChangesByPartition, ColumnChanges, InitialGroup, PartitionChanges
from pyhudi.metadata_table.data_table import DataTable
from pyhudi.metadata_table.index_definitions import IndexDefinition
from pyhudi.metadata_table.keyed_groups import (
    NO_TEXTS,
    KeyedRows,
    initial_groups,
    joined,
    refuse_virtual_keys,
    standing_slices,
    without,
)
from pyhudi.metadata_table.partition import MetadataPartition
from pyhudi.metadata_table.record import RecordLocation
from pyhudi.metadata_table.slice_changes import SliceChange, SliceRows, slice_changes
from pyhudi.spec.clean import CleanMetadata
from pyhudi.spec.commit import CommitMetadata
from pyhudi.spec.file_group import FileGroupId, FileSlice
from pyhudi.timeline.clock import instant_millis


class RecordIndexKind:
    """See `PartitionKind`."""

    def serves(self, partition: str) -> bool:
        """Tell whether a partition of this name is of the kind."""
        return partition == partitions.RECORD_INDEX

    def definition(self, table: DataTable, partition: str) -> IndexDefinition:
        """Return the definition of an index over the whole table, or by partition when options say so.

        Raises:
            UnsupportedError: there is one that is not as options say, or the table has no partitions.
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
        if by_partition and not table.view.config.partition_fields:
            raise UnsupportedError(f"table {table.view.storage.uri} has no partitions; it can have a global record index")
        return IndexDefinition(partition, partition, "", (), {"isPartitioned": str(by_partition).lower()}, 1)

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the file groups with where each record is.

        Raises:
            UnsupportedError: the table has no meta columns.
        """
        refuse_virtual_keys(table, partition)
        slices = standing_slices(table)
        if not _is_by_partition(table, partition):
            return _initial(table, partition, slices, "")
        paths = sorted({slice_.group.partition_path for slice_ in slices})
        return chain.from_iterable(
            _initial(table, partition, [one for one in slices if one.group.partition_path == path], path) for path in paths
        )

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> PartitionChanges:
        """Return the keys that came, went or moved."""
        changes = slice_changes(table.view, metadata)
        moves = _moves(table, partition, changes) if changes else []
        values = [_location(table, change.group, instant) for change in changes]
        if not _is_by_partition(table, partition):
            return _together(moves, values)
        paths = [change.group.partition_path for change in changes]
        of_path = {path: [place for place, found in enumerate(paths) if found == path] for path in paths}
        return ChangesByPartition(
            partition, {path: _together([moves[n] for n in places], [values[n] for n in places]) for path, places in of_path.items()}
        )

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> None:  # noqa: ARG002
        """Return None: a clean deletes what no snapshot reads."""
        return


@dataclass(frozen=True, slots=True)
class _Moved:
    """The keys that came into a file group with a commit, and those that left it."""

    added: pa.StringArray
    removed: pa.StringArray


_NOBODY = _Moved(NO_TEXTS, NO_TEXTS)


def _is_by_partition(table: DataTable, partition: str) -> bool:
    definition = table.definitions.get(partition)
    return definition is not None and definition.is_partitioned


def _initial(table: DataTable, partition: str, slices: Sequence[FileSlice], within: str) -> Iterable[InitialGroup]:
    def keyed(slice_: FileSlice) -> KeyedRows:
        keys = table.rows.keys(slice_)
        return KeyedRows(keys, keys)

    values = [_location(table, slice_.group, slice_.base_instant) for slice_ in slices]
    return initial_groups(table, partition, slices, values, keyed, within)


def _together(moves: Sequence[_Moved], values: Sequence[bytes]) -> ColumnChanges:
    """Return the changes of some file groups of the data table; a key that left one and came into another is moved."""
    added, removed = joined(moved.added for moved in moves), joined(moved.removed for moved in moves)
    which = np.repeat(np.arange(len(moves)), [len(moved.added) for moved in moves])
    return ColumnChanges(added, values, which, without(removed, added))


def _location(table: DataTable, group: FileGroupId, instant: str) -> bytes:
    millis = instant_millis(instant, table.view.config.timeline_zone)
    return table.own.encoder.encode(RecordLocation(group.partition_path, group.file_id, millis))


def _moves(table: DataTable, partition: str, changes: Sequence[SliceChange]) -> list[_Moved]:
    rows = table.rows
    if not _is_by_partition(table, partition):
        index = table.partition(partition)
        return LocalEngine().run(lambda change: _moved(rows, index, change), changes)
    paths = {change.group.partition_path for change in changes}
    indexes = {path: table.partition(partition, within=path) for path in paths}
    return LocalEngine().run(lambda change: _moved(rows, indexes[change.group.partition_path], change), changes)


def _moved(rows: SliceRows, index: MetadataPartition | None, change: SliceChange) -> _Moved:
    if change.keeps_keys:
        return _NOBODY
    if change.appended:
        return _moved_by_logs(rows, index, change)
    before, after = rows.keys(change.before), rows.keys(change.after)
    return _Moved(without(after, before), without(before, after))


def _moved_by_logs(rows: SliceRows, index: MetadataPartition | None, change: SliceChange) -> _Moved:
    """Look at the keys that the new logs speak of: those that the index has here were here before."""
    counted = any(stat.num_inserts or stat.num_deletes for stat in change.stats)
    if not (counted or rows.marks_deletes or rows.may_hold_deletes(change.before)):
        return _NOBODY
    keys, has_deletes = rows.logged(change)
    here = NO_TEXTS if index is None else pa.array(_located(index, keys, change.group), pa.string())
    if not has_deletes and len(here) == len(keys):
        return _NOBODY
    after = rows.keys(change.after, keys)
    return _Moved(without(after, here), without(here, after))


def _located(index: MetadataPartition, keys: pa.StringArray, group: FileGroupId) -> list[str]:
    return [
        key
        for key, place in index.get_many(keys.to_pylist())
        if isinstance(place, RecordLocation) and (place.partition_path, place.file_id) == (group.partition_path, group.file_id)
    ]
