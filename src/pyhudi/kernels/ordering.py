"""Ordering values of pairs of rows, compared on columns. The rule on two records: `pyhudi.merge.rules.newer_wins`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import SchemaError

Column: TypeAlias = "pa.Array | pa.ChunkedArray"


def at_least(incoming: Sequence[Column], stored: Sequence[Column]) -> Column:
    """Return, pair by pair, whether the incoming row's values are not smaller than the stored row's.

    Columns of both sides stand in the order of the table's ordering fields; they have the same types and lengths.
    """
    *leading, last = zip(incoming, stored, strict=True)
    result = pc.or_(*_compared(*last))
    for new, old in reversed(leading):
        greater, equal = _compared(new, old)
        result = pc.or_(greater, pc.and_(equal, result))
    return result


def check_orderable(schema: pa.Schema, fields: Sequence[str]) -> None:
    """Refuse ordering fields that are missing or have no order.

    Raises:
        SchemaError: names the field.
    """
    for name in fields:
        if name not in schema.names:
            raise SchemaError(f"The ordering field '{name}' is no column of the table; its columns are {', '.join(schema.names)}.")
        if pt.is_nested(schema.field(name).type):
            raise SchemaError(f"The ordering field '{name}' has type {schema.field(name).type}, which has no order.")


def _compared(new: Column, old: Column) -> tuple[Column, Column]:
    """Masks `new > old` and `new == old` without nulls: null is smaller than any value, NaN greater."""
    greater = pc.fill_null(pc.greater(new, old), False)
    equal = pc.fill_null(pc.equal(new, old), False)
    new_null, old_null = pc.is_null(new), pc.is_null(old)
    greater = pc.or_(greater, pc.and_not(old_null, new_null))
    equal = pc.or_(equal, pc.and_(new_null, old_null))
    if pt.is_floating(new.type):
        new_nan, old_nan = pc.fill_null(pc.is_nan(new), False), pc.fill_null(pc.is_nan(old), False)
        greater = pc.or_(greater, pc.and_not(pc.and_not(new_nan, old_nan), old_null))
        equal = pc.or_(equal, pc.and_(new_nan, old_nan))
    return greater, equal
