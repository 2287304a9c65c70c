"""Partition values of the kind TIMESTAMP: a number, a date or a text taken for a timestamp, and written by a date pattern.

Rules: `TimestampBasedAvroKeyGenerator`, `HoodieDateTimeParser` of Hudi 1.2, seen by running them (docs/design/0074-record-keys.md). A
timestamp column is a timestamp by itself, where Hudi takes its microseconds for a number of the unit configured.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from pyhudi.errors import KeyFieldError, OptionError, UnsupportedError
from pyhudi.javacompat.date_fields import DateError
from pyhudi.javacompat.date_parse import read_date
from pyhudi.javacompat.date_pattern import Letters, Token, parse_pattern
from pyhudi.javacompat.date_text import date_text
from pyhudi.javacompat.zones import LOCAL_ZONE, UTC_ZONE, Zone, find_zone
from pyhudi.keygen.value_text import timestamp_millis
from pyhudi.spec.table.timestamp_keys import (
    DATE_TIME_PARSER,
    HUDI_PARSER,
    INPUT_DELIMITER,
    INPUT_FORMAT,
    INPUT_ZONE,
    OUTPUT_FORMAT,
    OUTPUT_ZONE,
    TYPE,
    UNIT,
    ZONE,
    setting,
)

_EPOCH_DATE: Final = date(1970, 1, 1)
_LONG_MAX: Final = (1 << 63) - 1
_NULL_NUMBER: Final = 1
#: Names of zones are long from four letters on.
_SHORT_NAME: Final = 3
#: Nanoseconds of Java's `TimeUnit`.
_UNITS: Final = {
    "NANOSECONDS": 1,
    "MICROSECONDS": 1000,
    "MILLISECONDS": 1_000_000,
    "SECONDS": 1_000_000_000,
    "MINUTES": 60_000_000_000,
    "HOURS": 3_600_000_000_000,
    "DAYS": 86_400_000_000_000,
}
_MILLISECOND: Final = _UNITS["MILLISECONDS"]


class TimestampType(enum.StrEnum):
    """What the values of the partition field are."""

    UNIX_TIMESTAMP = "UNIX_TIMESTAMP"
    DATE_STRING = "DATE_STRING"
    MIXED = "MIXED"
    EPOCHMILLISECONDS = "EPOCHMILLISECONDS"
    EPOCHMICROSECONDS = "EPOCHMICROSECONDS"
    SCALAR = "SCALAR"


_UNIT_OF_TYPE: Final = {
    TimestampType.UNIX_TIMESTAMP: "SECONDS",
    TimestampType.EPOCHMILLISECONDS: "MILLISECONDS",
    TimestampType.EPOCHMICROSECONDS: "MICROSECONDS",
}


@dataclass(frozen=True, slots=True)
class TimestampText:
    """Makes the text of a partition value. `unit` is that of numbers in nanoseconds, None where numbers are refused."""

    unit: int | None
    inputs: tuple[tuple[Token, ...], ...]
    output: tuple[Token, ...]
    input_zone: Zone | None = None
    output_zone: Zone | None = None
    year_now: int = 2000

    def text(self, value: Any, *, field: str, row: int) -> str:
        """Return what stands for one value in the path, before URL encoding and the field's name.

        Args:
            value: number, decimal, text, date, datetime or None.
            field: the value's field, for messages.
            row: the value's row, for messages.

        Raises:
            KeyFieldError: the value is no moment by the table's settings; names row, field and value.
        """
        try:
            millis, zone = self._instant(value)
        except DateError as error:
            raise KeyFieldError(
                f"Row {row} has {value!r} in the partition field '{field}', which makes no partition path: {error}."
            ) from error
        return date_text(self.output, millis, self.output_zone or zone)

    def _instant(self, value: Any) -> tuple[int, Zone]:
        """Return milliseconds since the epoch, and the zone to write them in if the settings name none."""
        if value is None:
            return self._null()
        if isinstance(value, str):
            if not self.inputs:
                raise DateError(f"strings are taken by the types DATE_STRING and MIXED only, by {INPUT_FORMAT}")
            return read_date(self.inputs, value, self.input_zone, year_now=self.year_now)
        if isinstance(value, datetime):
            return timestamp_millis(value), LOCAL_ZONE
        return self.number_millis(_whole_number(value)), LOCAL_ZONE

    def _null(self) -> tuple[int, Zone]:
        """Hudi writes a null as the number 1 of the unit, or as the text of the first millisecond by the first input format."""
        if not self.inputs:
            return self.number_millis(_NULL_NUMBER), LOCAL_ZONE
        zone = self.input_zone or self.output_zone or UTC_ZONE
        return read_date(self.inputs, date_text(self.inputs[0], _NULL_NUMBER, zone), self.input_zone, year_now=self.year_now)

    def number_millis(self, number: int) -> int:
        """Return a number of the unit in milliseconds: cut towards zero, and held within 64 bits as `TimeUnit.convert` does.

        Raises:
            DateError: the settings take no numbers.
        """
        if self.unit is None:
            raise DateError("the types DATE_STRING and MIXED take strings, and numbers of no unit")
        nanos = abs(number) * self.unit // _MILLISECOND
        return max(-_LONG_MAX - 1, min(_LONG_MAX, -nanos if number < 0 else nanos))


def _whole_number(value: Any) -> int:
    """Return what Java's cast to `long` makes of a value."""
    if isinstance(value, bool):
        raise DateError("it is a truth value")
    if isinstance(value, date):
        return (value - _EPOCH_DATE) // timedelta(days=1)
    if isinstance(value, float):
        if math.isnan(value):
            return 0
        return int(max(-(2.0**63), min(2.0**63, value))) if abs(value) < 2.0**63 else (_LONG_MAX if value > 0 else -_LONG_MAX - 1)
    if isinstance(value, int | Decimal):
        return int(value)
    raise DateError(f"a {type(value).__name__} is no moment")


