"""Partition values of the kind TIMESTAMP: columns have the texts that their values have one by one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import KeyFieldError
from pyhudi.kernels.arrays.timestamp_text import timestamp_strings
from pyhudi.kernels.keys.key_kernels import column_text, key_columns
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.keygen.timestamp_partition import TimestampText, timestamp_text
from pyhudi.keygen.user import register_key_generator
from pyhudi.keygen.value_text import value_text
from pyhudi.spec.table.table_config import TableConfig
from tests.unit.kernels.conftest import keyed_config

PREFIX = "hoodie.keygen.timebased."
INSTANT = "20260101000000000"
longs = st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**13), 10**13)
numbers = [
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), longs),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.decimal128(20, 2), st.decimals(-(10**16), 10**16, places=2)),
    (pa.date32(), st.dates()),
]
moments = [(pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))), (pa.timestamp("us"), st.datetimes())]
zones = st.sampled_from(["UTC", "GMT+5:45", "America/New_York", "America/St_Johns", "Europe/Paris", ""])
patterns = st.sampled_from(["yyyy/MM/dd", "yyyy-MM-dd hh", "yyyyMMddHHmm", "HH:mm:ss.SSS", "xxxx-ww", "yyyy Z", "ZZZ", "'x'", "EEE a"])
units = st.sampled_from(["UNIX_TIMESTAMP", "EPOCHMILLISECONDS", "EPOCHMICROSECONDS", "SCALAR"])


def settings(**more: str) -> TimestampText:
    return timestamp_text({PREFIX + name.replace("_", "."): value for name, value in more.items()}, year_now=2026)


def texts_of(column: pa.Array, result: TimestampText) -> list[str | None]:
    codes, strings = timestamp_strings(column, result, "ts")
    return [strings[code] for code in codes]


@st.composite
def columns(draw: st.DrawFn) -> pa.Array:
    arrow, values = draw(st.sampled_from([*numbers, *moments]))
    return pa.array(draw(st.lists(values | st.none(), max_size=8)), arrow)


@given(columns(), zones, patterns, units)
def test_strings_of_a_column_are_those_of_its_values(column: pa.Array, zone: str, pattern: str, kind: str) -> None:
    result = settings(timestamp_type=kind, timestamp_scalar_time_unit="HOURS", output_dateformat=pattern, output_timezone=zone)
    expected = [result.text(value, field="ts", row=0) for value in column.to_pylist()]
    assert texts_of(column, result) == expected


days = st.dates().map(lambda day: f"{day:%Y}".zfill(4) + f"{day:-%m-%d}")


@given(st.lists(days | st.none(), max_size=6), st.sampled_from(["UTC", ""]))
def test_strings_of_a_column_of_dates_are_those_of_its_values(values: list[str | None], zone: str) -> None:
    result = settings(timestamp_type="DATE_STRING", input_dateformat="yyyy-MM-dd", output_dateformat="dd.MM.yyyy", input_timezone=zone)
    expected = [result.text(value, field="ts", row=0) for value in values]
    assert texts_of(pa.array(values, pa.string()), result) == expected


stamps = st.datetimes().map(lambda at: f"{at.isoformat(timespec='milliseconds').zfill(23)}")
offsets = st.sampled_from(["Z", "+05:30", "+25:00", "+23:59", "-0800", "+00:00", "z", "+5", ""])


@given(st.lists(st.tuples(stamps, offsets) | st.none(), max_size=6), st.sampled_from(["UTC", "GMT+5:45", "Asia/Tokyo", ""]), st.booleans())
def test_strings_of_a_column_of_times_are_those_of_its_values(values: list[tuple[str, str] | None], zone: str, has_offset: bool) -> None:
    result = settings(
        timestamp_type="DATE_STRING",
        input_dateformat="yyyy-MM-dd'T'HH:mm:ss.SSS" + ("Z" if has_offset else ""),
        output_dateformat="yyyy/MM/dd HH:mm:ss.SSS",
        input_timezone=zone,
        output_timezone="America/New_York" if has_offset else "",
    )
    strings = [None if value is None else value[0] + (value[1] if has_offset else "") for value in values]
    column = pa.array(strings, pa.string())
    try:
        expected = [result.text(value, field="ts", row=0) for value in strings]
    except KeyFieldError:
        with pytest.raises(KeyFieldError):
            texts_of(column, result)
    else:
        assert texts_of(column, result) == expected


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_tokyo")
def test_zone_of_this_machine_is_taken_when_none_is_given() -> None:
    result = settings(timestamp_type="UNIX_TIMESTAMP", output_dateformat="yyyy-MM-dd HH")
    assert texts_of(pa.array([0, None]), result) == ["1970-01-01 09", "1970-01-01 09"]


@pytest.mark.usefixtures("in_tokyo")
@given(st.lists(st.datetimes(timezones=st.just(UTC)) | st.none(), max_size=5))
def test_timestamps_as_text_are_those_of_the_values(values: list[Any]) -> None:
    column = pa.chunked_array([pa.array(values, pa.timestamp("us", "UTC"))])
    expected = [value_text(value, timestamps_as_text=True) for value in values]
    assert column_text(column, "ts", timestamps_as_text=True).to_pylist() == expected


def config(partitions: str, kind: str, keys: str = "id", **more: str) -> TableConfig:
    generator = {
        "hoodie.table.keygenerator.type": kind,
        PREFIX + "timestamp.type": "DATE_STRING",
        PREFIX + "input.dateformat": "yyyy-MM-dd",
        PREFIX + "output.dateformat": "yyyy/MM/dd",
        PREFIX + "timezone": "UTC",
    }
    return keyed_config(keys, partitions, **generator | more)


def paths(rows: pa.Table, table: TableConfig) -> list[str]:
    result: list[str] = key_columns(rows, key_generator(table, instant=INSTANT), first_row=10)[1].to_pylist()
    return result


ROWS = pa.table({"id": ["a", "b"], "city": ["x/y", None], "at": [{"day": "2024-01-15"}, {"day": None}]})


def test_custom_generator_joins_its_fields() -> None:
    assert paths(ROWS, config("city:SIMPLE,at.day:TIMESTAMP", "CUSTOM")) == ["x/y/2024/01/15", "__HIVE_DEFAULT_PARTITION__/1970/01/01"]


def test_custom_generator_in_hive_style_with_encoding() -> None:
    styles = {"hoodie.datasource.write.hive_style_partitioning": "true", "hoodie.datasource.write.partitionpath.urlencode": "true"}
    assert paths(ROWS, config("city:SIMPLE,at.day:TIMESTAMP", "CUSTOM", **styles)) == [
        "city=x%2Fy/at.day=2024%2F01%2F15",
        "city=__HIVE_DEFAULT_PARTITION__/at.day=1970%2F01%2F01",
    ]


def test_text_that_is_no_date_names_row_field_and_value() -> None:
    rows = pa.table({"id": ["a", "b", "c"], "day": ["2024-01-15", "soon", "soon"]})
    with pytest.raises(KeyFieldError, match=r"Row 11 has 'soon' in the partition field 'day'"):
        paths(rows, config("day", "TIMESTAMP"))


@pytest.mark.parametrize("field", ["at.hour", "nowhere", "id.x"])
def test_path_that_does_not_exist_is_named(field: str) -> None:
    with pytest.raises(KeyFieldError, match=field):
        paths(ROWS, config(field, "TIMESTAMP"))


@pytest.mark.parametrize("column", [pa.array([True, False]), pa.array([b"x", b"y"]), pa.array([[1], [2]])])
def test_type_that_is_no_moment_is_refused(column: pa.Array) -> None:
    with pytest.raises(KeyFieldError, match="'day'"):
        paths(pa.table({"id": ["a", "b"], "day": column}), config("day", "TIMESTAMP"))


class ByFirstLetter:
    def record_key(self, record: Any) -> str:
        return str(record["id"]).upper()

    def partition_path(self, record: Any) -> str:
        return str(record["id"])[:1]


def test_generator_of_a_user_makes_keys_and_paths_of_whole_records() -> None:
    register_key_generator("tests.ByFirstLetter", ByFirstLetter())
    table = config("id", "USER_PROVIDED", **{"hoodie.table.keygenerator.class": "tests.ByFirstLetter"})
    keys, result = key_columns(pa.table({"id": ["ab", "cd"]}), key_generator(table, instant=INSTANT))
    assert (keys.to_pylist(), result.to_pylist()) == (["AB", "CD"], ["a", "c"])


@pytest.mark.parametrize(("identifier", "reason"), [("", "record key ''"), (".", "is refused")])
def test_generator_of_a_user_that_makes_no_key_or_place_is_told_so(identifier: str, reason: str) -> None:
    register_key_generator("tests.ByFirstLetter", ByFirstLetter())
    table = config("id", "USER_PROVIDED", **{"hoodie.table.keygenerator.class": "tests.ByFirstLetter"})
    with pytest.raises(KeyFieldError, match=reason):
        key_columns(pa.table({"id": [identifier]}), key_generator(table, instant=INSTANT))
