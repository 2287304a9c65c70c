"""One value as the text that Hudi makes of it in record keys and partition paths: the reference, slow and obvious.

Rules: what Java prints for the value (`Double.toString`, `BigDecimal.toString`, `LocalDate.toString`); a timestamp is
the number that is stored, microseconds since the epoch (observed with Apache Hudi 1.2.0).
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - only differences to it are used
_MICROSECOND = timedelta(microseconds=1)


def value_text(value: Any, *, single_precision: bool = False) -> str | None:
    """Return the text of one value, or None for null.

    Args:
        value: text, number, boolean, decimal, date, or datetime (with or without a zone).
        single_precision: the value is a float of 32 bits.

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
        offset = value.utcoffset() or timedelta()
        return str((value.replace(tzinfo=None) - offset - _EPOCH) // _MICROSECOND)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"no key text for a value of type {type(value).__name__}")


def float_text(value: float, *, single_precision: bool = False) -> str:
    """Return a floating point number as Java prints it: the shortest digits that name it, with an exponent from 10^7
    and below 10^-3.

    Example:
        >>> float_text(0.0001), float_text(100.0), float_text(0.1, single_precision=True)
        ('1.0E-4', '100.0', '0.1')
    """
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    exact = np.float32(value) if single_precision else np.float64(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return np.format_float_positional(exact, unique=True, trim="0")
    mantissa, exponent = np.format_float_scientific(exact, unique=True, trim="0").split("e")
    return f"{mantissa}E{int(exponent)}"
