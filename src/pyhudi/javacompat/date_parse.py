"""Text read by a date pattern: what a person meant by it, as one timestamp.

Rules: `DateTimeFormatterBuilder` and `DateTimeParserBucket` of Joda-Time: numbers take as many digits as may be theirs, names are in any
of three cases, parts are put in from the coarse to the fine, and parts that the text does not have are those of 1970-01-01 (of the year
2000 when a month or a day has no year).
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pyhudi.javacompat.date_fields import DateError, Part, combine_fields
from pyhudi.javacompat.date_pattern import ERAS, HALF_DAYS, MONTHS, WEEKDAYS, Letters, Literal, Token
from pyhudi.javacompat.zones import LOCAL_ZONE, ZONES_BY_NAME, Zone, find_zone, offset_text

_LONGEST_YEAR: Final = 9
_DIGITS: Final = {"M": 2, "d": 2, "h": 2, "H": 2, "k": 2, "K": 2, "m": 2, "s": 2, "D": 3, "w": 2, "e": 1}
_YEARS: Final = frozenset("xyY")
_NAMES: Final = {"G": ("G", ERAS, 0), "a": ("a", HALF_DAYS, 0), "M": ("M", MONTHS, 1), "E": ("e", WEEKDAYS, 1)}
_MORE_ERAS: Final = {"bce": 0, "BCE": 0, "ce": 1, "CE": 1}
_OFFSET_LIMITS: Final = (23, 59, 59)
_OFFSET_UNITS: Final = (3_600_000, 60_000, 1000)


@dataclass(slots=True)
class _ParseState:
    """What was read so far."""

    text: str
    pivot: int
    position: int = 0
    parts: list[Part] = field(default_factory=list)
    zone: Zone | None = None

    def ahead(self, count: int) -> str:
        return self.text[self.position : self.position + count]

    def digits(self, most: int) -> str:
        """Return the digits that come next, at most so many."""
        end = self.position
        while end < len(self.text) and end - self.position < most and self.text[end] in "0123456789":
            end += 1
        return self.text[self.position : end]

    def take(self, letter: str, value: int, length: int) -> None:
        self.parts.append(Part(letter, value))
        self.position += length


def read_date(patterns: Sequence[Sequence[Token]], text: str, zone: Zone | None, *, year_now: int) -> tuple[int, Zone]:
    """Return the moment that a text names, in milliseconds since the epoch, and the zone whose clocks it follows.

    Args:
        patterns: tried in turn; the first that fits the whole text counts.
        text: what to read.
        zone: where clocks show that time unless the text has an offset; then, or when None, the zone of this machine.
        year_now: the year in which two digits of a year are understood: from 80 years before to 19 after.

    Raises:
        DateError: no pattern fits, or there is no such time.

    Example:
        >>> from pyhudi.javacompat.date_pattern import parse_pattern
        >>> read_date([parse_pattern("yyyyMMdd")], "20200401", Zone("UTC"), year_now=2026)[0]
        1585699200000
    """
    for tokens in patterns:
        state = _ParseState(text, year_now - 30)
        if all(_read(token, state) for token in tokens) and state.position == len(text):
            break
    else:
        raise DateError("it does not have the form of the input format")
    local = combine_fields(state.parts)
    offset = (state.zone or zone or LOCAL_ZONE).offset_of_local(local)
    if offset is None:
        raise DateError("clocks skip that time when summer begins")
    return local - offset, zone or state.zone or LOCAL_ZONE


def _read(token: Token, state: _ParseState) -> bool:
    if isinstance(token, Literal):
        matches = state.ahead(len(token.text)).upper() == token.text.upper()
        state.position += len(token.text)
        return matches
    return _reader(token)(token, state)


def _reader(token: Letters) -> Callable[[Letters, _ParseState], bool]:
    if token.letter in _YEARS:
        return _read_short_year if token.count == 2 else _read_number
    if token.letter in _NAMES and not token.is_number:
        return _read_name
    return _OTHERS.get(token.letter, _read_number)


def _read_number(token: Letters, state: _ParseState) -> bool:
    is_signed = token.letter in _YEARS or token.letter == "C"
    most = _DIGITS.get(token.letter) or (token.count if token.letter == "C" or token.before_number else _LONGEST_YEAR)
    negative = is_signed and state.ahead(1) == "-"
    if is_signed and state.ahead(1) in ("-", "+") and most > 1:
        state.position += 1
    digits = state.digits(most)
    if not digits:
        return False
    state.take(token.letter, -int(digits) if negative else int(digits), len(digits))
    return True


def _read_short_year(token: Letters, state: _ParseState) -> bool:
    """Two digits lie in the hundred years about now; more digits, or a sign, make a year as it is."""
    sign = "" if token.before_number or state.ahead(1) not in ("-", "+") else state.ahead(1)
    state.position += len(sign)
    digits = state.digits(2 if token.before_number else len(state.text))
    if not digits or (token.before_number and len(digits) < 2):
        return False
    year = int(digits)
    if not sign and len(digits) == 2:
        lowest = state.pivot - 50
        year = lowest + (year - lowest) % 100
    state.take(token.letter, -year if sign == "-" else year, len(digits))
    return True


def _read_name(token: Letters, state: _ParseState) -> bool:
    letter, names, first = _NAMES[token.letter]
    values = {form: number for number, name in enumerate(names, first) for form in _forms(name)} | (_MORE_ERAS if letter == "G" else {})
    fitting = max((form for form in values if state.ahead(len(form)) == form), key=len, default=None)
    if fitting is None:
        return False
    state.take(letter, values[fitting], len(fitting))
    return True


def _forms(name: str) -> set[str]:
    return {form for text in (name, name[:3]) for form in (text, text.lower(), text.upper())}


def _read_fraction(token: Letters, state: _ParseState) -> bool:
    digits = state.digits(token.count)
    if not digits:
        return False
    state.take("S", int(digits[:3].ljust(3, "0")), len(digits))
    return True


def _read_zone(token: Letters, state: _ParseState) -> bool:
    return _read_zone_id(state) if token.count > 2 else _read_offset(state)


def _read_zone_id(state: _ParseState) -> bool:
    rest = state.text[state.position :]
    known = max((name for name in zoneinfo.available_timezones() if rest.startswith(name)), key=len, default=None)
    if known is None:
        return False
    state.zone = Zone(known)
    state.position += len(known)
    return True


def _read_zone_name(_: Letters, state: _ParseState) -> bool:
    known = max((name for name in ZONES_BY_NAME if state.ahead(len(name)) == name), key=len, default=None)
    if known is None:
        return False
    state.zone = find_zone(ZONES_BY_NAME[known])
    state.position += len(known)
    return True


def _read_offset(state: _ParseState) -> bool:
    """Read `Z`, or `+hh[[:]mm[[:]ss[[:.]SSS]]]`."""
    if state.ahead(1) in ("Z", "z"):
        state.position += 1
        state.zone = Zone("UTC", 0)
        return True
    sign = state.ahead(1)
    if sign not in ("+", "-"):
        return False
    state.position += 1
    offset, separator = 0, ""
    for number, (limit, unit) in enumerate(zip(_OFFSET_LIMITS, _OFFSET_UNITS, strict=True)):
        if number == 1 and state.ahead(1) == ":":
            separator = ":"
        if number and separator and state.ahead(1) != separator:
            break
        state.position += len(separator) if number else 0
        digits = state.digits(2)
        if not digits and number and not separator:
            break
        if len(digits) < 2 or int(digits) > limit:
            return False
        offset += int(digits) * unit
        state.position += 2
    offset = -offset if sign == "-" else offset
    state.zone = Zone(offset_text(offset, ":"), offset)
    return True


_OTHERS: Final[Mapping[str, Callable[[Letters, _ParseState], bool]]] = {"S": _read_fraction, "Z": _read_zone, "z": _read_zone_name}
