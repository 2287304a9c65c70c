"""What statistics say about a filter: which of many files (or partitions) may hold a row for which it is true.

Rules: `DataSkippingUtils`, here on three-valued logic: for each test is asked whether it may be true, and whether it may
be false, for some row. What is not known may be anything. So a file is left out only where its statistics prove that no row matches.
"""

from __future__ import annotations

import functools
import operator
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.kernels.arrays.array_types import Mask
from pyhudi.read.filter.condition import OPPOSITE, And, Compare, Condition, Constant, In, IsNull, Not, Operand, Or, StartsWith

_SYMBOLS: Mapping[str, Callable[..., Any]] = {"<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal, "=": pc.equal}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Statistics of one operand, one entry for each file.

    `low` and `high` are arrays of the operand's type, null where nothing is known. `has_values` is False where all values
    are known to be null, `has_nulls` where none is. NaN may be among the values only where `high` is null.
    """

    low: pa.Array
    high: pa.Array
    has_values: Mask
    has_nulls: Mask


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Where a condition may be true for some row, and where it may be false for some row."""

    true: Mask
    false: Mask


def may_match(condition: Condition, bounds: Mapping[Operand, Bounds], count: int, *, nan_is_greatest: bool) -> Mask:
    """Return, for each of `count` files, False where no row can make the condition true.

    Args:
        condition: the filter.
        bounds: statistics of the operands; one without is not known at all.
        count: how many files there are; all bounds have so many entries.
        nan_is_greatest: whoever evaluates the filter takes NaN for greater than all numbers and equal to itself, as Spark
            does; otherwise it compares with nothing, as in Arrow.
    """
    return _Evaluation(bounds, count, nan_is_greatest).of(condition).true


class _Evaluation:
    def __init__(self, bounds: Mapping[Operand, Bounds], count: int, nan_is_greatest: bool) -> None:
        self._bounds = bounds
        self._all = np.ones(count, dtype=bool)
        self._none = np.zeros(count, dtype=bool)
        self._nan_is_greatest = nan_is_greatest

    def of(self, condition: Condition) -> _Verdict:
        match condition:
            case And(parts):
                verdicts = [self.of(part) for part in parts]
                return _Verdict(_reduce(operator.and_, verdicts, "true"), _reduce(operator.or_, verdicts, "false"))
            case Or(parts):
                verdicts = [self.of(part) for part in parts]
                return _Verdict(_reduce(operator.or_, verdicts, "true"), _reduce(operator.and_, verdicts, "false"))
            case Not(part):
                inner = self.of(part)
                return _Verdict(inner.false, inner.true)
            case Constant(value):
                return _Verdict(self._all if value else self._none, self._all if value is False else self._none)
            case Compare() | In() | StartsWith() | IsNull() if condition.operand in self._bounds:
                return self._test(condition, self._bounds[condition.operand])
        return _Verdict(self._all, self._all)

    def _test(self, condition: Compare | In | StartsWith | IsNull, bounds: Bounds) -> _Verdict:
        match condition:
            case IsNull():
                return _Verdict(bounds.has_nulls, bounds.has_values)
            case Compare(_, symbol, value):
                if not value.is_valid:
                    return _Verdict(self._none, self._none)
                return _Verdict(
                    self._compare_bounds(bounds, symbol, value), self._compare_bounds(bounds, OPPOSITE[symbol], value, negated=True)
                )
            case In(_, values, knows_all):
                return _Verdict(self._among(bounds, values), self._not_among(bounds, values) if knows_all else self._none)
            case StartsWith(_, prefix):
                return _Verdict(self._begins(bounds, prefix), self._begins_otherwise(bounds, prefix))

    def _compare_bounds(self, bounds: Bounds, symbol: str, value: pa.Scalar, *, negated: bool = False) -> Mask:
        """Return where the comparison may hold; `negated` asks where the opposite one may fail, which NaN makes another question."""
        if pt.is_floating(value.type) and np.isnan(value.as_py()):
            return bounds.has_values
        try:
            possible = self._within(bounds, symbol, value)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            return bounds.has_values  # the value is of a type that does not compare with the column's
        if pt.is_floating(bounds.low.type) and self._is_open_to_nan(symbol, negated=negated):
            possible = possible | _mask(bounds.high.is_null())
        return bounds.has_values & possible

    def _is_open_to_nan(self, symbol: str, *, negated: bool) -> bool:
        """Tell whether NaN would answer the question with yes."""
        if self._nan_is_greatest:
            return symbol in (">", ">=", "!=")
        return symbol == "!=" if not negated else symbol != "="

    def _within(self, bounds: Bounds, symbol: str, value: pa.Scalar) -> Mask:
        match symbol:
            case "=":
                return _test(bounds.low, "<=", value) & _test(bounds.high, ">=", value)
            case "!=":
                return ~(_test(bounds.low, "=", value, unknown=False) & _test(bounds.high, "=", value, unknown=False))
            case "<" | "<=":
                return _test(bounds.low, symbol, value)
        return _test(bounds.high, symbol, value)

    def _among(self, bounds: Bounds, values: pa.Array) -> Mask:
        if not len(values):
            return self._none
        if pt.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
            return bounds.has_values
        if values.type != bounds.low.type:
            return bounds.has_values
        known = sorted(set(as_numbers(values).to_pylist()))
        pairs = zip(as_numbers(bounds.low).to_pylist(), as_numbers(bounds.high).to_pylist(), strict=True)
        between: Mask = np.array([_lies_between(known, low, high) for low, high in pairs], dtype=bool)
        return bounds.has_values & between

    def _not_among(self, bounds: Bounds, values: pa.Array) -> Mask:
        """Return where a value may be none of these: not where all are one of them."""
        if values.type != bounds.low.type or not len(values):
            return bounds.has_values
        only = _mask(pc.and_(pc.equal(bounds.low, bounds.high), pc.is_in(bounds.low, values)).fill_null(False))
        return bounds.has_values & ~only

    def _begins(self, bounds: Bounds, prefix: str) -> Mask:
        """Return where a text with the prefix may be: not above all strings, nor below all that begin so."""
        if not pt.is_string(bounds.low.type):
            return bounds.has_values
        low = _test(pc.utf8_slice_codeunits(bounds.low, 0, len(prefix)), "<=", pa.scalar(prefix))
        return bounds.has_values & low & _test(bounds.high, ">=", pa.scalar(prefix))

    def _begins_otherwise(self, bounds: Bounds, prefix: str) -> Mask:
        """Return where a text without the prefix may be: not between two that have it."""
        if not pt.is_string(bounds.low.type):
            return bounds.has_values
        both = pc.and_(pc.starts_with(bounds.low, prefix), pc.starts_with(bounds.high, prefix))
        return bounds.has_values & ~_mask(both.fill_null(False))


def as_numbers(values: pa.Array) -> pa.Array:
    """Return days and timestamps as whole numbers, other values as they are: Arrow has dates that Python has not."""
    if not pt.is_date32(values.type) and not pt.is_timestamp(values.type):
        return values
    return values.cast(pa.int32() if pt.is_date32(values.type) else pa.int64())


def _lies_between(ascending: list[Any], low: Any, high: Any) -> bool:
    """Tell whether one of the values is from `low` to `high`; None is no bound."""
    index = 0 if low is None else bisect_left(ascending, low)
    return index < len(ascending) and (high is None or bool(ascending[index] <= high))


def _test(bounds: pa.Array, symbol: str, value: pa.Scalar, *, unknown: bool = True) -> Mask:
    return _mask(_SYMBOLS[symbol](bounds, value).fill_null(unknown))


def _mask(booleans: pa.BooleanArray) -> Mask:
    return np.asarray(booleans.to_numpy(zero_copy_only=False), dtype=bool)


def _reduce(how: Callable[[Mask, Mask], Mask], verdicts: list[_Verdict], name: str) -> Mask:
    return functools.reduce(how, (getattr(one, name) for one in verdicts))
