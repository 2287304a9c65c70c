"""What a literal of a filter means when it is compared with a column: a value of the column's type, and the comparison that says the same
with it.

Rules: Spark compares a whole number or decimal with `1.5` as decimals, exactly. Where no value of the column's type is such a number, the
comparison goes over to the nearest one that is, or holds for all values or for none.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Final, TypeAlias, TypeGuard

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from pyhudi.errors import UsageError

#: Literals as the parser has them: `None` is NULL, a date and a timestamp are strings.
Literal: TypeAlias = str | int | Decimal | bool | None
_EQUAL: Final = ("=", "==")
_UNEQUAL: Final = ("<>", "!=")
#: More digits than any type has.
_FAR: Final = 100
#: How a time of day with an offset from UTC ends.
_OFFSET: Final = re.compile(r":.*(Z|[+-]\d\d(:?\d\d)?)$")


def compare_literals(symbol: str, value: Literal, kind: pa.DataType) -> tuple[str, pa.Scalar] | bool:
    """Return the comparison with a value of the column's type that says the same; a truth where it says the same of all values.

    Args:
        symbol: one of `= == <> != < <= > >=`.
        value: the literal; nothing is known of a comparison with NULL.
        kind: type of the column.

    Raises:
        UsageError: the literal is no value that the column could be compared with.

    Example:
        >>> compare_literals("<", Decimal("1.5"), pa.int64()), compare_literals("=", Decimal("1.5"), pa.int64())
        (('<', <pyarrow.Int64Scalar: 2>), False)
    """
    if is_number(value) and (pt.is_integer(kind) or pt.is_decimal(kind)):
        return _on_grid(symbol, Fraction(_limit_precision(value)), kind)
    if is_number(value) and pt.is_string(kind) and symbol not in (*_EQUAL, *_UNEQUAL):
        raise UsageError(
            f"The filter asks whether strings are less or greater than the number {value}, where '10' comes before '9': compare them with"
            f" '{value}', or cast the column, as in CAST(column AS BIGINT) {symbol} {value}"
        )
    scalar = scalar_of(value, kind)
    if pt.is_floating(kind) and scalar.is_valid and math.isnan(scalar.as_py()):
        return symbol in _UNEQUAL  # Arrow holds it for greater than nothing, and its statistics do not
    return symbol, scalar


def is_number(value: Literal) -> TypeGuard[int | Decimal]:
    """Tell whether a literal is a number.

    Example:
        >>> is_number(5), is_number(True), is_number("5")
        (True, False, False)
    """
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def members(values: list[Literal], kind: pa.DataType) -> pa.Array:
    """Return those of the literals of a list, NULLs left out, that a column can be equal to; errors as in `compare_literals`."""
    compared_with = (compare_literals("=", value, kind) for value in values if value is not None)
    scalars = [same[1] for same in compared_with if isinstance(same, tuple)]
    if not pt.is_floating(kind):
        return pa.array(scalars, kind)  # of scalars: Arrow has dates that Python has not
    matches = [one for one in (scalar.as_py() for scalar in scalars) if _is_exact(one, kind)]
    if 0.0 in matches:
        matches += [0.0, -0.0]  # one number in SQL; Arrow looks for each by its bits
    return pa.array(matches, kind)


def scalar_of(value: Literal, kind: pa.DataType) -> pa.Scalar:
    """Return a literal as a value of a type; errors as in `compare_literals`."""
    try:
        if value is None:
            return pa.scalar(None, kind)
        if isinstance(value, str) and pt.is_timestamp(kind):
            return timestamp_of(value, kind)
        if is_number(value) and pt.is_floating(kind):
            return pa.scalar(float(Decimal(value)))  # of 64 bits, which Spark compares floats as
        return pa.scalar(str(value).lower() if isinstance(value, bool) else str(value)).cast(kind)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
        raise UsageError(f"The filter compares a column of type {kind} with {value!r}, which is no such value: {error}") from None


def timestamp_of(text: str, kind: pa.DataType) -> pa.Scalar:
    """Return a timestamp; a text without offset is in UTC, as the values of the table are. One of local time takes no offset.

    Raises:
        pa.ArrowException: the text is none.

    Example:
        >>> timestamp_of("2026-01-01T01:00:00+01:00", pa.timestamp("us", "UTC")) == timestamp_of("2026-01-01", pa.timestamp("us", "UTC"))
        True
    """
    if kind.tz is None:
        return pa.scalar(text).cast(pa.timestamp("us"))
    if _OFFSET.search(text):
        try:
            return pa.scalar(text).cast(pa.timestamp("us", "UTC")).cast(kind)
        except pa.ArrowException:  # whose message asks for the offset that the text has
            raise pa.ArrowInvalid("it has an offset from UTC, but no date and time such as 2026-01-31T10:00:00 before it") from None
    return pa.scalar(pa.scalar(text).cast(pa.timestamp("us")).value, pa.timestamp("us", "UTC")).cast(kind)


def _on_grid(symbol: str, value: Fraction, kind: pa.DataType) -> tuple[str, pa.Scalar] | bool:
    """Return a comparison with the nearest value that the type has, whose values are whole numbers of its last digit."""
    scale, lowest, highest = _range(kind)
    below, above = math.floor(value * 10**scale), math.ceil(value * 10**scale)
    if symbol in _EQUAL or symbol in _UNEQUAL:
        return (symbol, _unit(below, scale, kind)) if below == above and lowest <= below <= highest else symbol in _UNEQUAL
    # x < 1.5 is x < 2, and x <= 1.5 is x <= 1.
    bound = above if symbol in ("<", ">=") else below
    if lowest <= bound <= highest:
        return symbol, _unit(bound, scale, kind)
    return bool(bound < lowest) != symbol.startswith("<")


def _range(kind: pa.DataType) -> tuple[int, int, int]:
    """Return how many digits are behind the point, and the least and greatest value without point."""
    if pt.is_decimal(kind):
        most = 10**kind.precision - 1
        return kind.scale, -most, most
    bounds = np.iinfo(str(kind))  # `to_pandas_dtype` of older pyarrow imports pandas
    return 0, int(bounds.min), int(bounds.max)


def _unit(number: int, scale: int, kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale)) if scale else number, kind)


def _limit_precision(value: int | Decimal) -> int | Decimal:
    """Return a number that is greater or less than all of any type as one that is not so long."""
    if isinstance(value, int) or not value or -_FAR < value.adjusted() < _FAR:
        return value
    return Decimal(1).copy_sign(value).scaleb(_FAR if value.adjusted() > 0 else -_FAR)


def _is_exact(value: object, kind: pa.DataType) -> bool:
    """Tell whether a floating point type has a number: one of 32 bits has 0.5, and not 0.1."""
    with np.errstate(over="ignore"):
        return not pt.is_float32(kind) or float(np.float32(value)) == value  # type: ignore[arg-type]
