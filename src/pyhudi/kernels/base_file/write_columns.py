"""Columns that accompany the data of incoming rows, and which of the rows are deletes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import SchemaError
from pyhudi.kernels.arrays.array_types import Mask
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.schema.meta_columns import IS_DELETED

#: A boolean column that accompanies the data: true marks a delete by commit time, which has no ordering value and always wins.
DELETE_COLUMN = "_pyhudi_delete"
#: A column that accompanies the data: the row index of the record in its base file, -1 where several rows have its key.
POSITION_COLUMN = "_pyhudi_position"
#: A column that accompanies the data: the file group that the row goes to; null for a new record.
FILE_ID_COLUMN = "_pyhudi_file_id"


def commit_time_deletes(rows: pa.Table) -> Mask:
    """Rows that a delete operation or statement sent."""
    if DELETE_COLUMN not in rows.schema.names:
        return np.zeros(rows.num_rows, bool)
    return _mask(rows.column(DELETE_COLUMN))


def marked_deletes(rows: pa.Table, context: RecordContext) -> Mask:
    """Rows that their own data marks as deletes; they carry their ordering value.

    Raises:
        SchemaError: `_hoodie_is_deleted` is no boolean.
    """
    deletes = np.zeros(rows.num_rows, bool)
    if IS_DELETED in rows.schema.names:
        if rows.schema.field(IS_DELETED).type != pa.bool_():
            raise SchemaError(f"Column '{IS_DELETED}' has type {rows.schema.field(IS_DELETED).type}; it must be boolean.")
        deletes |= _mask(rows.column(IS_DELETED))
    if context.delete_field is not None and context.delete_field in rows.schema.names:
        strings = pc.cast(rows.column(context.delete_field), pa.string())
        deletes |= _mask(pc.equal(strings, pa.scalar(context.delete_marker, pa.string())))
    return deletes


def _mask(column: pa.ChunkedArray) -> Mask:
    mask: Mask = pc.fill_null(column, False).to_numpy(zero_copy_only=False)
    return mask.astype(bool)
