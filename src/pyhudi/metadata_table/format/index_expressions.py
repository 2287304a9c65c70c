"""Functions of a column that an expression index is made of, column by column and equal to what Spark computes.

Rules: `HoodieExpressionIndex`, `ExpressionIndexSparkFunctions`; Spark's SQL functions of these names. Where equality is not certain
there is no result, and with it no record: a reader then keeps the file. A single value without result is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.metadata_table.format.index_definitions import ZONE_OPTION, IndexDefinition

IDENTITY = "identity"

_PATTERNS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_PATTERN = re.compile(r"yyyy|MM|dd|HH|mm|ss|[^A-Za-z']")
#: Of `from_unixtime`.
DEFAULT_PATTERN = "yyyy-MM-dd HH:mm:ss"
#: Arguments that are whole numbers.
NUMBERS = ("pos", "len", "days")
_FIRST_YEAR, _LAST_YEAR = 1000, 9999
#: Days from 1970 on, about 30,000 years, up to which Arrow knows the year: beyond, its 16 bits begin again.
_LAST_DAY = 11_000_000
#: What a day has of each unit of timestamps.
PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_SPACE = " "
_WHOLE = re.compile(r"[+-]?\d{1,20}", re.ASCII)
_SMALLEST, _GREATEST = -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Expression:
    """A function with its arguments, as an index is defined."""

    function: str
    options: Mapping[str, str]

    @classmethod
    def of(cls, definition: IndexDefinition) -> Expression:
        """Return the expression of an index."""
        return cls(definition.function.lower() or IDENTITY, definition.options)

    @property
    def is_known(self) -> bool:
        """True when there are columns of which it is computed here."""
        return self.function in _FUNCTIONS

    def result_type(self, kind: pa.DataType) -> pa.DataType | None:
        """Return the type of its values for a column of this type, None when it is not computed of such columns."""
        result = self.of_column(pa.array([], kind))
        return None if result is None else result.type

    def of_column(self, column: pa.Array) -> pa.Array | None:
        """Return its value for each of a column's, null for one without result; None when it is not computed of them."""
        function = _FUNCTIONS.get(self.function)
        return None if function is None else function(column, self.options)


_Function: TypeAlias = Callable[[pa.Array, Mapping[str, str]], pa.Array | None]


def _identity(column: pa.Array, _: Mapping[str, str]) -> pa.Array | None:
    return None if pt.is_nested(column.type) else column


def _text_function(of_ascii: Callable[[pa.Array], pa.Array], of_text: Callable[[str], str]) -> _Function:
    """Java's mapping of letters beyond ASCII is Python's, not Arrow's: it knows the context and letters that become several."""

    def function(column: pa.Array, _: Mapping[str, str]) -> pa.Array | None:
        if not pt.is_string(column.type):
            return None
        if pc.all(pc.string_is_ascii(column)).as_py() in (True, None):
            return of_ascii(column)
        return pa.array([None if text is None else of_text(text) for text in column.to_pylist()], pa.string())

    return function


def _trim(of_text: Callable[..., pa.Array]) -> _Function:
    def function(column: pa.Array, options: Mapping[str, str]) -> pa.Array | None:
        return of_text(column, characters=_SPACE) if pt.is_string(column.type) and "trimString" not in options else None

    return function


def _length(column: pa.Array, _: Mapping[str, str]) -> pa.Array | None:
    return pc.utf8_length(column).cast(pa.int32()) if pt.is_string(column.type) else None


def _substring(column: pa.Array, options: Mapping[str, str]) -> pa.Array | None:
    begin, count = whole_number(options.get("pos")), whole_number(options.get("len"))
    if not pt.is_string(column.type) or begin is None or begin < 1 or count is None or count < 0:
        return None
    return pc.utf8_slice_codeunits(column, begin - 1, begin - 1 + count)


def _field(of_time: Callable[[pa.Array], pa.Array], *, of_dates: bool = True) -> _Function:
    def function(column: pa.Array, options: Mapping[str, str]) -> pa.Array | None:
        local = _local(column, options)
        return None if local is None or (pt.is_date(local.type) and not of_dates) else of_time(local).cast(pa.int32())

    return function


def _date_format(column: pa.Array, options: Mapping[str, str]) -> pa.Array | None:
    local = _local(column, options)
    return None if local is None else _format_date(local, options.get("format"))


def _from_unixtime(column: pa.Array, options: Mapping[str, str]) -> pa.Array | None:
    if not pt.is_integer(column.type):
        return None
    local = _local(column.cast(pa.int64()).cast(pa.timestamp("s", "UTC")), options)
    return None if local is None else _format_date(local, options.get("format", DEFAULT_PATTERN))


