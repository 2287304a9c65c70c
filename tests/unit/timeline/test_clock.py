"""Instant times: increasing, in the table's zone, and read from what users write."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import CorruptTableError, OptionError, UnsupportedError
from pyhudi.timeline.clock import InstantClock, SystemClock, instant_millis, parse_time, seconds_between


class StoppedClock:
    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


NOON = StoppedClock(datetime(2026, 12, 1, 12, 0, 0, 123_999, tzinfo=UTC))


def test_instant_has_17_digits_and_cuts_the_microseconds() -> None:
    assert InstantClock(NOON, "UTC").next() == "20261201120000123"


def test_times_of_a_stopped_clock_still_increase() -> None:
    clock = InstantClock(NOON, "UTC")
    assert [clock.next() for _ in range(3)] == ["20261201120000123", "20261201120000124", "20261201120000125"]


def test_time_is_after_the_floor_over_the_end_of_a_year() -> None:
    assert InstantClock(NOON, "UTC", "20261231235959999").next() == "20270101000000000"


def test_floor_of_a_second_counts_as_its_last_millisecond() -> None:
    assert InstantClock(NOON, "UTC", "20261201120001").next() == "20261201120002000"


def test_reserved_floor_is_before_every_time() -> None:
    assert InstantClock(NOON, "UTC", "00000000000000000").next() == "20261201120000123"


def test_clock_far_behind_the_timeline_is_told(caplog) -> None:
    with caplog.at_level(logging.WARNING, logger="pyhudi"):
        InstantClock(NOON, "UTC", "20261201120030000").next()
        assert caplog.records == []
        InstantClock(NOON, "UTC", "20261201120130000").next()
    assert "20261201120130000" in caplog.text


def test_threads_never_get_the_same_time() -> None:
    clock = InstantClock(SystemClock(), "UTC")
    with ThreadPoolExecutor(8) as pool:
        times = [text for batch in pool.map(lambda _: [clock.next() for _ in range(200)], range(8)) for text in batch]
    assert len(set(times)) == 1600


@pytest.fixture
def in_zone(monkeypatch):
    def change(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield change
    monkeypatch.undo()
    time.tzset()


def test_local_timeline_uses_the_zone_of_the_process(in_zone) -> None:
    in_zone("Asia/Kolkata")
    assert InstantClock(NOON, "LOCAL").next() == "20261201173000123"
    assert InstantClock(NOON, "UTC").next() == "20261201120000123"


def test_local_time_going_back_in_autumn_keeps_increasing(in_zone) -> None:
    in_zone("Europe/Berlin")
    clock = StoppedClock(datetime(2026, 10, 25, 0, 59, 59, tzinfo=UTC))
    times = InstantClock(clock, "LOCAL")
    before = times.next()
    clock.moment += timedelta(seconds=2)
    assert before == "20261025025959000"
    assert times.next() == "20261025025959001"


@pytest.mark.parametrize(
    ("given_time", "instant"),
    [
        ("20261201040547825", "20261201040547825"),
        (" 20261201040547825 ", "20261201040547825"),
        ("20261201040547", "20261201040547999"),
        ("202612010405", "20261201040500000"),
        ("20261201", "20261201000000000"),
        ("2026-12-01", "20261201000000000"),
        ("2026-12-01 04:05", "20261201040500000"),
        ("2026-12-01T04:05", "20261201040500000"),
        ("2026-12-01 04:05:47", "20261201040547000"),
        ("2026-12-01 04:05:47.825", "20261201040547825"),
        ("2026-12-01T04:05:47.825", "20261201040547825"),
        ("2026-12-01T04:05:47Z", "20261201040547000"),
        ("2026-12-01 04:05:47+02:00", "20261201020547000"),
        ("1796097947", "20261201040547000"),
        ("1796097947825", "20261201040547825"),
        (datetime(2026, 12, 1, 4, 5, 47, 825_000, tzinfo=UTC), "20261201040547825"),
        (datetime(2026, 12, 1, 4, 5, 47, tzinfo=timezone(timedelta(hours=1))), "20261201030547000"),
    ],
)
def test_every_form_of_a_time_is_read(given_time, instant) -> None:
    assert parse_time(given_time, "UTC") == instant


def test_time_without_offset_is_in_the_zone_of_the_table(in_zone) -> None:
    in_zone("Asia/Kolkata")
    assert parse_time("2026-12-01 04:05:47", "LOCAL") == "20261201040547000"
    assert parse_time("2026-12-01T04:05:47Z", "LOCAL") == "20261201093547000"
    assert parse_time("1796097947", "LOCAL") == "20261201093547000"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-13-01",
        "20261301000000000",
        "202613010000",
        "202612012500",
        "20261301",
        "00000000",
        "2026120",
        "2026-12-01 04",
        "2026-12-01 25:00:00",
        "123",
        "2026",
        "-1",
        "0" * 17,
    ],
)
def test_text_that_is_no_time_is_refused_with_the_text(text) -> None:
    with pytest.raises(OptionError, match="is not a time"):
        parse_time(text, "UTC")


@pytest.mark.parametrize("given", [5, date(2026, 12, 1), b"2026"])
def test_what_is_no_text_is_no_time(given) -> None:
    with pytest.raises(OptionError, match="is not a time; give a text"):
        parse_time(given, "UTC")


def test_naive_datetime_is_refused() -> None:
    with pytest.raises(OptionError, match="no zone"):
        parse_time(datetime(2026, 12, 1), "UTC")


def test_unknown_zone_of_a_table_is_refused() -> None:
    with pytest.raises(OptionError, match=r"hoodie\.table\.timeline\.timezone"):
        InstantClock(NOON, "CET")


@given(st.datetimes(min_value=datetime(1000, 1, 1), timezones=st.just(UTC)))
def test_text_of_a_time_reads_back_as_itself_and_sorts_like_it(moment) -> None:
    text = InstantClock(StoppedClock(moment), "UTC").next()
    assert parse_time(text, "UTC") == text == parse_time(moment, "UTC")
    assert (text < "20261201120000123") == (moment < NOON.moment.replace(microsecond=123_000))


class AtTheEnd:
    """A clock at the end of the times that instants can have."""

    def now(self) -> datetime:
        return datetime(9999, 12, 31, 23, 59, 59, 990_000, tzinfo=UTC)


def test_clock_at_the_end_of_time_is_refused_before_an_action_begins() -> None:
    with pytest.raises(UnsupportedError, match=r"table /data/t cannot be written: the clock of this machine is at 9999.*Set the clock"):
        InstantClock(AtTheEnd(), "UTC", "20261201120000000", "/data/t").next()


@pytest.mark.parametrize("floor", ["99991231235959999", "99991231000000000", "99999999999999999"])
def test_timeline_at_the_end_of_time_is_refused_before_an_action_begins(floor: str) -> None:
    with pytest.raises(UnsupportedError, match=f"table /data/t cannot be written: its timeline is at {floor}"):
        InstantClock(NOON, "UTC", floor, "/data/t").next()


def test_action_that_has_begun_has_room_for_its_times() -> None:
    clock = InstantClock(NOON, "UTC", "99991230235959997", "/data/t")
    assert [clock.next() for _ in range(3)] == ["99991230235959998", "99991230235959999", "99991231000000000"]


def test_instant_whose_digits_are_no_time_is_damage() -> None:
    with pytest.raises(CorruptTableError, match="20279999000000000, which is no time"):
        InstantClock(NOON, "UTC", "20279999000000000", "/data/t").next()


def test_time_of_a_user_beyond_the_last_year_is_refused() -> None:
    with pytest.raises(OptionError, match="not a time"):
        parse_time(datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-5))), "UTC")
    with pytest.raises(OptionError, match="not a time"):
        parse_time("9999-12-31 23:59-05:00", "UTC")


def test_the_instants_of_a_bootstrap_are_numbers() -> None:
    assert parse_time("00000000000001", "UTC") == "00000000000001"
    assert instant_millis("00000000000002", "UTC") == instant_millis("00000000000002", "LOCAL") == 2
    assert seconds_between("00000000000001", "19700101000010000") == 10
