"""Where instant times come from, and what a user may write for one.

Rules: Hudi technical specification, "Timeline": `yyyyMMddHHmmssSSS` in the zone of the table, compared as text,
unique on a table.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Protocol

from pyhudi.errors import CorruptTableError, OptionError, UnsupportedError
from pyhudi.spec.files.bootstrap_source import BOOTSTRAP_INSTANTS

_log = logging.getLogger(__name__)

_FORMAT = "%Y%m%d%H%M%S%f"
_STEP = timedelta(milliseconds=1)
_TOLERATED_LAG = timedelta(minutes=1)
#: No action begins later, so that each has room for the times of its end and of what follows from it.
_LATEST = "99991230235959999"
_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The instants that Hudi has fixed begin so; they are numbers and no times.
_FIXED = tuple(sorted(BOOTSTRAP_INSTANTS))
_INSTANT = re.compile(r"\d{17}|\d{14}")
#: Minutes and days as Hudi's pages write the ends of incremental queries, `202305160000`; Apache Hudi 1.2.0 refuses them.
_MINUTE_OR_DAY = re.compile(r"\d{12}|\d{8}")
#: Which of the system's clocks counts on while the machine is suspended; None where there is none.
_CLOCK_OF_BOOT: int | None = getattr(time, "CLOCK_BOOTTIME", None)
_EPOCH = re.compile(r"\d{10}|\d{13}")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?")


def time_before(now: datetime, *, seconds: int) -> datetime:
    """Return the time so long before another one, but none before 1970: options and arguments state ages of any size.

    Example:
        >>> time_before(datetime(2026, 1, 2, tzinfo=UTC), seconds=86400).date(), time_before(datetime(2026, 1, 2), seconds=10**15).year
        (datetime.date(2026, 1, 1), 1970)
    """
    age = now - _UNIX_EPOCH.replace(tzinfo=now.tzinfo)
    return now - (timedelta(seconds=seconds) if seconds < age.total_seconds() else age)


def day_before(day: date, *, days: int) -> date:
    """Return the day so long before another one, but none before the first that dates know, for the same reason.

    Example:
        >>> day_before(date(2026, 1, 2), days=1), day_before(date(2026, 1, 2), days=10**9)
        (datetime.date(2026, 1, 1), datetime.date(1, 1, 1))
    """
    return date.fromordinal(max(1, day.toordinal() - days))


class Clock(Protocol):
    """Tells the time; tests pass one that is stopped or jumps."""

    def now(self) -> datetime:
        """Return the present as an aware datetime."""
        ...


class SystemClock:
    """The clock of this machine."""

    def now(self) -> datetime:
        """Return the present in UTC."""
        return datetime.now(UTC)

    def elapsed_s(self) -> float:
        """Return the seconds since some time in the past, whatever the clock is set to meanwhile; see `elapsed_s`."""
        return elapsed_s()


class InstantClock:
    """Gives instant times of one table, each later than the one before and than `floor`.

    Take one per transaction, while holding the table's lock, with the greatest time on the timeline as `floor`: then
    no two actions of a table get the same time, also when the clocks of their machines differ. Threads may share it.

    Example:
        >>> InstantClock(SystemClock(), "UTC", "20991231235959998").next()
        '20991231235959999'
    """

    def __init__(self, clock: Clock, zone: str, floor: str = "", table: str = "") -> None:
        """Take times from `clock` in the `zone` of the table (`UTC` or `LOCAL`). Without `table`, which errors name, the first time is not
        checked for room behind it: those of an action that has begun.
        """
        self._clock = clock
        self._zone = zone_of(zone)
        self._last = floor
        self._table, self._is_begun = table, not table
        self._guard = threading.Lock()
        self._taken_at: float | None = None

    def next(self) -> str:
        """Return an instant time of 17 digits: now, or one millisecond after the last one when the clock is behind.

        Raises:
            CorruptTableError: the last instant of the timeline has digits that are no time.
            UnsupportedError: the clock, or the timeline, is at the end of the times that instants can have.
        """
        with self._guard:
            text = self._now()
            self._check(text, "the clock of this machine")
            self._check(self._last, "its timeline")
            if text <= self._last:
                text = self._after_last(text)
            self._last, self._is_begun = text, True
            self._taken_at = time.monotonic()
            return text

    def outlast(self, skew_s: float) -> None:
        """Wait until the last time that was taken is over on a clock that is `skew_s` seconds behind: while the lock is held, so that the
        next holder on another machine takes a greater one. Rules: `SkewAdjustingTimeGenerator`.
        """
        if self._taken_at is not None:
            time.sleep(max(self._taken_at + skew_s - time.monotonic(), 0))

    def raise_floor(self, time: str) -> None:
        """Make all further times later than this one, too: the metadata table takes times of its own, which no action may share.

        Example:
            >>> times = InstantClock(SystemClock(), "UTC")
            >>> times.raise_floor("20991231235959998")
            >>> times.next()
            '20991231235959999'
        """
        with self._guard:
            self._last = max(self._last, time)

    def _now(self) -> str:
        try:
            return format_instant(self._clock.now(), self._zone)
        except OverflowError:  # in the zone of this process it is the year 10000
            return "9" * len(_LATEST)

    def _check(self, time: str, whose: str) -> None:
        if time > _LATEST and not self._is_begun:
            raise UnsupportedError(
                f"table {self._table} cannot be written: {whose} is at {time}, and instants end with the year 9999. Nothing was written."
                " Set the clock right; where an instant of that time is on the timeline already, read the rows and write them to another"
                " table."
            )

    def _after_last(self, now: str) -> str:
        try:
            last = _naive(self._last)
        except ValueError:
            raise CorruptTableError(f"the last instant on the timeline of table {self._table} is {self._last}, which is no time") from None
        if last - _naive(now) > _TOLERATED_LAG:
            _log.warning("the clock says %s but the timeline is at %s already; new instants continue from there", now, self._last)
        return following(self._last)


def following(instant: str) -> str:
    """Return the instant time that follows on another one.

    Example:
        >>> following("20261231235959999")
        '20270101000000000'
    """
    return _text(_naive(instant) + _STEP)


def preceding(instant: str) -> str:
    """Return the instant time before another one.

    Example:
        >>> preceding("20270101000000000")
        '20261231235959999'
    """
    return _text(_naive(instant.ljust(17, "0")) - _STEP)


def zone_of(name: str) -> tzinfo | None:
    """Return the zone that `hoodie.table.timeline.timezone` names; None stands for the zone of this process.

    Raises:
        OptionError: it is neither UTC nor LOCAL.
    """
    match name.upper():
        case "UTC":
            return UTC
        case "LOCAL":
            return None
    raise OptionError(f"hoodie.table.timeline.timezone is '{name}'; it must be UTC or LOCAL")


def format_instant(time: datetime, zone: tzinfo | None) -> str:
    """Return the instant text of an aware datetime; None is the zone of this process."""
    return _text(time.astimezone(zone))


def elapsed_s() -> float:
    """Return the seconds since some time in the past. Setting the clock does not change them, and a machine that is suspended counts on.

    Example:
        >>> elapsed_s() <= elapsed_s()
        True
    """
    return time.monotonic() if _CLOCK_OF_BOOT is None else time.clock_gettime(_CLOCK_OF_BOOT)


def elapsed_millis(clock: Clock) -> float:
    """Return the milliseconds since some time in the past; for a clock that cannot tell, as those of tests, the time that it shows.

    Example:
        >>> elapsed_millis(SystemClock()) <= elapsed_millis(SystemClock())
        True
    """
    return (clock.elapsed_s() if isinstance(clock, SystemClock) else clock.now().timestamp()) * 1000


def now_millis(clock: Clock) -> int:
    """Return a clock's time as milliseconds since 1970."""
    return int(clock.now().timestamp() * 1000)


