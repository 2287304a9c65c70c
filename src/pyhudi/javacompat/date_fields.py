"""Parts of a date put together to one time on a clock. Rules: `DateTimeParserBucket.computeMillis` of Joda-Time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyhudi.javacompat.calendar import (
    DAY_MS,
    date_of,
    day_of,
    days_in_month,
    days_in_year,
    first_day_of_week_year,
    week_of,
    weekday_of,
    weeks_in_week_year,
)

_HOUR_MS: Final = 3_600_000
_MINUTE_MS: Final = 60_000
_HALF_DAY_MS: Final = DAY_MS // 2
#: From the coarse to the fine; two letters on one line are two names of one part.
_ORDER: Final = {
    letter: rank
    for rank, letters in enumerate(("G", "C", "yY", "x", "M", "w", "D", "d", "e", "a", "Hk", "Kh", "m", "s", "S"))
    for letter in letters
}
_WITHOUT_YEAR: Final = frozenset("MwDde")
_YEAR_OF_LONE_DAYS: Final = 2000
_GREATEST_YEAR: Final = 292_278_993


class DateError(ValueError):
    """A text is no date by its pattern; the message completes "... is refused: "."""


@dataclass(frozen=True, slots=True)
class Part:
    """A number that a text has for a letter of the pattern; names count from 0 (eras, halves of a day) or 1."""

    letter: str
    value: int


def combine_fields(parts: Sequence[Part]) -> int:
    """Return the time that the parts make, in milliseconds since 1970-01-01T00:00 on the same clock.

    Raises:
        DateError: a part is out of its range.
    """
    ordered = sorted(parts, key=lambda part: _ORDER[part.letter])
    if ordered and ordered[0].letter in _WITHOUT_YEAR:
        ordered.insert(0, Part("y", _YEAR_OF_LONE_DAYS))
    millis = 0
    for part in ordered:
        millis = _FLOORS[part.letter](_put_field(part, millis))
    for part in ordered:  # again, since a coarse part may have changed what a finer one had set
        millis = _put_field(part, millis)
    return _FLOORS[ordered[-1].letter](millis) if ordered else 0


def _put_field(part: Part, millis: int) -> int:
    days, of_day = divmod(millis, DAY_MS)
    if part.letter in _DATE_SETTERS:
        return _DATE_SETTERS[part.letter](part.value, days) * DAY_MS + of_day
    return days * DAY_MS + _TIME_SETTERS[part.letter](part.value, of_day)


def _check_range(value: int, lowest: int, highest: int, what: str) -> int:
    if not lowest <= value <= highest:
        raise DateError(f"{what} {value} is not between {lowest} and {highest}")
    return value


def _set_year(value: int, days: int) -> int:
    _, month, day = date_of(days)
    year = _check_range(value, -_GREATEST_YEAR, _GREATEST_YEAR, "year")
    return day_of(year, month, min(day, days_in_month(year, month)))


def _set_year_of_era(value: int, days: int) -> int:
    year = _check_range(value, 1, _GREATEST_YEAR, "year of the era")
    return _set_year(year if date_of(days)[0] > 0 else 1 - year, days)


def _set_era(value: int, days: int) -> int:
    year = date_of(days)[0]
    return days if (year > 0) == bool(value) else _set_year(1 - year, days)


def _set_century(value: int, days: int) -> int:
    year = date_of(days)[0]
    of_era = year if year > 0 else 1 - year
    return _set_year_of_era(_check_range(value, 0, _GREATEST_YEAR // 100, "century") * 100 + of_era % 100, days)


def _set_week_year(value: int, days: int) -> int:
    year = _check_range(value, -_GREATEST_YEAR, _GREATEST_YEAR, "week year")
    week = min(week_of(days)[1], weeks_in_week_year(year))
    return first_day_of_week_year(year) + (week - 1) * 7 + weekday_of(days) - 1


def _set_month(value: int, days: int) -> int:
    year, _, day = date_of(days)
    month = _check_range(value, 1, 12, "month")
    return day_of(year, month, min(day, days_in_month(year, month)))


def _set_week(value: int, days: int) -> int:
    year, week = week_of(days)
    return days + 7 * (_check_range(value, 1, weeks_in_week_year(year), "week") - week)


def _set_day_of_year(value: int, days: int) -> int:
    year = date_of(days)[0]
    return day_of(year, 1, 1) + _check_range(value, 1, days_in_year(year), "day of the year") - 1


def _set_day(value: int, days: int) -> int:
    year, month, _ = date_of(days)
    return day_of(year, month, _check_range(value, 1, days_in_month(year, month), "day"))


def _set_weekday(value: int, days: int) -> int:
    return days + _check_range(value, 1, 7, "day of the week") - weekday_of(days)


def _set_hour_of_half(value: int, of_day: int) -> int:
    return of_day + (_check_range(value, 0, 11, "hour of half a day") - of_day // _HOUR_MS % 12) * _HOUR_MS


def _set_unit(unit: int, count: int, what: str) -> Callable[[int, int], int]:
    return lambda value, of_day: of_day + (_check_range(value, 0, count - 1, what) - of_day // unit % count) * unit


_set_hour = _set_unit(_HOUR_MS, 24, "hour")

_DATE_SETTERS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "G": _set_era, "C": _set_century, "y": _set_year, "Y": _set_year_of_era, "x": _set_week_year, "M": _set_month, "w": _set_week,
    "D": _set_day_of_year, "d": _set_day, "e": _set_weekday,
}  # fmt: skip
_TIME_SETTERS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "a": lambda value, of_day: of_day % _HALF_DAY_MS + value * _HALF_DAY_MS,
    "H": _set_hour,
    "k": lambda value, of_day: _set_hour(_check_range(value, 1, 24, "hour") % 24, of_day),
    "K": _set_hour_of_half,
    "h": lambda value, of_day: _set_hour_of_half(_check_range(value, 1, 12, "hour of half a day") % 12, of_day),
    "m": _set_unit(_MINUTE_MS, 60, "minute"),
    "s": _set_unit(1000, 60, "second"),
    "S": _set_unit(1, 1000, "millisecond"),
}


def _floor_of(unit: int) -> Callable[[int], int]:
    return lambda millis: millis - millis % unit


def _floor_year(millis: int) -> int:
    return day_of(date_of(millis // DAY_MS)[0], 1, 1) * DAY_MS


def _floor_week_year(millis: int) -> int:
    return first_day_of_week_year(week_of(millis // DAY_MS)[0]) * DAY_MS


def _floor_century(millis: int) -> int:
    year = date_of(millis // DAY_MS)[0]
    return day_of(year - year % 100, 1, 1) * DAY_MS


def _floor_month(millis: int) -> int:
    year, month, _ = date_of(millis // DAY_MS)
    return day_of(year, month, 1) * DAY_MS


def _floor_week(millis: int) -> int:
    days = millis // DAY_MS
    return (days - weekday_of(days) + 1) * DAY_MS


_FLOORS: Final[Mapping[str, Callable[[int], int]]] = {
    "G": lambda millis: day_of(1, 1, 1) * DAY_MS if date_of(millis // DAY_MS)[0] > 0 else millis,
    "C": _floor_century, "y": _floor_year, "Y": _floor_year, "x": _floor_week_year, "M": _floor_month, "w": _floor_week,
    "D": _floor_of(DAY_MS), "d": _floor_of(DAY_MS), "e": _floor_of(DAY_MS), "a": _floor_of(_HALF_DAY_MS), "H": _floor_of(_HOUR_MS),
    "k": _floor_of(_HOUR_MS), "K": _floor_of(_HOUR_MS), "h": _floor_of(_HOUR_MS), "m": _floor_of(_MINUTE_MS), "s": _floor_of(1000),
    "S": _floor_of(1),
}  # fmt: skip
