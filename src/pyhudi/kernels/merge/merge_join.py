"""The rows that come to one file group, ready to be looked up by key while its old base file passes by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.array_types import Indices, Mask
from pyhudi.kernels.arrays.ordering_columns import at_least, check_orderable, ordering_columns
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.write_columns import POSITION_COLUMN, commit_time_deletes, marked_deletes
from pyhudi.kernels.merge.incoming_positions import IncomingPositions
from pyhudi.kernels.merge.partial_merge_incoming import merge_pairs
from pyhudi.schema.meta_columns import RECORD_KEY

#: Runs of rows that are, on the average, longer than this are put together as they are; shorter ones are copied.
_ROWS_IN_RUN: Final = 4_000


@dataclass(frozen=True, slots=True)
class MergedBatch:
    """What becomes of one batch of the old file.

    `order` says which of the old rows, followed by the replacements, comes first, second and so on: each replacement is where the row
    was that it replaces, and what is replaced or deleted is left out.
    """

    old: pa.Table
    changed: Indices
    replacements: pa.Table
    deleted: int
    order: Indices

    @property
    def retained(self) -> pa.Table:
        """The old rows that stay as they are."""
        return _without(self.old, self.changed)


class IncomingRows:
    """Incoming rows with unique keys. Remembers which of them met an old row and which had an effect."""

    def __init__(self, rows: pa.Table, context: RecordContext) -> None:
        self._context = context
        self._positions = IncomingPositions.of(rows)
        self._rows = rows.select([name for name in rows.schema.names if name != POSITION_COLUMN]).combine_chunks()
        self._keys = _one_chunk(self._rows.column(RECORD_KEY))
        self._searched_keys = self._keys.take(pa.array(self._positions.others)) if len(self._positions.numbers) else self._keys
        check_orderable(context.schema, context.compared_fields)
        self._hard_deletes = commit_time_deletes(self._rows)
        self._deletes = self._hard_deletes | marked_deletes(self._rows, context)
        self._met = np.zeros(rows.num_rows, bool)
        self._effective = np.zeros(rows.num_rows, bool)

    def merge(self, batch: pa.Table, begin: int = 0) -> MergedBatch:
        """Merge one batch of the old file.

        Args:
            batch: the record key and the columns of the table.
            begin: the number of its first row in the file.

        Raises:
            CorruptTableError: the file is not the one in which the index has found the records.
        """
        old_rows, new_rows = self._pairs(batch.column(RECORD_KEY), begin)
        if not len(old_rows):
            return MergedBatch(batch, old_rows, self._rows.slice(0, 0), 0, np.arange(batch.num_rows))
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
        """The rows that met no old row and are not deletes; to be asked once the old file is through.

        Raises:
            CorruptTableError: as `merge`.
        """
        if not self._met[self._positions.numbers].all():
            raise self._other_file()
        new = ~self._met & ~self._deletes
        return self._rows if new.all() else self._rows.filter(pa.array(new))

    def _pairs(self, stored_keys: pa.ChunkedArray, begin: int) -> tuple[Indices, Indices]:
        """Return the rows of a batch, ascending, whose records come in, and the numbers of their incoming rows."""
        old_rows, new_rows = self._positions.between(begin, begin + len(stored_keys))
        if len(old_rows):
            held, expected = stored_keys.take(pa.array(old_rows)), self._keys.take(pa.array(new_rows))
            if not pc.all(pc.equal(held, expected)).as_py():
                raise self._other_file()
        if not len(self._searched_keys):
            return old_rows, new_rows
        indices = pc.index_in(stored_keys, value_set=self._searched_keys)
        searched_rows = np.flatnonzero(pc.is_valid(indices).to_numpy())
        searched_numbers = indices.drop_null().to_numpy().astype(np.int64)
        if not len(self._positions.numbers):
            return searched_rows, searched_numbers
        rows = np.concatenate([old_rows, searched_rows])
        order = np.argsort(rows)
        return rows[order], np.concatenate([new_rows, self._positions.others[searched_numbers]])[order]

    @property
    def late_dropped(self) -> int:
        """How many incoming rows came too late to have an effect."""
        return int((self._met & ~self._effective).sum())

    def _other_file(self) -> CorruptTableError:
        return CorruptTableError(
            f"A base file of table '{self._context.name}' was changed while it was rewritten: it does not hold the records where the index"
            " has found them. Nothing was written; run the write again."
        )

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
    """Return a batch some rows of which have changed, ascending: those that are not deleted are replaced, in their order."""
    order = np.arange(batch.num_rows)
    order[changed[~is_deleted]] = batch.num_rows + np.arange(replacements.num_rows)
    order = np.delete(order, changed[is_deleted]) if is_deleted.any() else order
    return MergedBatch(batch, changed, replacements, int(is_deleted.sum()), order)


def _without(batch: pa.Table, left_out: Indices) -> pa.Table:
    """Return a batch without some rows, ascending; the values of the others are not copied where these are few."""
    if not len(left_out):
        return batch
    if len(left_out) * _ROWS_IN_RUN > batch.num_rows:
        keep = np.ones(batch.num_rows, bool)
        keep[left_out] = False
        return batch.filter(pa.array(keep))
    starts, ends = [0, *(left_out + 1).tolist()], [*left_out.tolist(), batch.num_rows]
    return pa.concat_tables(batch.slice(start, end - start) for start, end in zip(starts, ends, strict=True))


def _one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
