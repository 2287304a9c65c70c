"""The rows that come to one file group, ready to be looked up by key while its old base file passes by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import SchemaError
from pyhudi.kernels.base_file import TableShape
from pyhudi.kernels.ordering import at_least, check_orderable
from pyhudi.merge.mode import MergeMode, check_served
from pyhudi.schema.meta_columns import IS_DELETED, RECORD_KEY

#: A boolean column beside the data: true marks a delete by commit time, which has no ordering value and always wins.
DELETE_COLUMN = "_pyhudi_delete"
#: A column beside the data: at which row of its base file the record stands, -1 where several rows have its key.
POSITION_COLUMN = "_pyhudi_position"

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class MergedBatch:
    """What becomes of one batch of the old file."""

    kept: pa.Table
    replacements: pa.Table
    deleted: int


class IncomingRows:
    """Incoming rows with unique keys. Remembers which of them met an old row and which had an effect."""

    def __init__(self, rows: pa.Table, shape: TableShape) -> None:
        check_served(shape.merge_mode)
        self._rows = rows.combine_chunks()
        self._keys = _one_chunk(self._rows.column(RECORD_KEY))
        self._by_event_time = shape.merge_mode is MergeMode.EVENT_TIME_ORDERING and bool(shape.ordering_fields)
        self._ordering_fields = shape.ordering_fields
        if self._by_event_time:
            check_orderable(shape.schema, shape.ordering_fields)
        self._hard_deletes = commit_time_deletes(self._rows)
        self._deletes = self._hard_deletes | marked_deletes(self._rows, shape)
        self._met = np.zeros(rows.num_rows, bool)
        self._effective = np.zeros(rows.num_rows, bool)

    def merge(self, batch: pa.Table) -> MergedBatch:
        """Merge one batch of the old file. `batch` holds the record key and the columns of the table."""
        places = pc.index_in(batch.column(RECORD_KEY), value_set=self._keys)
        old_rows = np.flatnonzero(pc.is_valid(places).to_numpy())
        if not len(old_rows):
            return MergedBatch(batch, self._rows.slice(0, 0), 0)
        new_rows = places.drop_null().to_numpy().astype(np.int64)
        wins = self._wins(batch, old_rows, new_rows)
        self._met[new_rows] = True
        old_rows, new_rows = old_rows[wins], new_rows[wins]
        self._effective[new_rows] = True
        keep = np.ones(batch.num_rows, bool)
        keep[old_rows] = False
        is_delete = self._deletes[new_rows]
        replacements = self._rows.take(pa.array(new_rows[~is_delete]))
        return MergedBatch(batch.filter(pa.array(keep)), replacements, int(is_delete.sum()))

    def inserts(self) -> pa.Table:
        """The rows that met no old row and are not deletes; to be asked once the old file is through."""
        new = ~self._met & ~self._deletes
        return self._rows if new.all() else self._rows.filter(pa.array(new))

    @property
    def ignored(self) -> int:
        """How many incoming rows came too late to have an effect."""
        return int((self._met & ~self._effective).sum())

    def _wins(self, batch: pa.Table, old_rows: npt.NDArray[np.int64], new_rows: npt.NDArray[np.int64]) -> Mask:
        if not self._by_event_time:
            return np.ones(len(old_rows), bool)
        old_places, new_places = pa.array(old_rows), pa.array(new_rows)
        incoming = [_one_chunk(self._rows.column(name)).take(new_places) for name in self._ordering_fields]
        stored = [_one_chunk(batch.column(name).take(old_places)) for name in self._ordering_fields]
        later: Mask = at_least(incoming, stored).to_numpy(zero_copy_only=False)
        return later | self._hard_deletes[new_rows]


def commit_time_deletes(rows: pa.Table) -> Mask:
    """Rows that a delete operation or statement sent."""
    if DELETE_COLUMN not in rows.schema.names:
        return np.zeros(rows.num_rows, bool)
    return _mask(rows.column(DELETE_COLUMN))


def marked_deletes(rows: pa.Table, shape: TableShape) -> Mask:
    """Rows that their own data marks as deletes; they carry their ordering value.

    Raises:
        SchemaError: `_hoodie_is_deleted` is no boolean.
    """
    deletes = np.zeros(rows.num_rows, bool)
    if IS_DELETED in rows.schema.names:
        if rows.schema.field(IS_DELETED).type != pa.bool_():
            raise SchemaError(f"Column '{IS_DELETED}' has type {rows.schema.field(IS_DELETED).type}; it must be boolean.")
        deletes |= _mask(rows.column(IS_DELETED))
    if shape.delete_field is not None and shape.delete_field in rows.schema.names:
        texts = pc.cast(rows.column(shape.delete_field), pa.string())
        deletes |= _mask(pc.equal(texts, pa.scalar(shape.delete_marker, pa.string())))
    return deletes


def _mask(column: pa.ChunkedArray) -> Mask:
    mask: Mask = pc.fill_null(column, False).to_numpy(zero_copy_only=False)
    return mask.astype(bool)


def _one_chunk(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
