"""Ordering values of a delete block as columns of the table's types.

Rules: `OrderingValues`, `BufferedRecords.fromDeleteRecord`; docs/format/log-files.md#delete-block, docs/format/merging.md#ordering-values.
A delete without ordering value, or with one that cannot be compared with the column, counts by commit time. Numbers compare by value: other
than Hudi, where an int never meets a long, a delete from before a column was widened still finds its place.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from pyhudi.kernels.arrays.array_types import Mask
from pyhudi.kernels.arrays.ordering_columns import columns_of_fields
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.schema.field_paths import type_at
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE

#: Written for a null (`codec.log.ordering_encode`), and outside of what Python has days and times for.
_LEAST_DAY = -(1 << 31)
_LEAST_TIME = -(1 << 63)


def delete_ordering(values: Sequence[object], context: RecordContext) -> tuple[dict[str, pa.Array], Mask]:
    """Return the columns that hold the compared ordering fields by name, and which deletes count by commit time."""
    fields = context.compared_fields
    hard = np.fromiter((value is None or value is COMMIT_TIME_DELETE for value in values), bool, len(values))
    if not fields:
        return {}, hard | True
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    hard |= np.fromiter((len(row) != len(fields) for row in rows), bool, len(rows))
    columns = {}
    for number, name in enumerate(fields):
        kind = type_at(context.schema, name)
        column = [None if late else row[number] for row, late in zip(rows, hard, strict=True)]
        columns[name], misfits = _cast_values(column, kind)
        hard |= misfits
    return columns_of_fields(columns, context.schema), hard


def _cast_values(values: list[Any], kind: pa.DataType) -> tuple[pa.Array, Mask]:
    """Return values as a column, and which of them have no place in its type."""
    try:
        return _array(values, kind), np.zeros(len(values), bool)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        if len(values) == 1:
            return pa.nulls(1, kind), np.ones(1, bool)
    # Few blocks mix types; of those that do, each value is tried.
    tried = [_cast_values([value], kind) for value in values]
    return pa.concat_arrays([column for column, _ in tried]), np.concatenate([misfit for _, misfit in tried])


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pt.is_timestamp(kind):
        timestamps = [_to_timestamp(value) for value in values]
        return pa.array(timestamps, pa.timestamp("us", kind.tz)).cast(kind)
    if pt.is_date(kind):
        days = pa.array([None if value == _LEAST_DAY else value for value in values])
        return (days.cast(pa.int32()).view(pa.date32()) if pt.is_integer(days.type) else days).cast(kind)
    if pt.is_decimal(kind):
        # A null is written as a number below all that the column can hold.
        least = -(10 ** (kind.precision - kind.scale))
        return pa.array([None if value is None or value <= least else value for value in values], pa.decimal128(38, 15)).cast(kind)
    inferred = pa.array(values)
    if pt.is_null(inferred.type):
        return pa.nulls(len(values), kind)
    comparable = inferred.type == kind or (_is_number(inferred.type) and _is_number(kind))
    if not comparable and not (pt.is_string(inferred.type) and pt.is_binary(kind)):
        raise TypeError
    return inferred.cast(kind)


def _to_timestamp(value: Any) -> dt.datetime | int | None:
    """Return a time as Arrow takes it for columns with and without a zone; a number counts microseconds."""
    if isinstance(value, dt.datetime):
        return value
    if value is None or value == _LEAST_TIME:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise TypeError


def _is_number(kind: pa.DataType) -> bool:
    return bool(pt.is_integer(kind) or pt.is_floating(kind))
