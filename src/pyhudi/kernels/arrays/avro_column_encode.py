"""Rows to Avro datums, a column at a time: the bytes of each field are made for all rows at once, then put to their places.

Rules: Avro 1.11 specification, "Binary Encoding". Serves the schemas that `avro_columns.column_plan` knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.kernels.arrays.array_types import Bytes, Indices
from pyhudi.kernels.arrays.avro_column_decode import ColumnPlan, PlannedField
from pyhudi.kernels.arrays.varint_columns import write_varints

_ROWS_AT_ONCE = 1 << 15
_DECIMAL_BYTES = 16


@dataclass(frozen=True, slots=True)
class _Part:
    """Bytes of some rows, one row's behind the other's; `rows` None for all of them."""

    rows: Indices | None
    lengths: Indices
    data: Bytes


def encode_columns(rows: pa.Table, plan: ColumnPlan) -> Iterator[bytes]:
    """Yield one datum for each row; arguments and errors as in `avro_rows.encode`."""
    columns = [_column(rows, field) for field in plan.fields]
    for begin in range(0, rows.num_rows, _ROWS_AT_ONCE):
        count = min(_ROWS_AT_ONCE, rows.num_rows - begin)
        file_slices = zip(plan.fields, columns, strict=True)
        parts = [part for field, column in file_slices for part in _parts(field, column.slice(begin, count), begin)]
        yield from _join_parts(parts, count)


def _column(rows: pa.Table, field: PlannedField) -> pa.Array:
    name, kind = field.field.name, field.field.type
    if name not in rows.schema.names:
        return pa.nulls(rows.num_rows, kind)
    column = rows.column(name)
    try:
        return (column if column.type == kind else pc.cast(column, kind)).combine_chunks()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaError(f"Column '{name}' of type {column.type} cannot be written as {kind}: {error}") from error


def _parts(field: PlannedField, column: pa.Array, begin: int) -> Iterator[_Part]:
    """Yield the bytes of one field: the branch of its union, then what stands for the values that are not null."""
    nulls = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    indices = None
    if field.null_branch is None:
        if nulls is not None:
            row = begin + int(np.argmax(nulls))
            raise SchemaError(f"Row {row} has a null in column '{field.field.name}', which allows none in the log file's schema.")
    else:
        branch = np.full(len(column), 1 - field.null_branch, np.uint8)
        if nulls is not None:
            branch[nulls] = field.null_branch
            indices = np.flatnonzero(~nulls)
        # A branch is a number, and numbers are written doubled.
        yield _Part(None, np.ones(len(column), np.int64), branch * 2)
    values = column.drop_null() if nulls is not None else column
    for lengths, data in _values(field, values):
        yield _Part(indices, lengths, data)


def _values(field: PlannedField, values: pa.Array) -> Iterator[tuple[Indices, Bytes]]:
    count = len(values)
    if field.kind in ("string", "bytes"):
        offsets, data = _text(values)
        yield write_varints(np.diff(offsets))
        yield np.diff(offsets), data
    elif field.kind == "fixed":
        yield np.full(count, field.size), _encode_fixed(field, values)
    elif field.kind == "boolean":
        yield np.ones(count, np.int64), values.to_numpy(zero_copy_only=False).astype(np.uint8)
    elif field.kind in ("int", "long"):
        numbers = values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
        yield write_varints(numbers.to_numpy().astype(np.int64))
    else:
        raw = np.ascontiguousarray(values.to_numpy(zero_copy_only=False)).view(np.uint8)
        yield np.full(count, values.type.bit_width // 8), raw


def _text(values: pa.Array) -> tuple[Indices, Bytes]:
    """Return where each text begins, and the bytes of all."""
    _, ends, data = values.buffers()
    if not len(values) or data is None:
        return np.zeros(len(values) + 1, np.int64), np.empty(0, np.uint8)
    offsets = np.frombuffer(ends, np.int32)[values.offset : values.offset + len(values) + 1].astype(np.int64)
    return offsets - offsets[0], np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]


def _encode_fixed(field: PlannedField, values: pa.Array) -> Bytes:
    """Return values of equal size: a decimal's digits from the highest byte on, or bytes as they are."""
    if not pt.is_decimal(values.type):
        offsets, data = _text(values)
        if (np.diff(offsets) != field.size).any():
            raise SchemaError(f"Column '{field.field.name}' holds a value that has not {field.size} bytes.")
        return data
    raw = np.frombuffer(values.buffers()[1], np.uint8)
    raw = raw[values.offset * _DECIMAL_BYTES : (values.offset + len(values)) * _DECIMAL_BYTES].reshape(-1, _DECIMAL_BYTES)
    digits: Bytes = np.ascontiguousarray(raw[:, : field.size][:, ::-1]).reshape(-1)
    return digits


def _join_parts(parts: list[_Part], count: int) -> Iterator[bytes]:
    """Put the parts of the rows one behind the other, and yield each row's bytes."""
    totals = np.zeros(count, np.int64)
    for part in parts:
        totals[slice(None) if part.rows is None else part.rows] += part.lengths
    ends = np.cumsum(totals)
    at = ends - totals
    out = np.empty(int(ends[-1]), np.uint8)
    for part in parts:
        rows: Any = slice(None) if part.rows is None else part.rows
        _put_bytes(out, at[rows], part)
        at[rows] += part.lengths
    data = out.tobytes()
    begin = 0
    for end in ends.tolist():
        yield data[begin:end]
        begin = end


def _put_bytes(out: Bytes, at: Indices, part: _Part) -> None:
    if not len(part.data):
        return
    length = int(part.lengths[0])
    if (part.lengths == length).all():
        out[at[:, None] + np.arange(length)] = part.data.reshape(-1, length)
        return
    sources = np.cumsum(part.lengths) - part.lengths
    indices: npt.NDArray[np.int64] = np.repeat(at - sources, part.lengths) + np.arange(len(part.data))
    out[indices] = part.data
