"""One value as the text that Hudi makes of it in record keys and partition paths: the reference, slow and obvious.

Rules: what Java prints for the value (`float_text`, `BigDecimal.toString`, `LocalDate.toString`); a timestamp is
the number that is stored, microseconds since the epoch (observed with Apache Hudi 1.2.0), or what a clock shows where
the table says so (`hoodie.datasource.write.keygenerator.consistent.logical.timestamp.enabled`).
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from pyhudi.javacompat.date_pattern import parse_pattern
from pyhudi.javacompat.date_text import date_text
from pyhudi.javacompat.float_text import float_text
from pyhudi.javacompat.zones import LOCAL_ZONE, Zone

_CLOCK = parse_pattern("yyyy-MM-dd HH:mm:ss.SSS")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - only differences to it are used
_MICROSECOND = timedelta(microseconds=1)


def value_text(value: Any, *, single_precision: bool = False, timestamps_as_text: bool = False) -> str | None:
    """Return the text of one value, or None for null.

    Args:
        value: text, number, boolean, decimal, date, datetime (with or without a zone), or bytes.
        single_precision: the value is a float of 32 bits.
        timestamps_as_text: a datetime with a zone is what a clock on this machine shows; one without stays a number.

    Raises:
        TypeError: there is no text for values of this kind.

    Example:
        >>> value_text(1e10), value_text(True), value_text(date(2024, 1, 15))
        ('1.0E10', 'true', '2024-01-15')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return float_text(value, single_precision=single_precision)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, datetime):
        if timestamps_as_text and value.tzinfo is not None:
            return clock_text(timestamp_millis(value), LOCAL_ZONE)
        return str(_micros(value))
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    raise TypeError(f"no key text for a value of type {type(value).__name__}")


def timestamp_millis(value: datetime) -> int:
    """Return milliseconds since the epoch; microseconds are cut off towards zero, as Hudi does."""
    micros = _micros(value)
    return micros // 1000 if micros >= 0 else -(-micros // 1000)


def clock_text(millis: int, zone: Zone) -> str:
    """Return what `java.sql.Timestamp` prints: the time on the clocks of a zone, without zeroes at the end of the fraction.

    Example:
        >>> clock_text(1705311000120, Zone("UTC", 0)), clock_text(0, Zone("UTC", 0))
        ('2024-01-15 09:30:00.12', '1970-01-01 00:00:00.0')
    """
    whole, _, fraction = date_text(_CLOCK, millis, zone).rpartition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"


def _micros(value: datetime) -> int:
    offset = value.utcoffset() or timedelta()
    return (value.replace(tzinfo=None) - offset - _EPOCH) // _MICROSECOND
