"""The partitions `secondary_index_*`: which records have a value in a column.

Rules: `SecondaryIndexRecordGenerationUtils`; docs/format/metadata-table.md#what-each-action-records, #secondary-index-entry,
#key-to-file-group. An entry is a pair of value and record key. What a commit changes
are the pairs that its rows have again, and those that they had before and no longer have.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UnsupportedError
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.metadata_keys import SecondaryKeys, secondary_keys
from pyhudi.metadata_table.format.record import SecondaryEntry
from pyhudi.metadata_table.indexes.bulk_index_build import (
    NO_STRINGS,
    KeyedRows,
    group_file_ids,
    initial_groups,
    joined,
    live_slices,
    refuse_virtual_keys,
)
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.indexes.indexed_type import check_indexed_type
from pyhudi.metadata_table.indexes.slice_changes import SliceChange, slice_changes
from pyhudi.metadata_table.write.data_table_changes import ColumnChanges, InitialGroup
from pyhudi.schema.evolve import same_key_strings
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.files.file_group import FileSlice

#: From this version on the value alone decides on the file group.
_BY_VALUE = 2
_NOTHING = SecondaryKeys(NO_STRINGS, NO_STRINGS)


class SecondaryIndexKind:
    """See `PartitionKind`."""

    def serves(self, partition: str) -> bool:
        """Tell whether a partition of this name is of the kind."""
        return partition.startswith(partitions.SECONDARY_PREFIX)

    def definition(self, table: DataTable, partition: str) -> IndexDefinition | None:  # noqa: ARG002 - one protocol for all kinds
        """Return None: who creates the index says which column it is of."""
        return None

    def file_ids(self, table: DataTable, partition: str) -> Iterable[str]:
        """Return the file ids of the groups that `initial` returns."""
        return group_file_ids(table, partition, live_slices(table))

    def initial(self, table: DataTable, partition: str) -> Iterable[InitialGroup]:
        """Return the file groups with the pairs of all rows.

        Raises:
            UnsupportedError: the table has no meta columns, or no such column any more.
        """
        refuse_virtual_keys(table, partition)
        index = _Index(table, partition)
        return initial_groups(table, partition, live_slices(table), [index.value], index.keyed)

    def of_commit(self, table: DataTable, partition: str, instant: str, metadata: CommitMetadata) -> ColumnChanges:  # noqa: ARG002
        """Return the pairs that came and went.

        Raises:
            UnsupportedError: the commit changes the column's type, and with it the strings of values that are not written.
        """
        index = _Index(table, partition)
        check_indexed_type(table, index.field, partition, same_key_strings)
        moves = LocalEngine().run(index.changes, slice_changes(table.view, metadata))
        added, removed = _join_entries(new for new, _ in moves), _join_entries(old for _, old in moves)
        removed_ones = _without(removed, added)
        return ColumnChanges(
            added.keys,
            [index.value],
            np.zeros(len(added.keys), np.int64),
            removed_ones.keys,
            hashed=added.prefixes if index.by_value else None,
            deleted_hashed=removed_ones.prefixes if index.by_value else None,
        )

    def of_clean(self, table: DataTable, partition: str, instant: str, metadata: CleanMetadata) -> None:  # noqa: ARG002
        """Return None: a clean deletes what no snapshot reads."""
        return


class _Index:
    """One secondary index of a table."""

    def __init__(self, table: DataTable, partition: str) -> None:
        definition = table.definitions.get(partition)
        if definition is None or len(definition.source_fields) != 1:
            raise UnsupportedError(f"table {table.view.storage.uri} does not say which column its index {partition} is of; drop the index")
        self.field = definition.source_fields[0]
        self.column = self.field.split(".")[0]
        self.by_value = definition.version >= _BY_VALUE
        self.value = table.mdt.encoder.encode(SecondaryEntry())
        self._table = table
        self._partition = partition
        if self.column not in table.context.schema.names:
            raise UnsupportedError(
                f"table {table.view.storage.uri} has no column '{self.column}' any more, of which its index {partition} is; drop the index"
            )

    def keyed(self, slice_: FileSlice) -> KeyedRows:
        """Return the keys of all rows of a slice."""
        secondary = self._of(slice_, None)
        return KeyedRows(secondary.keys, secondary.prefixes if self.by_value else secondary.keys)

    def changes(self, change: SliceChange) -> tuple[SecondaryKeys, SecondaryKeys]:
        """Return the pairs that rows of a file group have again, and those that they no longer have."""
        if change.keeps_rows:
            return _NOTHING, _NOTHING
        among = self._table.rows.logged(change)[0] if change.appended else None
        before, after = self._of(change.before, among), self._of(change.after, among)
        return _without(after, before), _without(before, after)

    def _of(self, slice_: FileSlice | None, among: pa.StringArray | None) -> SecondaryKeys:
        return secondary_keys(self._table.rows.rows(slice_, [self.column], among), self.field)


def _without(some: SecondaryKeys, others: SecondaryKeys) -> SecondaryKeys:
    retained = pc.invert(pc.is_in(some.keys, value_set=others.keys))
    return SecondaryKeys(some.keys.filter(retained), some.prefixes.filter(retained))


def _join_entries(parts: Iterable[SecondaryKeys]) -> SecondaryKeys:
    all_parts = list(parts)
    return SecondaryKeys(joined(part.keys for part in all_parts), joined(part.prefixes for part in all_parts))
