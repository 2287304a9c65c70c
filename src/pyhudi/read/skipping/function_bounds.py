"""Bounds of a function's values from those of its column, for functions that keep order.

Rules: `HoodieCatalystExpressionUtils.OrderPreservingTransformation`. `lower` and `upper` are none: 'B' < 'a', and 'b' > 'a'. Where
clocks are set back, local times keep no order: bounds are taken a day further out, which no clock ever went back.
"""

from __future__ import annotations

import re
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.metadata_table.format.index_definitions import ZONE_OPTION
from pyhudi.metadata_table.format.index_expressions import PER_DAY, Expression
from pyhudi.read.filter.condition import FunctionCall
from pyhudi.read.skipping.bounds import Bounds

_FIXED_ZONE: Final = re.compile(r"UTC|GMT|Z|Etc/UTC|Etc/GMT|[+-]\d\d:\d\d")
#: Patterns whose strings are ordered as the times are: from years on, each part finer than the one before.
_ORDERED: Final = re.compile(r"yyyy([^A-Za-z']*MM([^A-Za-z']*dd([^A-Za-z']*HH([^A-Za-z']*mm([^A-Za-z']*ss)?)?)?)?)?[^A-Za-z']*")
_DAYS: Final = 1 << 30


def keeps_order(call: FunctionCall) -> bool:
    """Tell whether a greater value of the column never has a smaller one of the function."""
    options = dict(call.options)
    match call.function:
        case "year":
            return True
        case "date_format" | "from_unixtime":
            return _ORDERED.fullmatch(options["format"]) is not None
        case "date_add" | "date_sub":
            return abs(int(options["days"])) < _DAYS
        case "substring":
            return options["pos"] == "1"
    return False


def bounds_of_call(call: FunctionCall, column: Bounds) -> Bounds | None:
    """Return the bounds of a function that keeps order; None when it is not computed of such a column."""
    expression = Expression(call.function, {**dict(call.options), **({} if call.zone is None else {ZONE_OPTION: call.zone})})
    try:
        sides = [expression.of_column(_shift_day(call, side, sign)) for side, sign in ((column.low, -1), (column.high, 1))]
    except pa.ArrowInvalid:  # a zone or a time that Arrow does not know
        return None
    if any(side is None or side.type != call.type for side in sides):
        return None
    # A bound without result is of a year that Arrow does not know, of which `_in_order` cannot decide.
    is_ordered = pc.and_(_in_order(call, column), pc.and_(*(pc.is_valid(side) for side in sides)))
    low, high = (pc.if_else(is_ordered, side, pa.scalar(None, call.type)) for side in sides)
    return Bounds(low, high, column.has_values, column.has_nulls)


def _shift_day(call: FunctionCall, side: pa.Array, sign: int) -> pa.Array:
    """Return a bound moved outwards by a day, where the zone's clock may have been set back."""
    if call.zone is None or _FIXED_ZONE.fullmatch(call.zone):
        return side
    if pt.is_timestamp(side.type) and side.type.tz is not None:
        return pc.add_checked(side.cast(pa.int64()), sign * PER_DAY[side.type.unit]).cast(side.type)
    return pc.add_checked(side.cast(pa.int64()), sign * PER_DAY["s"]) if call.function == "from_unixtime" else side


def _in_order(call: FunctionCall, column: Bounds) -> pa.BooleanArray:
    """Return where the strings or days of both bounds are ordered as the bounds are: not beyond four digits of years, nor 32 bits of
    days.
    """
    if call.function in ("date_format", "from_unixtime"):
        kind = pa.timestamp("s", "UTC") if call.function == "from_unixtime" else column.low.type
        years = [
            pc.year(side.cast(pa.int64()).cast(kind) if call.function == "from_unixtime" else side) for side in (column.low, column.high)
        ]
        least, greatest = 1, 9998  # zones move a time by less than a year
    elif call.function in ("date_add", "date_sub"):
        years = [side.cast(pa.int32()) for side in (column.low, column.high)]
        least, greatest = -_DAYS, _DAYS
    else:
        return pa.array([True] * len(column.low))
    within = [pc.and_(pc.greater_equal(side, least), pc.less_equal(side, greatest)).fill_null(False) for side in years]
    return pc.and_(*within)
