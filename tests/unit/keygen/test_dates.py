"""Dates printed and read by pattern, as Apache Hudi 1.2.0 (Joda-Time 2.9.9) printed and read them.

`data/dates_of_apache_hudi.json` holds what its timestamp key generator answered: moments printed by many patterns in some zones, and texts
read by many patterns (null where it raised an error).
"""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.javacompat.calendar import date_of, day_of, week_of, weekday_of
from pyhudi.javacompat.date_fields import DateError
from pyhudi.javacompat.date_parse import read_date
from pyhudi.javacompat.date_pattern import parse_pattern
from pyhudi.javacompat.date_text import date_text
from pyhudi.javacompat.zones import UTC_ZONE, find_zone

SEEN = json.loads(Path(__file__).with_name("data").joinpath("dates_of_apache_hudi.json").read_text("utf-8"))
PRINTED: list[tuple[str, str, list[str]]] = SEEN["printed"]
PARSED: list[tuple[str, str, list[tuple[str, str | None]]]] = SEEN["parsed"]
ISO = parse_pattern("yyyy-MM-dd'T'HH:mm:ss.SSSZZ")


@pytest.mark.parametrize("zone", sorted({zone for zone, _, _ in PRINTED}))
def test_timestamps_are_printed_as_apache_hudi_prints_them(zone: str) -> None:
    for _, pattern, expected in (entry for entry in PRINTED if entry[0] == zone):
        tokens = parse_pattern(pattern)
        assert [date_text(tokens, timestamp, find_zone(zone)) for timestamp in SEEN["moments"]] == expected, pattern


@pytest.mark.parametrize(
    ("moment", "zone", "text"),
    [
        (2**63 - 1, "GMT+8:00", "292278994-08-17T07:12:55.807+00:00"),
        (2**63 - 1, "GMT-8:00", "292278994-08-16T23:12:55.807-08:00"),
        (-(2**63), "America/New_York", "-292275055-05-16T16:47:04.192+00:00"),
    ],
)
def test_a_zone_that_leads_past_the_ends_of_time_is_left_for_utc(moment: int, zone: str, text: str) -> None:
    assert date_text(ISO, moment, find_zone(zone)) == text


@pytest.mark.parametrize("zone", sorted({zone for zone, _, _ in PARSED}))
def test_strings_are_read_as_apache_hudi_reads_them(zone: str) -> None:
    for _, patterns, cases in (entry for entry in PARSED if entry[0] == zone):
        tokens = [parse_pattern(pattern) for pattern in patterns.split(",")]
        assert [(text, read(tokens, text, zone)) for text, _ in cases] == [tuple(case) for case in cases], patterns


def read(patterns: list[Any], text: str, zone: str) -> str | None:
    try:
        timestamp, matched_pattern = read_date(patterns, text, find_zone(zone), year_now=2026)
    except DateError:
        return None
    return date_text(ISO, timestamp, UTC_ZONE if zone == "UTC" else matched_pattern)


@given(st.dates())
def test_calendar_is_that_of_python(day: date) -> None:
    number = (day - date(1970, 1, 1)) // timedelta(days=1)
    assert day_of(day.year, day.month, day.day) == number
    assert date_of(number) == (day.year, day.month, day.day)
    assert (*week_of(number), weekday_of(number)) == tuple(day.isocalendar())


@given(st.integers(-(10**12), 10**12))
def test_date_of_a_day_is_the_way_back(number: int) -> None:
    assert day_of(*date_of(number)) == number


@given(st.integers(-62135596800000, 253402300799999), st.sampled_from(["UTC", "GMT+5:30", "GMT-0330"]))
def test_what_was_printed_is_read_back(moment: int, zone: str) -> None:
    text = date_text(ISO, moment, find_zone(zone))
    assert read_date([ISO], text, find_zone(zone), year_now=2026)[0] == moment
