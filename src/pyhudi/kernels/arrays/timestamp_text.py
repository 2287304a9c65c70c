"""Strings of timestamps, for whole columns: those in partition paths of the kind TIMESTAMP, and timestamps in keys as a clock shows them.

The rules on one value: `pyhudi.keygen.timestamp_partition`, `pyhudi.keygen.value_text`. Timestamps that a pattern writes alike are written
once: columns
are cut to the fineness of the pattern, on the clocks of its zone, before any text is made.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import KeyFieldError
from pyhudi.javacompat.calendar import DAY_MS
from pyhudi.javacompat.date_pattern import Letters
from pyhudi.javacompat.date_text import date_text, fineness
from pyhudi.javacompat.zones import LOCAL_ZONE, UTC_ZONE, Zone
from pyhudi.kernels.arrays.array_types import Numbers
from pyhudi.kernels.arrays.date_columns import read_dates
from pyhudi.keygen.timestamp_partition import TimestampText
from pyhudi.keygen.value_text import clock_text

_LONG: Final = np.iinfo(np.int64)
_NANOS_OF_MILLI: Final = 1_000_000
#: From 1972 to 2036 all zones are off UTC by whole minutes, and Arrow knows their rules; it forgets summer time from 2038 on.
_KNOWN_FROM: Final = 63_072_000_000
_KNOWN_UNTIL: Final = 2_114_380_800_000
_SECOND_MS: Final = 1000
_MINUTE_MS: Final = 60_000


def timestamp_strings(column: pa.Array, settings: TimestampText, field: str, first_row: int = 0) -> tuple[Numbers, list[str | None]]:
    """Return a code for each row and the text of each code.

    Args:
        column: values of a plain type.
        settings: how they become text.
        field: the column's name, for messages.
        first_row: number of the first row, for messages.

    Raises:
        KeyFieldError: a value is no moment by the settings; names row, field and value.
    """
    kind = column.type
    if pt.is_timestamp(kind):
        return _of_millis(_floor_divide(_numbers(column), 1000), column, settings, field)
    is_number = pt.is_integer(kind) or pt.is_floating(kind) or pt.is_date(kind)
    if is_number and settings.unit is not None:
        return _of_millis(_in_millis(_numbers(column), settings.unit), column, settings, field)
    if not (is_number or pt.is_string(kind) or pt.is_decimal(kind) or pt.is_null(kind)):
        raise KeyFieldError(f"Field '{field}' has type {kind}, which is no moment for the partition path.")
    if pt.is_string(kind) and (read := _read_at_once(column, settings)) is not None:
        return _of_millis(read, column, settings, field, settings.output_zone or settings.input_zone)
    encoded = column.dictionary_encode(null_encoding="encode")
    codes = encoded.indices.to_numpy().astype(np.int64)
    values = encoded.dictionary.to_pylist()
    rows = first_rows(codes, len(values))
    strings = [settings.text(value, field=field, row=first_row + row) for value, row in zip(values, rows, strict=True)]
    return codes, list(strings)


def _read_at_once(column: pa.StringArray, settings: TimestampText) -> Numbers | None:
    """Return the timestamps of a column of strings, 0 for a null; None when some of them must be read one by one."""
    if not settings.inputs or (settings.output_zone or settings.input_zone) is None:
        return None
    strings = pc.drop_null(column)
    dates = read_dates(strings, settings.inputs[0], settings.input_zone)
    if dates is None or not dates[1].all():
        return None
    millis = np.zeros(len(column), np.int64)
    millis[~_nulls(column)] = dates[0]
    return millis


def local_time_strings(column: pa.TimestampArray) -> pa.StringArray:
    """Return timestamps as a clock on this machine shows them."""
    encoded = pa.array(_floor_divide(_numbers(column), 1000), mask=_nulls(column)).dictionary_encode()
    return pa.array([clock_text(millis, LOCAL_ZONE) for millis in encoded.dictionary.to_pylist()], pa.string()).take(encoded.indices)


def first_rows(codes: Numbers, count: int) -> list[int]:
    """Return the first row of each code; every code below `count` is used."""
    firsts = np.empty(count, np.int64)
    firsts[codes[::-1]] = np.arange(len(codes))[::-1]
    return [int(row) for row in firsts]


def _of_millis(
    millis: Numbers, column: pa.Array, settings: TimestampText, field: str, display_zone: Zone | None = None
) -> tuple[Numbers, list[str | None]]:
    """Return codes and strings of timestamps; nulls have one of their own."""
    zone = display_zone or settings.output_zone or LOCAL_ZONE
    local = _on_clocks(millis, zone, settings)
    if local is None:  # each timestamp by itself: offsets in the path, or the ends of time
        retained = millis
    else:
        retained, zone = local - local % (fineness(settings.output) or DAY_MS), UTC_ZONE
    encoded = pa.array(retained, mask=_nulls(column)).dictionary_encode(null_encoding="encode")
    written: list[str | None] = [
        settings.text(None, field=field, row=0) if value is None else date_text(settings.output, value, zone)
        for value in encoded.dictionary.to_pylist()
    ]
    return encoded.indices.to_numpy().astype(np.int64), written


def _on_clocks(millis: Numbers, zone: Zone, settings: TimestampText) -> Numbers | None:
    """Return what clocks in a zone show, as milliseconds since 1970-01-01T00:00 there; None when that does not say the text."""
    if any(isinstance(token, Letters) and token.letter == "Z" for token in settings.output):
        return None
    offset = abs(zone.fixed or 0) or DAY_MS
    if len(millis) and (int(millis.min()) < _LONG.min + offset or int(millis.max()) > _LONG.max - offset):
        return None
    if zone.fixed is not None:
        return millis + zone.fixed
    known = (millis >= _KNOWN_FROM) & (millis < _KNOWN_UNTIL)
    if not zone.name:
        return _by_slots(_by_slots(millis, ~known, _SECOND_MS, zone), known, _MINUTE_MS, zone)
    timestamps = pa.array(np.where(known, millis, 0)).cast(pa.timestamp("ms", zone.name))
    local_millis = pc.local_timestamp(timestamps).cast(pa.int64()).to_numpy()
    return np.where(known, local_millis, _by_slots(millis, ~known, _SECOND_MS, zone))


def _by_slots(millis: Numbers, chosen: npt.NDArray[np.bool_], slot: int, zone: Zone) -> Numbers:
    """Return timestamps with those chosen as a zone's clocks show them; the zone is asked once a slot."""
    slots, indices = np.unique(millis[chosen] // slot, return_inverse=True)
    offsets = np.array([zone.offset(int(begin) * slot) for begin in slots], np.int64)
    local_millis = millis.copy()
    local_millis[chosen] += offsets[indices] if len(offsets) else 0
    return local_millis


def _numbers(column: pa.Array) -> Numbers:
    """Return the whole numbers that Java's cast to `long` makes of a column; a null is 0."""
    if pt.is_floating(column.type):
        values = pc.fill_null(column, 0.0).to_numpy(zero_copy_only=False).astype(np.float64)
        whole = np.where(np.isnan(values), 0.0, np.trunc(values))
        least, most = whole < -(2.0**63), whole >= 2.0**63
        numbers = np.where(least | most, 0.0, whole).astype(np.int64)
        present: Numbers = np.where(most, _LONG.max, np.where(least, _LONG.min, numbers))
        return present
    plain: Any = column.cast(pa.int32()) if pt.is_date(column.type) else column
    epoch_units: Numbers = pc.fill_null(plain.cast(pa.int64()), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return epoch_units


def _in_millis(numbers: Numbers, unit: int) -> Numbers:
    """Return numbers of a unit in nanoseconds as milliseconds, cut towards zero and held within 64 bits."""
    if unit < _NANOS_OF_MILLI:
        return _floor_divide(numbers, _NANOS_OF_MILLI // unit)
    factor = unit // _NANOS_OF_MILLI
    limit = _LONG.max // factor
    present = np.clip(numbers, -limit, limit) * factor
    return np.where(numbers > limit, _LONG.max, np.where(numbers < -limit, _LONG.min, present))


def _floor_divide(numbers: Numbers, divisor: int) -> Numbers:
    rounded: Numbers = (numbers + np.where(numbers < 0, divisor - 1, 0)) // divisor
    return rounded


def _nulls(column: pa.Array) -> npt.NDArray[np.bool_]:
    nulls: npt.NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return nulls