def timestamp_text(properties: Mapping[str, str], *, year_now: int) -> TimestampText:
    """Return how a table writes its partition values of the kind TIMESTAMP.

    Args:
        properties: those of the table; the settings are under `hoodie.keygen.timebased.` or an older prefix.
        year_now: see `date_parse.read_date`.

    Raises:
        OptionError: a setting is missing, or a pattern, a zone, a unit or the type is unknown; names it.
        UnsupportedError: paths would have names of time zones.
    """
    parser = properties.get(DATE_TIME_PARSER, HUDI_PARSER)
    if parser != HUDI_PARSER:
        raise OptionError(f"{DATE_TIME_PARSER}={parser} is no class of Hudi's; pyhudi loads no classes by name.")
    kind = _type(properties)
    inputs: tuple[tuple[Token, ...], ...] = ()
    if kind in (TimestampType.DATE_STRING, TimestampType.MIXED):
        formats = setting(properties, INPUT_FORMAT) or ""
        if not formats:
            raise OptionError(f"{TYPE}={kind} needs {INPUT_FORMAT}, the form of the strings in the partition field.")
        inputs = tuple(_input(text.strip()) for text in _split(formats, setting(properties, INPUT_DELIMITER) or ","))
    output = setting(properties, OUTPUT_FORMAT) or ""
    if not output:
        raise OptionError(f"the key generator TIMESTAMP needs {OUTPUT_FORMAT}, such as yyyy/MM/dd.")
    return TimestampText(
        _unit(properties, kind),
        inputs,
        _output(output),
        _zone(properties, INPUT_ZONE),
        _zone(properties, OUTPUT_ZONE),
        year_now,
    )


def _type(properties: Mapping[str, str]) -> TimestampType:
    name = setting(properties, TYPE)
    if not name:
        raise OptionError(f"the key generator TIMESTAMP needs {TYPE}: {', '.join(TimestampType)}.")
    try:
        return TimestampType(name)
    except ValueError:
        raise OptionError(f"{TYPE}={name} is unknown; it can be {', '.join(TimestampType)}.") from None


def _unit(properties: Mapping[str, str], kind: TimestampType) -> int | None:
    if kind is not TimestampType.SCALAR:
        return _UNITS.get(_UNIT_OF_TYPE.get(kind, ""))
    name = (setting(properties, UNIT) or "SECONDS").upper()
    if name not in _UNITS:
        raise OptionError(f"{UNIT}={name} is unknown; it can be {', '.join(_UNITS)}.")
    return _UNITS[name]


def _zone(properties: Mapping[str, str], name: str) -> Zone | None:
    """Return the zone of one direction; the setting for both takes precedence over it, even when it is empty."""
    both = setting(properties, ZONE)
    text = (both if both is not None else setting(properties, name) or "").strip()
    if not text:
        return None
    try:
        return find_zone(text)
    except OptionError as error:
        raise OptionError(f"{ZONE if both is not None else name}: {error}") from error


def _pattern(name: str, text: str) -> tuple[Token, ...]:
    try:
        return parse_pattern(text)
    except OptionError as error:
        raise OptionError(f"{name}: {error}") from error


def _input(text: str) -> tuple[Token, ...]:
    tokens = _pattern(INPUT_FORMAT, text)
    if any(isinstance(token, Letters) and token.letter == "z" and token.count > _SHORT_NAME for token in tokens):
        raise OptionError(
            f"{INPUT_FORMAT}: date pattern '{text}' has long names of time zones, which Apache Hudi does not read either; use z for short"
            " ones, Z for offsets or ZZZ for ids."
        )
    return tokens


def _output(text: str) -> tuple[Token, ...]:
    tokens = _pattern(OUTPUT_FORMAT, text)
    if any(isinstance(token, Letters) and token.letter == "z" for token in tokens):
        raise UnsupportedError(
            f"{OUTPUT_FORMAT}: date pattern '{text}' has names of time zones (z), which depend on the release and the language of Java;"
            " use Z for offsets or ZZZ for ids."
        )
    return tokens


def _split(text: str, delimiter: str) -> list[str]:
    """Split as Java does: strings that are empty at the end are left out."""
    try:
        ends = [match.span() for match in re.finditer(delimiter, text)]
    except re.error as error:
        raise OptionError(f"{INPUT_DELIMITER}={delimiter} is no regular expression: {error}.") from error
    begins = [0, *(end for _, end in ends)]
    parts = [text[begin:end] for begin, end in zip(begins, [*(begin for begin, _ in ends), len(text)], strict=True)]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts
