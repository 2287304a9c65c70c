"""The earliest and the latest event time of rows, for the statistics of a commit.

Rules: `WriteStatus.updateStatsForEventTime`: whole numbers, or texts of them, of 10 digits are seconds since 1970 and those of 13 digits
milliseconds; other values do not count. Timestamps and dates, which Apache Hudi leaves out, count as what they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.schema.field_paths import column_at, type_at

_DAY_MS: Final = 86_400_000
_SECONDS: Final = (1_000_000_000, 9_999_999_999)
_MILLIS: Final = (1_000_000_000_000, 9_999_999_999_999)


@dataclass(slots=True)
class EventTimes:
    """The earliest and the latest event time of the column `field`, in milliseconds since 1970; None before there is any.

    `field` is a column, or a field of structs by its dotted name.
    """

    field: str
    least: int | None = None
    greatest: int | None = None

    def extend(self, rows: pa.Table) -> None:
        """Take in rows."""
        for values in _millis(column_at(rows, self.field)):
            bounds = pc.min_max(values).as_py()
            if bounds["min"] is not None:
                self.least = bounds["min"] if self.least is None else min(self.least, bounds["min"])
                self.greatest = bounds["max"] if self.greatest is None else max(self.greatest, bounds["max"])


def has_event_time(schema: pa.Schema, field: str) -> bool:
    """Tell whether a field can hold event times: there is such a column of numbers, text, timestamps or dates.

    Example:
        >>> has_event_time(pa.schema({"at": pa.int64()}), "at"), has_event_time(pa.schema({"at": pa.bool_()}), "at")
        (True, False)
    """
    kind = type_at(schema, field)
    if kind is None:
        return False
    return bool(_is_text(kind) or pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _millis(column: pa.ChunkedArray) -> list[pa.ChunkedArray]:
    """Return the event times of a column in milliseconds, without its other values."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        return [column.cast(pa.timestamp("ms", kind.tz), safe=False).cast(pa.int64())]
    if pa.types.is_date(kind):
        return [pc.multiply(column.cast(pa.date32()).cast(pa.int32()).cast(pa.int64()), _DAY_MS)]
    if _is_text(kind):
        column = column.filter(pc.fill_null(pc.match_substring_regex(column, "^([0-9]{10}|[0-9]{13})$"), fill_value=False))
    numbers = column.cast(pa.int64())
    return [pc.multiply(_between(numbers, *_SECONDS), 1000), _between(numbers, *_MILLIS)]


def _between(numbers: pa.ChunkedArray, least: int, greatest: int) -> pa.ChunkedArray:
    return numbers.filter(pc.fill_null(pc.and_(pc.greater_equal(numbers, least), pc.less_equal(numbers, greatest)), fill_value=False))
