"""Partition values of the kind TIMESTAMP: each example of Hudi's guides, and what Apache Hudi 1.2.0 was seen to do."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from pyhudi.errors import KeyFieldError, OptionError, UnsupportedError
from pyhudi.keygen.timestamp_partition import TimestampText, timestamp_text

PREFIX = "hoodie.keygen.timebased."
OLD_PREFIX = "hoodie.deltastreamer.keygen.timebased."


def settings(prefix: str = PREFIX, **more: str) -> TimestampText:
    """Settings by their last names, with `_` for the dots."""
    return timestamp_text({prefix + name.replace("_", "."): value for name, value in more.items()}, year_now=2026)


def text(result: TimestampText, value: Any) -> str:
    return result.text(value, field="ts", row=7)


MILLIS = {"timestamp_type": "EPOCHMILLISECONDS", "output_dateformat": "yyyy-MM-dd hh", "timezone": "GMT+8:00"}
TEXTS = {**MILLIS, "timestamp_type": "DATE_STRING", "input_dateformat": "yyyy-MM-dd hh:mm:ss"}
SCALAR = {"timestamp_type": "SCALAR", "timestamp_scalar_time_unit": "days", "output_dateformat": "yyyy-MM-dd hh", "timezone": "GMT"}
OFFSETS = {
    "timestamp_type": "DATE_STRING",
    "input_dateformat": "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
    "input_timezone": "",
    "output_dateformat": "yyyyMMddHH",
    "output_timezone": "GMT",
}
TWO = {**OFFSETS, "input_dateformat": "yyyy-MM-dd'T'HH:mm:ssZ,yyyy-MM-dd'T'HH:mm:ss.SSSZ", "output_timezone": "UTC"}
THREE = {
    **TWO,
    "input_dateformat": "yyyy-MM-dd'T'HH:mm:ssZ,yyyy-MM-dd'T'HH:mm:ss.SSSZ,yyyyMMdd",
    "input_timezone": "UTC",
    "output_dateformat": "MM/dd/yyyy",
}


@pytest.mark.parametrize("prefix", [PREFIX, OLD_PREFIX, "hoodie.streamer.keygen.timebased."])
@pytest.mark.parametrize(
    ("given", "value", "path"),
    [
        (MILLIS, 1578283932000, "2020-01-06 12"),
        (MILLIS, None, "1970-01-01 08"),
        (TEXTS, "2020-01-06 12:12:12", "2020-01-06 12"),
        (TEXTS, None, "1970-01-01 08"),
        (SCALAR, 20000, "2024-10-04 12"),
        (SCALAR, None, "1970-01-02 12"),
        (OFFSETS, "2020-04-01T13:01:33.428Z", "2020040113"),
        (TWO, "2020-04-01T13:01:33.428Z", "2020040113"),
        (TWO, "2020-04-01T13:01:33-05:00", "2020040118"),
        (THREE, "20200401", "04/01/2020"),
    ],
)
def test_example_of_the_guides(prefix: str, given: dict[str, str], value: Any, path: str) -> None:
    assert text(settings(prefix, **given), value) == path


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        ("UNIX_TIMESTAMP", 1578283, "1970-01-19 06:24:43.000"),
        ("UNIX_TIMESTAMP", -1, "1969-12-31 23:59:59.000"),
        ("UNIX_TIMESTAMP", None, "1970-01-01 00:00:01.000"),
        ("UNIX_TIMESTAMP", date(2024, 1, 15), "1970-01-01 05:28:57.000"),
        ("EPOCHMILLISECONDS", 1578283932000.7, "2020-01-06 04:12:12.000"),
        ("EPOCHMILLISECONDS", Decimal("1578283932000.99"), "2020-01-06 04:12:12.000"),
        ("EPOCHMILLISECONDS", float("nan"), "1970-01-01 00:00:00.000"),
        ("EPOCHMICROSECONDS", -1, "1970-01-01 00:00:00.000"),
        ("EPOCHMICROSECONDS", -86400001, "1969-12-31 23:58:33.600"),
        ("SCALAR", date(2024, 1, 15), "2024-01-15 00:00:00.000"),
        ("SCALAR", -86400001, "-234586-11-01 00:00:00.000"),
        ("EPOCHMILLISECONDS", datetime(2024, 1, 15, 9, 30, 0, 123456, UTC), "2024-01-15 09:30:00.123"),
        ("DATE_STRING", datetime(1960, 1, 15, 9, 30, 0, 123456, UTC), "1960-01-15 09:30:00.124"),
        ("MIXED", "2020-01-06 12:12:12", "2020-01-06 12:12:12.000"),
    ],
)
def test_value_of_each_type(kind: str, value: Any, path: str) -> None:
    given = {"timestamp_type": kind, "timestamp_scalar_time_unit": "DAYS", "input_dateformat": "yyyy-MM-dd HH:mm:ss"}
    assert text(settings(**given, output_dateformat="yyyy-MM-dd HH:mm:ss.SSS", timezone="UTC"), value) == path


@pytest.mark.parametrize(
    ("zones", "path"),
    [
        ({"output_timezone": "America/New_York", "input_timezone": "UTC"}, "2020-01-06 07:12 -0500"),
        ({"input_timezone": "Asia/Tokyo"}, "2020-01-06 12:12 +0900"),
        ({"input_timezone": "Asia/Tokyo", "output_timezone": "PST"}, "2020-01-05 19:12 -0800"),
        ({"timezone": "EST", "output_timezone": "UTC"}, "2020-01-06 12:12 -0500"),
        ({"timezone": "GMT-0330"}, "2020-01-06 12:12 -0330"),
    ],
)
def test_zones_of_input_and_output(zones: dict[str, str], path: str) -> None:
    result = settings(timestamp_type="DATE_STRING", input_dateformat="yyyy-MM-dd HH:mm", output_dateformat="yyyy-MM-dd HH:mm Z", **zones)
    assert text(result, "2020-01-06 12:12") == path


def test_delimiter_of_input_formats_is_a_regular_expression() -> None:
    given = {**TWO, "input_dateformat": "yyyy, MMM d;;yyyyMMdd;;", "input_dateformat_list_delimiter_regex": ";+"}
    result = settings(**{**given, "input_timezone": "UTC"})
    assert [text(result, value) for value in ("2020, Apr 1", "20200402")] == ["2020040100", "2020040200"]


@pytest.mark.parametrize(
    ("given", "value", "reason"),
    [
        (TEXTS, "yesterday", "form of the input format"),
        (TEXTS, "", "form of the input format"),
        (TEXTS, "2020-13-06 12:12:12", "month 13"),
        (TEXTS, "2023-02-29 01:00:00", "day 29"),
        (TEXTS, 5, "no unit"),
        (MILLIS, "2020-01-06", "DATE_STRING"),
        (MILLIS, True, "truth value"),
        ({**TEXTS, "timezone": "Europe/Paris", "input_dateformat": "yyyy-MM-dd HH:mm"}, "2024-03-31 02:30", "summer"),
    ],
)
def test_value_that_is_no_moment_is_refused_with_row_field_and_value(given: dict[str, str], value: Any, reason: str) -> None:
    with pytest.raises(KeyFieldError, match=rf"Row 7 has {value!r} in the partition field 'ts'.*{reason}"):
        text(settings(**given), value)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"timestamp_type": ""}, "timestamp.type"),
        ({"timestamp_type": "WEEKLY"}, "WEEKLY"),
        ({"output_dateformat": ""}, "output.dateformat"),
        ({"output_dateformat": "yyyy-X"}, "'X'"),
        ({"output_dateformat": "yyyy-MM-ddTHH"}, "'T'"),
        ({"timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"timezone": "UTC+8"}, "UTC\\+8"),
        ({"timestamp_type": "DATE_STRING"}, "input.dateformat"),
        ({"timestamp_type": "SCALAR", "timestamp_scalar_time_unit": "weeks"}, "WEEKS"),
        ({"timestamp_type": "MIXED", "input_dateformat": "yyyy", "input_dateformat_list_delimiter_regex": "("}, "delimiter"),
    ],
)
def test_wrong_setting_is_refused_by_name(given: dict[str, str], named: str) -> None:
    with pytest.raises(OptionError, match=named):
        settings(**{**MILLIS, **given})


def test_names_of_zones_in_paths_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="names of time zones"):
        settings(**{**MILLIS, "output_dateformat": "yyyy z"})


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("12:00 PST", "19"),
        ("12:00 PDT", "19"),
        ("12:00 EST", "16"),
        ("12:00 CDT", "17"),
        ("12:00 MST", "18"),
        ("12:00 UT", "12"),
        (None, "00"),
    ],
)
def test_short_names_of_zones_in_strings_are_those_of_joda_time(value: str | None, path: str) -> None:
    result = settings(**{**TEXTS, "input_dateformat": "yyyy-MM-dd HH:mm z", "output_dateformat": "HH", "timezone": "UTC"})
    assert text(result, value and f"2024-07-01 {value}") == path


@pytest.mark.parametrize("value", ["2024-07-01 CET", "2024-07-01 utc", "2024-07-01 Europe/Paris"])
def test_other_names_of_zones_in_strings_are_refused(value: str) -> None:
    result = settings(**{**TEXTS, "input_dateformat": "yyyy-MM-dd z", "timezone": "UTC"})
    with pytest.raises(KeyFieldError, match="form of the input format"):
        text(result, value)


def test_long_names_of_zones_are_read_by_nobody() -> None:
    with pytest.raises(OptionError, match="long names of time zones"):
        settings(**{**TEXTS, "input_dateformat": "yyyy zzzz"})
