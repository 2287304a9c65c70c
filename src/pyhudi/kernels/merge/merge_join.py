"""The rows that come to one file group, ready to be looked up by key while its old base file passes by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Indices, Mask
from pyhudi.kernels.arrays.ordering_columns import at_least, check_orderable, ordering_columns
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.write_columns import commit_time_deletes, marked_deletes
from pyhudi.kernels.merge.partial_merge_incoming import merge_pairs
from pyhudi.schema.meta_columns import RECORD_KEY

#: Runs of rows that are, on the average, longer than this are put together as they are; shorter ones are copied.
_ROWS_IN_RUN: Final = 1_000


@dataclass(frozen=True, slots=True)
class MergedBatch:
    """What becomes of one batch of the old file.

    `order` says which of the retained rows, followed by the replacements, comes first, second and so on: each replacement is where the row
    was that it replaces.
    """

    retained: pa.Table
    replacements: pa.Table
    deleted: int
    order: Indices


class IncomingRows:
    """Incoming rows with unique keys. Remembers which of them met an old row and which had an effect."""

    def __init__(self, rows: pa.Table, context: RecordContext) -> None:
        self._context = context
        self._rows = rows.combine_chunks()
        self._keys = _one_chunk(self._rows.column(RECORD_KEY))
        check_orderable(context.schema, context.compared_fields)
        self._hard_deletes = commit_time_deletes(self._rows)
        self._deletes = self._hard_deletes | marked_deletes(self._rows, context)
        self._met = np.zeros(rows.num_rows, bool)
        self._effective = np.zeros(rows.num_rows, bool)

    def merge(self, batch: pa.Table) -> MergedBatch:
        """Merge one batch of the old file. `batch` holds the record key and the columns of the table."""
        indices = pc.index_in(batch.column(RECORD_KEY), value_set=self._keys)
        old_rows = np.flatnonzero(pc.is_valid(indices).to_numpy())
        if not len(old_rows):
            return MergedBatch(batch, self._rows.slice(0, 0), 0, np.arange(batch.num_rows))
        new_rows = indices.drop_null().to_numpy().astype(np.int64)
        self._met[new_rows] = True
        if self._context.mixes_versions:
            return self._merge_versions(batch, old_rows, new_rows)
        wins = self._wins(batch, old_rows, new_rows)
        old_rows, new_rows = old_rows[wins], new_rows[wins]
        self._effective[new_rows] = True
        is_delete = self._deletes[new_rows]
        replacements = self._rows.take(pa.array(new_rows[~is_delete]))
        return _replaced(batch, old_rows, is_delete, replacements)

    def inserts(self) -> pa.Table:
        """The rows that met no old row and are not deletes; to be asked once the old file is through."""
        new = ~self._met & ~self._deletes
        return self._rows if new.all() else self._rows.filter(pa.array(new))

    @property
    def late_dropped(self) -> int:
        """How many incoming rows came too late to have an effect."""
        return int((self._met & ~self._effective).sum())

    def _merge_versions(self, batch: pa.Table, old_rows: Indices, new_rows: Indices) -> MergedBatch:
        """Merge where rows take values from both sides."""
        incoming, stored = self._rows.take(pa.array(new_rows)), batch.take(pa.array(old_rows))
        merged = merge_pairs(self._context, incoming, stored)
        self._effective[new_rows[merged.changed]] = True
        return _replaced(batch, old_rows[merged.changed], merged.is_deleted, merged.rows)

    def _wins(self, batch: pa.Table, old_rows: Indices, new_rows: Indices) -> Mask:
        if not self._context.compared_fields:
            return np.ones(len(old_rows), bool)
        old_indices, new_indices = pa.array(old_rows), pa.array(new_rows)
        fields = self._context.compared_fields
        incoming = [_one_chunk(column).take(new_indices) for column in ordering_columns(self._rows, fields)]
        stored = [_one_chunk(column.take(old_indices)) for column in ordering_columns(batch, fields)]
        later: Mask = at_least(incoming, stored).to_numpy(zero_copy_only=False)
        return later | self._hard_deletes[new_rows]


def in_order(parts: Sequence[pa.Table], order: Indices) -> pa.Table:
    """Return the rows of tables of one schema, one after the other, in another order."""
    starts = np.flatnonzero(np.diff(order, prepend=-2) != 1)
    if 0 < len(starts) * _ROWS_IN_RUN <= len(order):
        rows, ends = pa.concat_tables(parts), [*starts[1:].tolist(), len(order)]
        return pa.concat_tables(rows.slice(order[start], end - start) for start, end in zip(starts.tolist(), ends, strict=True))
    rows = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    return rows.take(pa.array(order))


def _replaced(batch: pa.Table, changed: Indices, is_deleted: Mask, replacements: pa.Table) -> MergedBatch:
    """Return a batch some rows of which have changed: those that are not deleted are replaced, in their order."""
    keep = np.ones(batch.num_rows, bool)
    keep[changed] = False
    retained = _without(batch, changed, keep)
    slots = np.full(batch.num_rows, -1, np.int64)
    slots[keep] = np.arange(retained.num_rows)
    slots[changed[~is_deleted]] = retained.num_rows + np.arange(replacements.num_rows)
    return MergedBatch(retained, replacements, int(is_deleted.sum()), slots[slots >= 0])


def _without(batch: pa.Table, left_out: Indices, keep: Mask) -> pa.Table:
    """Return a batch without some rows, ascending; the values of the others are not copied where these are few."""
    if len(left_out) * _ROWS_IN_RUN > batch.num_rows:
        return batch.filter(pa.array(keep))
    starts, ends = [0, *(left_out + 1).tolist()], [*left_out.tolist(), batch.num_rows]
    return pa.concat_tables(batch.slice(start, end - start) for start, end in zip(starts, ends, strict=True))


def _one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
