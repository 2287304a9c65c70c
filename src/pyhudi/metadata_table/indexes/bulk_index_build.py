"""Builds the file groups of an index that has an entry for each record of the table.

Rules: `HoodieBackedTableMetadataWriter.initializeRecordIndexPartition`, `HoodieTableMetadataUtil.estimateFileGroupCount`;
docs/format/metadata-table.md#key-to-file-group. The keys of some file groups at a time are in memory; a large table is read once for each
such lot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UnsupportedError
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.format.cell_blocks import CellColumns, cell_columns
from pyhudi.metadata_table.format.metadata_settings import GroupLimits
from pyhudi.metadata_table.format.shards import shards
from pyhudi.metadata_table.indexes.data_table import DataTable
from pyhudi.metadata_table.write.data_table_changes import InitialGroup
from pyhudi.spec.files.file_group import FileSlice

#: What an entry is taken to have, in bytes, when file groups are counted.
_ENTRY_BYTES = 48
#: Keys that are held in memory at once.
_KEYS_AT_ONCE = 8_000_000
NO_STRINGS = pa.array([], pa.string())


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """Keys of an index, and what of each decides on its file group."""

    keys: pa.StringArray
    hashed: pa.StringArray


def initial_groups(
    table: DataTable,
    partition: str,
    slices: Sequence[FileSlice],
    values: Sequence[bytes],
    keyed: Callable[[FileSlice], KeyedRows],
    within: str = "",
) -> Iterator[InitialGroup]:
    """Yield the file groups of an index with the entries of all slices.

    Args:
        table: the data table.
        partition: of the metadata table.
        slices: those to read.
        values: the encoded entry of the keys of each slice, or one for all.
        keyed: reads the keys of a slice.
        within: the partition of the data table that these file groups are of, in an index by partition.
    """
    file_ids = group_file_ids(table, partition, slices, within)
    count = len(file_ids)
    width = math.ceil(count / max(1, math.ceil(rows_expected(table, slices) / _KEYS_AT_ONCE)))
    for first in range(0, count, width):
        groups = range(first, min(first + width, count))
        lot = _Lot(slices, keyed, groups, count)
        for number in groups:
            yield InitialGroup(file_ids[number], columns=partial(lot.columns, number, values))


def group_file_ids(table: DataTable, partition: str, slices: Sequence[FileSlice], within: str = "") -> list[str]:
    """Return the file ids of the groups that an index of records gets; arguments as in `initial_groups`."""
    count = group_count(rows_expected(table, slices), table.settings.record_index_groups)
    return [partitions.file_id(partition, number, within) for number in range(count)]


def live_slices(table: DataTable) -> list[FileSlice]:
    """Return the slices that a snapshot reads, oldest first."""
    slices = (slice_ for path in table.view.partition_paths() for slice_ in table.view.latest_slices(path))
    return sorted(slices, key=lambda slice_: (slice_.base_instant, slice_.group))


def rows_expected(table: DataTable, slices: Sequence[FileSlice]) -> int:
    """Return about how many rows slices have: those of the base files."""
    return sum(table.row_counts([slice_.base for slice_ in slices if slice_.base is not None]))


def group_count(records: int, limits: GroupLimits) -> int:
    """Return how many file groups an index of so many records gets, for its whole life."""
    needed = math.ceil(records * limits.growth) // max(1, limits.group_bytes // _ENTRY_BYTES)
    return min(max(limits.fewest, needed), limits.most)


def refuse_virtual_keys(table: DataTable, partition: str) -> None:
    """Refuse an index of records on a table whose files do not hold the record keys.

    Raises:
        UnsupportedError: it is such a table.
    """
    if not table.view.config.populate_meta_fields:
        raise UnsupportedError(
            f"table {table.view.storage.uri} has no meta columns (hoodie.populate.meta.fields=false): the index {partition} needs them;"
            " leave out the option that asks for it"
        )


def without(keys: pa.StringArray, others: pa.StringArray) -> pa.StringArray:
    """Return those of the keys that are not among the others, each once."""
    return pc.unique(keys.filter(pc.invert(pc.is_in(keys, value_set=others)))) if len(others) else pc.unique(keys)


def joined(parts: Iterable[pa.StringArray]) -> pa.StringArray:
    """Return all strings in one array."""
    return pa.concat_arrays([NO_STRINGS, *parts])


class _Lot:
    """The keys that go into some file groups, in memory, by group and slice."""

    def __init__(self, slices: Sequence[FileSlice], keyed: Callable[[FileSlice], KeyedRows], groups: range, count: int) -> None:
        self._file_slices: dict[int, list[tuple[int, pa.StringArray]]] = {number: [] for number in groups}
        for index, by_group in enumerate(LocalEngine().run(lambda slice_: _by_group(keyed(slice_), count, groups), slices)):
            for number, keys in by_group:
                self._file_slices[number].append((index, keys))

    def columns(self, number: int, values: Sequence[bytes]) -> CellColumns:
        """Return the cells of a file group, whose keys are let go here."""
        file_slices = self._file_slices.pop(number)
        indices = np.array([index if len(values) > 1 else 0 for index, _ in file_slices], np.int64)
        return cell_columns(joined(keys for _, keys in file_slices), values, np.repeat(indices, [len(keys) for _, keys in file_slices]))


def _by_group(rows: KeyedRows, count: int, groups: range) -> list[tuple[int, pa.StringArray]]:
    """Return the keys of a slice by file group, those of other groups left out."""
    numbers = shards(rows.hashed, count)
    order = np.argsort(numbers, kind="stable")
    borders = np.searchsorted(numbers[order], np.arange(groups.start, groups.stop + 1))
    ordered = rows.keys.take(pa.array(order[borders[0] : borders[-1]]))
    spans = zip(groups, pairwise((borders - borders[0]).tolist()), strict=True)
    return [(number, ordered.slice(first, last - first)) for number, (first, last) in spans if last > first]
