"""Puts the meta columns on the rows of a base file.

Rules: Hudi technical specification, "Record metadata". Commit time and sequence number say when the record was last
written and stay on rows that a rewrite carries over; the file name is that of the file at hand on every row.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pyhudi.kernels.base_file.base_file import CONSTANT_TYPE
from pyhudi.schema.meta_columns import COMMIT_SEQNO, COMMIT_TIME, FILE_NAME, META_COLUMNS, RECORD_KEY

_LOW_DIGITS: Final = 3


class MetaColumnWriter:
    """Meta columns of the rows of one file, written by one task. Counts the rows it stamps as new."""

    def __init__(self, instant: str, task_partition: str, partition_path: str, file_name: str) -> None:
        self._instant = instant
        self._seqno_prefix = f"{instant}_{task_partition}_"
        self._partition_path = partition_path
        self._file_name = file_name
        self._count = 0

    def new(self, rows: pa.Table, file_schema: pa.Schema) -> pa.Table:
        """Return rows that this commit inserts or updates, with all meta columns; `rows` holds record key and data."""
        count = rows.num_rows
        seqno = numbered(self._seqno_prefix, self._count, count)
        self._count += count
        return self._stamp(rows, constant(self._instant, count), seqno, file_schema)

    def carried_over(self, rows: pa.Table, file_schema: pa.Schema) -> pa.Table:
        """Return rows of the file before, with the new file's name.

        `rows` holds commit time, sequence number, record key and data.
        """
        commit_time = rows.column(COMMIT_TIME).cast(CONSTANT_TYPE)
        return self._stamp(rows, commit_time, rows.column(COMMIT_SEQNO), file_schema)

    def _stamp(self, rows: pa.Table, commit_time: pa.Array, seqno: pa.Array, file_schema: pa.Schema) -> pa.Table:
        count = rows.num_rows
        data = [rows.column(name) for name in file_schema.names[len(META_COLUMNS) :]]
        meta = [
            commit_time,
            seqno,
            rows.column(RECORD_KEY),
            constant(self._partition_path, count),
            constant(self._file_name, count),
        ]
        return pa.Table.from_arrays([*meta, *data], schema=file_schema)


def without_identity(rows: pa.Table) -> pa.Table:
    """Return rows as they are stored in tables with virtual keys: of the meta columns that are there only the file's name has values."""
    for name in META_COLUMNS:
        if name != FILE_NAME and name in rows.schema.names:
            index = rows.schema.get_field_index(name)
            field = rows.schema.field(index)
            rows = rows.set_column(index, field, pa.nulls(rows.num_rows, field.type))
    return rows


def constant(text: str, count: int) -> pa.DictionaryArray:
    """Return a column that holds one text in every row."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([text], pa.string()))


def numbered(prefix: str, start: int, count: int) -> pa.StringArray:
    """Return `prefix` followed by the decimal numbers from `start` on.

    Strings of one length are laid out one behind the other, a thousand with the same first digits at a time: no string is joined.

    Example:
        >>> numbered("a_", 9, 2).to_pylist()
        ['a_9', 'a_10']
    """
    parts = []
    end = start + count
    while start < end:
        digits = len(str(start))
        stop = min(end, 10**digits)
        parts.append(_of_equal_length(prefix.encode(), digits, start, stop))
        start = stop
    return pa.concat_arrays(parts or [pa.array([], pa.string())])


def _of_equal_length(prefix: bytes, digits: int, start: int, stop: int) -> pa.StringArray:
    low = min(digits, _LOW_DIGITS)
    size = 10**low  # numbers of a block have the same digits before the last ones
    first, last = start // size, (stop - 1) // size + 1
    heads = [prefix + (str(block).encode() if digits > low else b"") for block in range(first, last)]
    cells = np.empty((len(heads), size), [("head", f"V{len(heads[0])}"), ("low", f"V{low}")])
    cells["low"] = _low_digits(low)
    if heads[0]:
        cells["head"] = np.frombuffer(b"".join(heads), f"V{len(heads[0])}")[:, None]
    count, length = stop - start, len(heads[0]) + low
    encoded = cells.reshape(-1)[start - first * size :][:count]
    offsets = np.arange(0, count * length + 1, length, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(encoded))


@lru_cache
def _low_digits(count: int) -> npt.NDArray[Any]:
    return np.frombuffer("".join(f"{number:0{count}}" for number in range(10**count)).encode(), f"V{count}")
