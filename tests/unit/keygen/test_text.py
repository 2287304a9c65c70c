"""Texts of values in keys, as Apache Hudi 1.2.0 was seen to write them."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from pyhudi.javacompat.float_text import float_text
from pyhudi.javacompat.zones import UTC_ZONE
from pyhudi.keygen.value_text import clock_text, timestamp_millis, value_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        ("", ""),
        ("Zürich", "Zürich"),
        (True, "true"),
        (-5, "-5"),
        (1e10, "1.0E10"),
        (100.0, "100.0"),
        (0.0001, "1.0E-4"),
        (0.001, "0.001"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (-0.0, "-0.0"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (Decimal("1.50"), "1.50"),
        (Decimal("0E-7"), "0E-7"),
        (date(2024, 1, 15), "2024-01-15"),
        (datetime(2024, 1, 15, 10, 11, 12, 500000, tzinfo=UTC), "1705313472500000"),
        (datetime(2024, 1, 15, 11, 11, 12, 500000, tzinfo=timezone(timedelta(hours=1))), "1705313472500000"),
        (datetime(2024, 1, 15, 10, 11, 12, 500000), "1705313472500000"),
        (datetime(1969, 12, 31, 23, 59, 59, 999999), "-1"),
        (b"\x00\xff", "00ff"),
    ],
)
def test_value_has_the_text_that_java_prints(value: Any, text: str | None) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2e23, "1.9999999999999998E23"),
        (1e23, "9.999999999999999E22"),
        (123456789012346688.0, "1.23456789012346688E17"),
        (5e-324, "4.9E-324"),
        (2.0**-1022, "2.2250738585072014E-308"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (-2.4996964836998023e25, "-2.4996964836998022E25"),
        (0.001, "0.001"),
        (9.999999e-4, "9.999999E-4"),
        (9999999.999999998, "9999999.999999998"),
        (2.0**62, "4.6116860184273879E18"),
        (2.0**63, "9.223372036854776E18"),
    ],
)
def test_digits_are_those_of_the_java_of_apache_hudi(value: float, text: str) -> None:
    assert float_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (3.4028235e38, "3.4028235E38"),
        (1e7, "1.0E7"),
        (33589688.0, "3.3589688E7"),
        (4.230369682330923e25, "4.2303696E25"),
        (1.401298464324817e-45, "1.4E-45"),
    ],
)
def test_float_of_single_precision_has_as_many_digits_as_it_needs(value: float, text: str) -> None:
    assert float_text(value, single_precision=True) == text


def test_value_without_a_text_is_refused() -> None:
    with pytest.raises(TypeError, match="list"):
        value_text([1])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime(2024, 1, 15, 9, 30, 0, 123456, UTC), "2024-01-15 09:30:00.123"),
        (datetime(1960, 1, 15, 9, 30, 0, 123456, UTC), "1960-01-15 09:30:00.124"),
        (datetime(2024, 1, 15, 9, 30, tzinfo=UTC), "2024-01-15 09:30:00.0"),
    ],
)
def test_timestamp_as_text_is_cut_to_milliseconds_as_hudi_cuts_it(value: datetime, text: str) -> None:
    assert clock_text(timestamp_millis(value), UTC_ZONE) == text


def test_timestamp_as_text_follows_the_clocks_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert value_text(datetime(2024, 1, 15, 9, 30, tzinfo=UTC), timestamps_as_text=True) == "2024-01-15 18:30:00.0"
        assert value_text(datetime(2024, 1, 15, 9, 30), timestamps_as_text=True) == "1705311000000000"
    finally:
        monkeypatch.undo()
        time.tzset()
