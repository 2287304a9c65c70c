"""Functions of expression indexes: what they give, and when they give nothing."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.codec.bloom_codec import BloomFilter, BloomType
from pyhudi.metadata_table.format.index_definitions import IndexDefinition
from pyhudi.metadata_table.format.index_expressions import Expression
from pyhudi.metadata_table.format.record import BloomFilterRecord, ColumnStats, ValueType
from pyhudi.metadata_table.indexes.expression_records import ExpressionRecords
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import BaseFileName

FILE = BaseFile("p", BaseFileName("f-0", "0-0-0", "20260101000000000"), 100)
MOMENT = pa.array([datetime(2026, 1, 1, 4, tzinfo=UTC), None], pa.timestamp("us", "UTC"))


def value(function: str, column: pa.Array, **options: str) -> list[Any] | None:
    result = Expression(function, options).of_column(column)
    answer: list[Any] | None = None if result is None else result.to_pylist()
    return answer


def test_case_of_letters_beyond_ascii_is_javas() -> None:
    assert value("lower", pa.array(["ÄB", "ΟΔΟΣ", None])) == ["äb", "οδος", None]
    assert value("upper", pa.array(["straße", None])) == ["STRASSE", None]


def test_timestamps_become_strings_in_the_zone_of_the_index() -> None:
    assert value("date_format", MOMENT, format="yyyy-MM-dd HH:mm", timeZone="America/Chicago") == ["2025-12-31 22:00", None]
    assert value("from_unixtime", pa.array([1_700_000_000]), format="yyyy-MM-dd", timeZone="UTC") == ["2023-11-14"]
    assert value("year", MOMENT, timeZone="America/Chicago") == [2025, None]


def test_without_a_zone_timestamps_have_no_local_time() -> None:
    assert value("year", MOMENT) is None
    assert value("from_unixtime", pa.array([0]), format="yyyy") is None


def test_dates_need_no_zone() -> None:
    days = pa.array([date(2026, 2, 28)], pa.date32())
    assert value("month", days) == [2]
    assert value("date_add", days, days="1") == [date(2026, 3, 1)]
    assert value("date_format", days, format="yyyy/MM") == ["2026/02"]


@pytest.mark.parametrize("pattern", ["EEE", "yyyy-MM-dd'T'HH", "yy", "MMM"])
def test_pattern_that_is_not_known_gives_nothing(pattern) -> None:
    assert value("date_format", pa.array([date(2026, 2, 28)], pa.date32()), format=pattern) is None


def test_years_of_other_than_four_digits_have_java_s_strings() -> None:
    days = pa.array([-354650, -719529, -719162, 2932897, None, 0], pa.date32())
    assert value("date_format", days, format="yyyy-MM") == ["0999-01", "-0001-12", "0001-01", "+10000-01", None, "1970-01"]


def test_value_whose_year_is_not_known_for_certain_has_no_result() -> None:
    far = pa.array([0, 2**62, -(2**62), 2 * 10**12, 950_400_000_000, None])
    assert value("from_unixtime", far, format="yyyy", timeZone="UTC") == ["1970", None, None, None, "+32086", None]
    assert value("date_format", pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32()), format="yyyy") == [None, "1970"]
    assert value("year", pa.array([2**60, 0], pa.timestamp("ms", "UTC")), timeZone="Asia/Tokyo") == [None, 1970]
    assert value("hour", pa.array([0], pa.timestamp("ns", "UTC")), timeZone="UTC") == [0]


@pytest.mark.parametrize("kind", ["column_stats", "bloom_filters"])
def test_file_with_a_value_that_has_no_result_has_no_record(kind) -> None:
    options = {"format": "yyyy", "timeZone": "UTC"}
    assert record("from_unixtime", kind, pa.array([0, 2**62]), **options) is None
    assert record("from_unixtime", kind, pa.array([0, None]), **options) is not None


@pytest.mark.parametrize("zone", ["Nope/Zone", "GMT+1", ""])
def test_zone_that_is_not_known_gives_nothing(zone) -> None:
    assert value("hour", MOMENT, timeZone=zone) is None


@pytest.mark.parametrize("days", ["99999999999", "2147483648", "-2147483649", "9" * 5000, "1_000", "one", ""])
def test_number_of_more_than_32_bits_is_none(days) -> None:
    column = pa.array([date(2026, 2, 28)], pa.date32())
    assert value("date_add", column, days=days) is None
    assert value("substring", pa.array(["a"]), pos="1", len=days) is None


def test_sum_of_days_begins_again_beyond_32_bits() -> None:
    result = Expression("date_sub", {"days": "-2147483648"}).of_column(pa.array([0], pa.int32()).cast(pa.date32()))
    assert result is not None
    assert result.cast(pa.int32()).to_pylist() == [-(2**31)]


def record(function: str, kind: str, column: pa.Array, **options: str):
    definition = IndexDefinition("expr_index_x", kind, function, ("c",), options, 2)
    return ExpressionRecords(definition, 2).of_file(FILE, pa.table({"c": column}))


def test_bounds_count_values_that_are_not_null() -> None:
    stats = record("lower", "column_stats", pa.array(["B", None, "a"]))
    assert isinstance(stats, ColumnStats)
    assert (stats.minimum, stats.maximum, stats.value_type) == ("a", "b", ValueType.STRING)
    assert (stats.value_count, stats.null_count, stats.total_size) == (2, 1, 100)


def test_bounds_of_dates_are_days() -> None:
    stats = record("identity", "column_stats", pa.array([date(1970, 1, 2)], pa.date32()))
    assert isinstance(stats, ColumnStats)
    assert (stats.minimum, stats.value_type) == (1, ValueType.DATE)


def test_a_number_that_is_none_leaves_no_bounds() -> None:
    assert record("identity", "column_stats", pa.array([1.0, float("nan")])) is None


def test_filter_knows_the_values_of_the_function() -> None:
    result = record("lower", "bloom_filters", pa.array(["Ab", None]))
    assert isinstance(result, BloomFilterRecord)
    bloom = BloomFilter.decode(result.text.decode(), BloomType(result.kind))
    assert (bloom.might_contain("ab"), bloom.might_contain("Ab")) == (True, False)