def instant_millis(instant: str, zone: str) -> int:
    """Return an instant text as milliseconds since 1970; `zone` is that of the timeline (`UTC` or `LOCAL`).

    A fixed instant is its number, as `HoodieInstantTimeGenerator` has it.
    """
    if instant.startswith(_FIXED):
        return int(instant[:14])
    timestamp = _naive(instant)
    in_zone = timestamp.astimezone() if (known := zone_of(zone)) is None else timestamp.replace(tzinfo=known)
    return (in_zone - _UNIX_EPOCH) // _STEP


def parse_time(time: str | datetime, zone: str) -> str:
    """Return the instant text for a time as users give it.

    Accepted are instant strings of 17 or 14 digits (14 mean the whole second), 12 or 8 digits for the beginning of a minute or
    day, `2026-12-01`, `2026-12-01 04:05`, `2026-12-01 04:05:47.825` (also with `T`, and with an offset), seconds or milliseconds
    since 1970 as 10 or 13 digits, and aware datetimes.
    Times without offset are in the `zone` of the table's timeline (`UTC` or `LOCAL`).

    Raises:
        OptionError: none of these, no such day, a datetime without zone, or no text.

    Example:
        >>> parse_time("2026-12-01 04:05:47.825", "UTC")
        '20261201040547825'
    """
    if isinstance(time, datetime):
        return _of_datetime(time, zone)
    if not isinstance(time, str):
        raise OptionError(f"{time!r} is not a time; give a text such as '2026-12-01', or an aware datetime")
    text = time.strip()
    try:
        if _INSTANT.fullmatch(text):
            if text in _FIXED:
                return text
            _naive(text)
            return text.ljust(17, "9")
        if _MINUTE_OR_DAY.fullmatch(text):
            return _text(_naive(text.ljust(17, "0")))
        if _EPOCH.fullmatch(text):
            return format_instant(datetime.fromtimestamp(int(text[:10]), UTC), zone_of(zone))[:14] + (text[10:] or "000")
        if _DATE.fullmatch(text):
            timestamp = datetime.fromisoformat(text)
            return _text(timestamp) if timestamp.tzinfo is None else format_instant(timestamp, zone_of(zone))
    except (ValueError, OverflowError) as error:
        raise OptionError(f"'{time}' is not a time: {error}") from None
    raise OptionError(f"'{time}' is not a time; write it like 20261201040547825, '2026-12-01' or '2026-12-01 04:05:47.825'")


