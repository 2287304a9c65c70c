"""Ordering values of pairs of rows, compared on columns. The rule on two records: `pyhudi.merge.merge_rules.newer_wins`.

An ordering field is a column, or by its dotted name a field of structs; it is null where a struct around it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.schema.field_paths import column_at, head_column, type_at

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
    """
    for name in fields:
        kind, head = type_at(schema, name), head_column(name)
        if kind is None and head in schema.names and head != name:
            raise SchemaError(f"The ordering field '{name}' is not in column '{head}', which is {schema.field(head).type}.")
        if kind is None:
            raise SchemaError(f"The ordering field '{name}' is no column of the table; its columns are {', '.join(schema.names)}.")
        if pt.is_nested(kind):
            raise SchemaError(f"The ordering field '{name}' has type {kind}, which has no order.")


def ordering_columns(rows: pa.Table, fields: Sequence[str]) -> list[pa.ChunkedArray]:
    """Return the values of ordering fields, one column for each."""
    return [column_at(rows, name) for name in fields]


def columns_of_fields(values: Mapping[str, pa.Array], schema: pa.Schema) -> dict[str, pa.Array]:
    """Return the columns that hold the values of ordering fields; what else structs hold is null."""
    by_path = {tuple(name.split(".")): column for name, column in values.items()}
    return {head: _column_at((head,), schema.field(head).type, by_path) for head in dict.fromkeys(path[0] for path in by_path)}


def _column_at(path: tuple[str, ...], kind: pa.DataType, by_path: Mapping[tuple[str, ...], pa.Array]) -> pa.Array:
    if path in by_path:
        return by_path[path]
    if not any(other[: len(path)] == path for other in by_path):
        return pa.nulls(len(next(iter(by_path.values()))), kind)
    fields = [field.with_nullable(True) for field in kind]
    children = [_column_at((*path, field.name), field.type, by_path) for field in fields]
    return pa.StructArray.from_arrays(children, fields=fields)


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
