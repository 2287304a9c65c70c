"""Time zones by the ids that Java knows, and what they are off UTC at a timestamp.

Rules: `java.util.TimeZone.getTimeZone`, `DateTimeZone.forTimeZone` of Joda-Time (three letter ids mean what they meant in Java 1.1). Java
takes an id that it does not know for GMT; here it is refused.
"""

from __future__ import annotations

import re
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from pyhudi.errors import OptionError

_OLD_IDS: Final = {
    "ECT": "CET", "MIT": "Pacific/Apia", "HST": "Pacific/Honolulu", "AST": "America/Anchorage", "PST": "America/Los_Angeles",
    "MST": "America/Denver", "PNT": "America/Phoenix", "CST": "America/Chicago", "EST": "America/New_York",
    "IET": "America/Indiana/Indianapolis", "PRT": "America/Puerto_Rico", "CNT": "America/St_Johns", "AGT": "America/Argentina/Buenos_Aires",
    "BET": "America/Sao_Paulo", "ART": "Africa/Cairo", "CAT": "Africa/Harare", "EAT": "Africa/Addis_Ababa", "NET": "Asia/Yerevan",
    "PLT": "Asia/Karachi", "IST": "Asia/Kolkata", "BST": "Asia/Dhaka", "VST": "Asia/Ho_Chi_Minh", "CTT": "Asia/Shanghai",
    "JST": "Asia/Tokyo", "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "SST": "Pacific/Guadalcanal", "NST": "Pacific/Auckland",
}  # fmt: skip
#: The names that a text may have where a pattern has `z`: Joda-Time's own, whatever the season says which of the two it is.
ZONES_BY_NAME: Final = {
    **dict.fromkeys(("UT", "UTC", "GMT"), "UTC"),
    **dict.fromkeys(("EST", "EDT"), "America/New_York"),
    **dict.fromkeys(("CST", "CDT"), "America/Chicago"),
    **dict.fromkeys(("MST", "MDT"), "America/Denver"),
    **dict.fromkeys(("PST", "PDT"), "America/Los_Angeles"),
}
_CUSTOM_ID: Final = re.compile(r"GMT([+-])(\d{1,2})(?::?(\d{2}))?")
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - only differences to it are used
_SECOND: Final = timedelta(seconds=1)
#: Zones are asked within the years of Python's dates; calendar and rules repeat after 400 years.
_FIRST: Final = -62_135_510_400
_LAST: Final = 253_402_128_000
_CYCLE: Final = 12_622_780_800


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone by id; `fixed` is what it is always off UTC, in milliseconds. Without id: the zone of this machine.

    Example:
        >>> find_zone("GMT+8:00").offset(0), find_zone("Europe/Paris").offset(1_720_000_000_000)
        (28800000, 7200000)
    """

    name: str = ""
    fixed: int | None = None

    def offset(self, millis: int) -> int:
        """Return what the zone is off UTC at a timestamp, all in milliseconds."""
        if self.fixed is not None:
            return self.fixed
        timestamp = (_EPOCH + timedelta(seconds=_clamp_seconds(millis // 1000))).replace(tzinfo=UTC)
        return _milliseconds(timestamp.astimezone(zoneinfo.ZoneInfo(self.name) if self.name else None))

    def offset_of_local(self, millis: int) -> int | None:
        """Return the same for a time on the zone's clocks, the earlier moment when there are two; None when clocks skip that time."""
        if self.fixed is not None:
            return self.fixed
        clock = _EPOCH + timedelta(seconds=_clamp_seconds(millis // 1000))
        local = clock.replace(tzinfo=zoneinfo.ZoneInfo(self.name)) if self.name else clock.astimezone()
        offset = _milliseconds(local)
        return offset if self.offset(millis - offset) == offset else None

    @property
    def id(self) -> str:
        """The id as it is written into a path."""
        if self.fixed is None:
            return self.name
        return offset_text(self.fixed, ":") if self.fixed else "UTC"


UTC_ZONE: Final = Zone("UTC", 0)
#: The zone of this machine, as the zone of the JVM is for Hudi.
LOCAL_ZONE: Final = Zone()


def find_zone(name: str) -> Zone:
    """Return a zone by its id in Java.

    Raises:
        OptionError: there is no such zone.
    """
    if name in ("UTC", "GMT", "Etc/UTC", "Z"):
        return UTC_ZONE
    if custom := _CUSTOM_ID.fullmatch(name):
        hours, minutes = int(custom[2]), int(custom[3] or 0)
        if hours <= 23 and minutes <= 59:
            return Zone(name, (hours * 60 + minutes) * (-60_000 if custom[1] == "-" else 60_000))
    known = _OLD_IDS.get(name, name)
    try:
        zoneinfo.ZoneInfo(known)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise OptionError(
            f"time zone '{name}' is unknown; give an id such as UTC, Europe/Paris or GMT+8:00 (Java would take it for GMT without a word)."
        ) from error
    return Zone(known)


def offset_text(offset: int, separator: str) -> str:
    """Return an offset as `+hhmm`, with a separator between."""
    hours, minutes = divmod(abs(offset) // 60_000, 60)
    return f"{'-' if offset < 0 else '+'}{hours:02}{separator}{minutes:02}"


def _clamp_seconds(seconds: int) -> int:
    if seconds > _LAST:
        return _LAST - _CYCLE + (seconds - _LAST) % _CYCLE
    return max(seconds, _FIRST)


def _milliseconds(local_time: datetime) -> int:
    offset = local_time.utcoffset()
    assert offset is not None, "a time with a zone has an offset"
    return offset // _SECOND * 1000
