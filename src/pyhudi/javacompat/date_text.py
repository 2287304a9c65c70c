"""A moment as the text of a date pattern. Rules: `DateTimeFormat` and `DateTimeFormatterBuilder` of Joda-Time, English names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyhudi.javacompat.calendar import DAY_MS, date_of, day_of, week_of, weekday_of
from pyhudi.javacompat.date_fields import DateError
from pyhudi.javacompat.date_pattern import ERAS, HALF_DAYS, MONTHS, WEEKDAYS, Literal, Token
from pyhudi.javacompat.zones import UTC_ZONE, Zone, offset_text

_HOUR_MS: Final = 3_600_000
_MINUTE_MS: Final = 60_000
_FULL_NAME: Final = 4
_TWO_DIGITS: Final = 2
_MILLIS_DIGITS: Final = 3
#: The ends of time: milliseconds are numbers of 64 bits.
_FIRST_MS: Final = -(1 << 63)
_LAST_MS: Final = (1 << 63) - 1
#: What the letters tell apart, from coarse to fine, in milliseconds; letters that are not here are no finer than a day.
_FINENESS: Final = {"S": 1, "s": 1000, "m": _MINUTE_MS, **dict.fromkeys("HhKka", _HOUR_MS)}


@dataclass(frozen=True, slots=True)
class Clock:
    """What a clock in a zone shows at a timestamp."""

    days: int
    millis_of_day: int
    offset: int
    zone: Zone

    @property
    def year(self) -> int:
        """Astronomical year: 0 is 1 BC."""
        return date_of(self.days)[0]

    @property
    def year_of_era(self) -> int:
        """Year in its era."""
        return self.year if self.year > 0 else 1 - self.year

    @property
    def hour(self) -> int:
        """Hour of the day."""
        return self.millis_of_day // _HOUR_MS


def clock_at(millis: int, zone: Zone) -> Clock:
    """Return what clocks show at a timestamp, in milliseconds since the epoch; those of UTC where the zone's are past the ends of time."""
    offset = zone.offset(millis)
    if not _FIRST_MS <= millis + offset <= _LAST_MS:
        zone, offset = UTC_ZONE, 0
    days, of_day = divmod(millis + offset, DAY_MS)
    return Clock(days, of_day, offset, zone)


def date_text(tokens: Sequence[Token], millis: int, zone: Zone) -> str:
    """Return a timestamp as text.

    Args:
        tokens: the pattern.
        millis: the moment, in milliseconds since the epoch.
        zone: whose clocks show it.

    Example:
        >>> from pyhudi.javacompat.date_pattern import parse_pattern
        >>> from pyhudi.javacompat.zones import find_zone
        >>> date_text(parse_pattern("yyyy-MM-dd hh"), 1578283932000, find_zone("GMT+8:00"))
        '2020-01-06 12'
    """
    clock = clock_at(millis, zone)
    return "".join(token.text if isinstance(token, Literal) else _WRITERS[token.letter](clock, token.count) for token in tokens)


def fineness(tokens: Sequence[Token]) -> int | None:
    """Return a span in milliseconds: timestamps that fall into one such span of a clock have one text; None when the days decide."""
    return min((_FINENESS[token.letter] for token in tokens if not isinstance(token, Literal) and token.letter in _FINENESS), default=None)


def _number(value: Callable[[Clock], int]) -> Callable[[Clock, int], str]:
    return lambda clock, count: _pad(value(clock), count)


def _year(year: int, count: int) -> str:
    return _pad(abs(year) % 100 if count == _TWO_DIGITS else year, count)


def _pad(value: int, count: int) -> str:
    return f"{'-' if value < 0 else ''}{abs(value):0{count}}"


def _month(clock: Clock, count: int) -> str:
    month = date_of(clock.days)[1]
    if count < _MILLIS_DIGITS:
        return _pad(month, count)
    name = MONTHS[month - 1]
    return name if count >= _FULL_NAME else name[:3]


def _weekday(clock: Clock, count: int) -> str:
    name = WEEKDAYS[weekday_of(clock.days) - 1]
    return name if count >= _FULL_NAME else name[:3]


def _fraction(clock: Clock, count: int) -> str:
    digits = f"{clock.millis_of_day % 1000:03}"
    return digits[:count] if count <= _MILLIS_DIGITS else digits.ljust(count, "0")


def _offset(clock: Clock, count: int) -> str:
    if count > _TWO_DIGITS:
        return clock.zone.id
    return offset_text(clock.offset, ":" if count == _TWO_DIGITS else "")


def _zone_name(clock: Clock, _: int) -> str:
    """Only a null is written so, to be read back: other names than this one depend on Java."""
    if clock.zone.id != "UTC":
        raise DateError(f"a null would be written with the name of the zone {clock.zone.id or 'of this machine'}")
    return "UTC"


_WRITERS: Final[Mapping[str, Callable[[Clock, int], str]]] = {
    "G": lambda clock, _: ERAS[clock.year > 0],
    "C": _number(lambda clock: abs(clock.year) // 100),
    "Y": lambda clock, count: _year(clock.year if count == _TWO_DIGITS else clock.year_of_era, count),
    "y": lambda clock, count: _year(clock.year, count),
    "x": lambda clock, count: _year(week_of(clock.days)[0], count),
    "w": _number(lambda clock: week_of(clock.days)[1]),
    "e": _number(lambda clock: weekday_of(clock.days)),
    "E": _weekday,
    "D": _number(lambda clock: clock.days - day_of(clock.year, 1, 1) + 1),
    "M": _month,
    "d": _number(lambda clock: date_of(clock.days)[2]),
    "a": lambda clock, _: HALF_DAYS[clock.hour >= 12],
    "K": _number(lambda clock: clock.hour % 12),
    "h": _number(lambda clock: clock.hour % 12 or 12),
    "H": _number(lambda clock: clock.hour),
    "k": _number(lambda clock: clock.hour or 24),
    "m": _number(lambda clock: clock.millis_of_day // _MINUTE_MS % 60),
    "s": _number(lambda clock: clock.millis_of_day // 1000 % 60),
    "S": _fraction,
    "Z": _offset,
    "z": _zone_name,
}
