"""Ordering values of pairs of rows, compared on columns. The rule on two records: `pyhudi.merge.merge_rules.newer_wins`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import SchemaError, UnsupportedError

_SIGN: Final = 63
_ALL_BUT_SIGN: Final = (1 << _SIGN) - 1
Column: TypeAlias = "pa.Array | pa.ChunkedArray"


def at_least(incoming: Sequence[Column], stored: Sequence[Column]) -> Column:
    """Return, pair by pair, whether the incoming row's values are not smaller than the stored row's.

    Columns of both sides are in the order of the table's ordering fields; they have the same types and lengths.
    """
    *leading, last = zip(incoming, stored, strict=True)
    result = pc.or_(*_compare(*last))
    for new, old in reversed(leading):
        greater, equal = _compare(new, old)
        result = pc.or_(greater, pc.and_(equal, result))
    return result


def check_orderable(schema: pa.Schema, fields: Sequence[str]) -> None:
    """Refuse ordering fields that are missing or have no order.

    Raises:
        SchemaError: names the field.
        UnsupportedError: it is the field of a struct.
    """
    for name in fields:
        if name not in schema.names and name.split(".")[0] in schema.names:
            raise UnsupportedError(f"The ordering field '{name}' is inside a struct, which is not served; order by a column of its own.")
        if name not in schema.names:
            raise SchemaError(f"The ordering field '{name}' is no column of the table; its columns are {', '.join(schema.names)}.")
        if pt.is_nested(schema.field(name).type):
            raise SchemaError(f"The ordering field '{name}' has type {schema.field(name).type}, which has no order.")


def _compare(new: Column, old: Column) -> tuple[Column, Column]:
    """Masks `new > old` and `new == old` without nulls: null is smaller than any value."""
    if pt.is_floating(new.type):
        new, old = in_java_order(new), in_java_order(old)
    greater = pc.fill_null(pc.greater(new, old), False)
    equal = pc.fill_null(pc.equal(new, old), False)
    new_null, old_null = pc.is_null(new), pc.is_null(old)
    greater = pc.or_(greater, pc.and_not(old_null, new_null))
    equal = pc.or_(equal, pc.and_(new_null, old_null))
    return greater, equal


def in_java_order(column: Column) -> pa.Int64Array:
    """Return whole numbers in the order of floating point ones by `Double.compare`: -0.0 is smaller than 0.0, NaN greater than all."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
    numbers[np.isnan(numbers)] = np.nan  # there are NaNs of many bits
    bits = numbers.view(np.int64)
    return pa.array(bits ^ ((bits >> _SIGN) & _ALL_BUT_SIGN), mask=values.is_null().to_numpy(zero_copy_only=False))