def _days_later(sign: int) -> _Function:
    def function(column: pa.Array, options: Mapping[str, str]) -> pa.Array | None:
        days = whole_number(options.get("days"))
        if days is None or not pt.is_date32(column.type):
            return None
        # As Spark's, the sum of 32 bits begins again beyond them.
        add = pc.add if sign > 0 else pc.subtract
        return add(column.cast(pa.int32()), pa.scalar(days, pa.int32())).cast(pa.date32())

    return function


def _local(column: pa.Array, options: Mapping[str, str]) -> pa.Array | None:
    """Return dates, or times as the clock of the index's zone shows them, null beyond `_LAST_DAY`; None where the zone is not known."""
    kind = column.type
    if not (pt.is_date32(kind) or pt.is_timestamp(kind)):
        return None
    near = _near(column)
    if pt.is_date32(kind) or kind.tz is None:
        return near
    zone = options.get(ZONE_OPTION)
    try:
        return pc.local_timestamp(near.cast(pa.timestamp(kind.unit, zone))) if zone else None
    except pa.ArrowInvalid:  # a zone that Arrow does not know
        return None


def _near(column: pa.Array) -> pa.Array:
    """Return dates or times without those whose year Arrow does not know."""
    kind = column.type
    if pt.is_timestamp(kind) and kind.unit == "ns":
        return column  # 64 bits of nanoseconds are some 300 years
    last, width = (_LAST_DAY, pa.int32()) if pt.is_date32(kind) else (_LAST_DAY * PER_DAY[kind.unit], pa.int64())
    numbers = column.cast(width)
    is_near = pc.and_(pc.greater_equal(numbers, pa.scalar(-last, width)), pc.less_equal(numbers, pa.scalar(last, width)))
    return pc.if_else(is_near, column, pa.scalar(None, kind))


def _format_date(local: pa.Array, pattern: str | None) -> pa.Array | None:
    if pattern is None or "".join(_PATTERN.findall(pattern)) != pattern:
        return None
    seconds = pc.floor_temporal(local.cast(pa.timestamp("us")), unit="second").cast(pa.timestamp("s"))
    years = pc.year(seconds)
    is_plain = pc.and_(pc.greater_equal(years, _FIRST_YEAR), pc.less_equal(years, _LAST_YEAR))
    text = "".join(_PATTERNS.get(part, part.replace("%", "%%")) for part in _PATTERN.findall(pattern))
    formatted = pc.strftime(pc.if_else(is_plain, seconds, pa.scalar(None, seconds.type)), format=text)
    if pc.all(is_plain, min_count=0).as_py() is not False:
        return formatted
    return pa.array(
        [
            _far_text(time, pattern) if plain is False else text
            for text, time, plain in zip(formatted.to_pylist(), seconds, is_plain.to_pylist(), strict=True)
        ],
        pa.string(),
    )


def _far_text(time: pa.Scalar, pattern: str) -> str:
    """Return the text of a time whose year has not four digits."""
    year = pc.year(time).as_py()
    signed = f"+{year}" if year > _LAST_YEAR else f"{'-' if year < 0 else ''}{abs(year):04d}"
    of_time = {"MM": pc.month, "dd": pc.day, "HH": pc.hour, "mm": pc.minute, "ss": pc.second}
    parts = {"yyyy": signed, **{part: f"{field(time).as_py():02d}" for part, field in of_time.items()}}
    return "".join(parts.get(part, part) for part in _PATTERN.findall(pattern))


def whole_number(text: str | None) -> int | None:
    """Return an argument as the number of 32 bits that Apache Hudi reads it as; None when it is none."""
    number = int(text) if text is not None and _WHOLE.fullmatch(text) else None
    return number if number is not None and _SMALLEST <= number <= _GREATEST else None


def is_zone(name: str) -> bool:
    """Tell whether times can be shown by the clock of a time zone."""
    return _local(pa.array([0], pa.timestamp("s", "UTC")), {ZONE_OPTION: name}) is not None


_FUNCTIONS: Mapping[str, _Function] = {
    IDENTITY: _identity,
    "lower": _text_function(pc.ascii_lower, str.lower),
    "upper": _text_function(pc.ascii_upper, str.upper),
    "trim": _trim(pc.utf8_trim),
    "ltrim": _trim(pc.utf8_ltrim),
    "rtrim": _trim(pc.utf8_rtrim),
    "length": _length,
    "substring": _substring,
    "year": _field(pc.year),
    "month": _field(pc.month),
    "day": _field(pc.day),
    "hour": _field(pc.hour, of_dates=False),
    "date_format": _date_format,
    "from_unixtime": _from_unixtime,
    "date_add": _days_later(1),
    "date_sub": _days_later(-1),
}
#: The functions that are computed here.
FUNCTIONS = tuple(_FUNCTIONS)
