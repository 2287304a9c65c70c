"""The partition `record_index`: which file group holds the record of a key.

Rules: `HoodieTableMetadataUtil.convertMetadataToRecordIndexRecords`, `HoodieMetadataPayload.createRecordIndexUpdate`; format notes
(metadata table) 2.4, 3.2 and 4. A commit changes the entries of the keys that it adds, moves or deletes; entries of rows that it only
updates stay. A key that leaves one file group and comes into another is moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pyhudi.engine.local import LocalEngine
from pyhudi.metadata_table import partitions
from pyhudi.metadata_table.changes import ColumnChanges, InitialGroup
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

    def definition(self, table: DataTable, partition: str) -> IndexDefinition:  # noqa: ARG002 - one protocol for all kinds
        """Return the definition of an index over the whole table."""
        return IndexDefinition(partition, partition, "", (), {"isPartitioned": "false"}, 1)

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the file groups with where each record is.

        Raises:
            UnsupportedError: the table has no meta columns.
        """
        refuse_virtual_keys(table, partition)
        slices = standing_slices(table)
        values = [_location(table, slice_.group, slice_.base_instant) for slice_ in slices]

        def keyed(slice_: FileSlice) -> KeyedRows:
            keys = table.rows.keys(slice_)
            return KeyedRows(keys, keys)

        return initial_groups(table, partition, slices, values, keyed)

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> ColumnChanges:
        """Return the keys that came, went or moved."""
        changes = slice_changes(table.view, metadata)
        moves = _moves(table, partition, changes) if changes else []
        added = joined(moved.added for moved in moves)
        removed = joined(moved.removed for moved in moves)
        which = np.repeat(np.arange(len(moves)), [len(moved.added) for moved in moves])
        return ColumnChanges(added, [_location(table, change.group, instant) for change in changes], which, without(removed, added))

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> None:  # noqa: ARG002
        """Return None: a clean deletes what no snapshot reads."""
        return


@dataclass(frozen=True, slots=True)
class _Moved:
    """The keys that came into a file group with a commit, and those that left it."""

    added: pa.StringArray
    removed: pa.StringArray


_NOBODY = _Moved(NO_TEXTS, NO_TEXTS)


def _location(table: DataTable, group: FileGroupId, instant: str) -> bytes:
    millis = instant_millis(instant, table.view.config.timeline_zone)
    return table.own.encoder.encode(RecordLocation(group.partition_path, group.file_id, millis))


def _moves(table: DataTable, partition: str, changes: Sequence[SliceChange]) -> list[_Moved]:
    index, rows = table.partition(partition), table.rows
    return LocalEngine().run(lambda change: _moved(rows, index, change), changes)


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