def _of_datetime(time: datetime, zone: str) -> str:
    if time.tzinfo is None:
        raise OptionError(f"the time {time!r} has no zone; give an aware datetime, such as one with tzinfo=UTC")
    try:
        return format_instant(time, zone_of(zone))
    except OverflowError as error:
        raise OptionError(f"'{time}' is not a time that an instant can have: {error}") from None


def _text(time: datetime) -> str:
    return time.strftime(_FORMAT)[:17].rjust(17, "0")


def seconds_between(earlier: str, later: str) -> float:
    """Return the seconds between two instant strings of one zone, in whole seconds as Hudi counts them.

    Example:
        >>> seconds_between("20261201040547825", "20261201040549001")
        2.0
    """
    start, end = (_naive(instant[:14].ljust(17, "0")) for instant in (earlier, later))
    return (end - start).total_seconds()


def noted_time(instant: str) -> datetime:
    """Return the whole second of an instant text, as if its zone were UTC."""
    return _naive(instant[:14].ljust(17, "0")).replace(tzinfo=UTC)


def _naive(instant: str) -> datetime:
    """Return the time of an instant text; one of old tables ends with the second, one of a metadata table is longer."""
    if instant.startswith(_FIXED):
        return datetime(1970, 1, 1)  # noqa: DTZ001 - as below
    return datetime.strptime(instant.ljust(17, "9")[:17] + "000", _FORMAT)  # noqa: DTZ007 - strings of one zone
