"""The part of a polars predicate that files, statistics and indexes can be asked for, as an Arrow expression.

The Arrow expression is true for every row that the predicate is true for; polars evaluates the whole predicate on the rows that are
read. So what is not understood here costs time and changes no result. Only public methods of `polars.Expr.meta` are used: an expression
is recognized by rebuilding it from its operands.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

_COMPARISONS: Final[tuple[Callable[[Any, Any], Any], ...]] = (
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)
#: In polars NaN is equal to NaN and greater than all numbers; in Arrow no comparison with NaN but != is true.
_TRUE_FOR_NAN: Final = (operator.gt, operator.ge)
_MIRRORED: Final = {operator.lt: operator.gt, operator.le: operator.ge, operator.gt: operator.lt, operator.ge: operator.le}
_MOST_OPERANDS: Final = 3


def arrow_condition(predicate: Any, schema: pa.Schema) -> pc.Expression | None:
    """Return an Arrow expression that is true wherever a polars predicate is true; None when nothing can be said.

    Args:
        predicate: a `polars.Expr`.
        schema: the columns of the rows.
    """
    operands = predicate.meta.pop()[::-1]
    if len(operands) > _MOST_OPERANDS:
        return None
    if len(operands) == 1:
        return _of_one(predicate, operands[0], schema)
    if len(operands) != 2:
        return None
    left, right = operands
    if predicate.meta.eq(left & right):
        parts = [part for part in (arrow_condition(left, schema), arrow_condition(right, schema)) if part is not None]
        return None if not parts else parts[0] if len(parts) == 1 else parts[0] & parts[1]
    if predicate.meta.eq(left | right):
        one, two = arrow_condition(left, schema), arrow_condition(right, schema)
        return None if one is None or two is None else one | two
    if left.meta.is_column() and right.meta.is_literal():
        return _of_column(predicate, left, right, schema)
    if left.meta.is_literal() and right.meta.is_column():
        for compare in _COMPARISONS:
            if predicate.meta.eq(compare(left, right)):
                return _comparison(_MIRRORED.get(compare, compare), right.meta.output_name(), _value(left), schema)
    return None


def _of_one(predicate: Any, operand: Any, schema: pa.Schema) -> pc.Expression | None:
    if not operand.meta.is_column() or operand.meta.output_name() not in schema.names:
        return None
    column = pc.field(operand.meta.output_name())
    if predicate.meta.eq(operand.is_null()):
        return column.is_null()
    return column.is_valid() if predicate.meta.eq(operand.is_not_null()) else None


def _of_column(predicate: Any, left: Any, right: Any, schema: pa.Schema) -> pc.Expression | None:
    name = left.meta.output_name()
    for compare in _COMPARISONS:
        if predicate.meta.eq(compare(left, right)):
            return _comparison(compare, name, _value(right), schema)
    if predicate.meta.eq(left.is_in(right)):
        values = _value(right)
        members = values.to_list() if hasattr(values, "to_list") else []
        return _membership(name, members, schema)
    return None


def _membership(name: str, members: Sequence[object], schema: pa.Schema) -> pc.Expression | None:
    if name not in schema.names or not members:
        return None
    kind = schema.field(name).type
    if pt.is_floating(kind) or any(_scalar(value, kind) is None for value in members):
        return None
    return pc.field(name).isin(pa.array(members, kind))


def _comparison(compare: Callable[[Any, Any], Any], name: str, value: object, schema: pa.Schema) -> pc.Expression | None:
    if name not in schema.names:
        return None
    scalar = _scalar(value, schema.field(name).type)
    if scalar is None:
        return None
    expression: pc.Expression = compare(pc.field(name), scalar)
    if pt.is_floating(schema.field(name).type) and compare in _TRUE_FOR_NAN:
        return expression | pc.is_nan(pc.field(name))
    return expression


def _value(literal: Any) -> object:
    """Return the value of a literal; None for one that Python has no exact value for."""
    import polars as pl  # noqa: PLC0415 - optional, and there when this runs

    column = pl.select(literal).to_series()
    if isinstance(column.dtype, pl.Datetime | pl.Duration) and column.dtype.time_unit == "ns":
        return None
    result: object = column.item() if len(column) == 1 else None
    return result


def _scalar(value: object, kind: pa.DataType) -> pa.Scalar | None:
    """Return a value in the type of the column that it is compared with; None where that is not exactly the same value."""
    fits = (
        (pt.is_boolean(kind) and isinstance(value, bool))
        or (pt.is_integer(kind) and isinstance(value, int) and not isinstance(value, bool))
        or (pt.is_float64(kind) and isinstance(value, float) and not math.isnan(value))
        or (pt.is_string(kind) and isinstance(value, str))
        or (pt.is_date32(kind) and type(value) is date)
        or (pt.is_timestamp(kind) and isinstance(value, datetime) and (value.tzinfo is None) == (kind.tz is None) and kind.unit == "us")
        or (pt.is_decimal(kind) and isinstance(value, Decimal))
    )
    try:
        return pa.scalar(value, kind) if fits else None
    except (pa.ArrowException, OverflowError, ValueError):
        return None
