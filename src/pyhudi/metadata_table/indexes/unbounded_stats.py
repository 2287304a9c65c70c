"""Bounds that rule nothing out, for files and partitions of which no more is known.

Apache Hudi passes over a partition without a record, or with one that has no bounds, as soon as another partition has some (seen with
1.2.0). What is not known is therefore said as bounds that hold every value. NaN as upper bound would hold itself, too, but Apache Hudi
then finds nothing at all: with infinity it misses only what is asked for as `= NaN`.
"""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal

from pyhudi.metadata_table.format.record import ValueType

_EPOCH = date(1970, 1, 1).toordinal()
_FIRST_DAY, _LAST_DAY = date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH
_SECONDS_A_DAY = 86_400
#: The greatest text, for all but those that begin with nothing but the last code point.
_GREATEST_TEXT, _GREATEST_BYTES = "\U0010ffff" * 16, b"\xff" * 64
_PER_SECOND = {
    ValueType.TIMESTAMP_MILLIS: 1_000,
    ValueType.LOCAL_TIMESTAMP_MILLIS: 1_000,
    ValueType.TIMESTAMP_MICROS: 1_000_000,
    ValueType.LOCAL_TIMESTAMP_MICROS: 1_000_000,
}
_FIXED: dict[ValueType, tuple[object, object]] = {
    ValueType.BOOLEAN: (False, True),
    ValueType.INT: (-(2**31), 2**31 - 1),
    **dict.fromkeys((ValueType.LONG, ValueType.TIMESTAMP_NANOS, ValueType.LOCAL_TIMESTAMP_NANOS), (-(2**63), 2**63 - 1)),
    ValueType.FLOAT: (-math.inf, math.inf),
    ValueType.DOUBLE: (-math.inf, math.inf),
    ValueType.STRING: ("", _GREATEST_TEXT),
    ValueType.BYTES: (b"", _GREATEST_BYTES),
    ValueType.FIXED: (b"", _GREATEST_BYTES),
    ValueType.UUID: ("", _GREATEST_TEXT),
    ValueType.DATE: (_FIRST_DAY, _LAST_DAY),
    ValueType.TIME_MILLIS: (0, _SECONDS_A_DAY * 1_000),
    ValueType.TIME_MICROS: (0, _SECONDS_A_DAY * 1_000_000),
}


def widest_bounds(kind: ValueType, info: str | None) -> tuple[object, object]:
    """Return bounds between which all values of a type lie; `info` is precision and scale of decimals.

    Example:
        >>> widest_bounds(ValueType.DECIMAL, "4,2")
        (Decimal('-99.99'), Decimal('99.99'))
    """
    if kind is ValueType.DECIMAL:
        precision, scale = (int(part) for part in (info or "38,0").split(","))
        digits = (9,) * precision
        return Decimal((1, digits, -scale)), Decimal((0, digits, -scale))
    if kind in _PER_SECOND:
        unit = _SECONDS_A_DAY * _PER_SECOND[kind]
        return _FIRST_DAY * unit, (_LAST_DAY + 1) * unit - 1
    return _FIXED[kind]
