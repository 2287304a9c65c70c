"""Keys and partition paths of whole tables are those of their rows one by one."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import KeyFieldError
from pyhudi.kernels.keys.key_kernels import column_text, key_columns
from pyhudi.keygen.choose_generator import key_generator
from pyhudi.keygen.fields import FieldKeys
from pyhudi.keygen.value_text import value_text
from pyhudi.spec.table.table_config import TableConfig
from tests.unit.kernels.conftest import keyed_config

INSTANT = "20260101000000000"

values_of_type = [
    (pa.string(), st.text(max_size=5)),
    (pa.bool_(), st.booleans()),
    (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.decimal128(20, 9), st.decimals(-(10**10), 10**10, places=9)),
    (pa.decimal128(38, 0), st.decimals(-(10**37), 10**37, places=0)),
    (pa.date32(), st.dates()),
    (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))),
    (pa.timestamp("us"), st.datetimes()),
    (pa.binary(), st.binary(max_size=4)),
]


@st.composite
def columns(draw: st.DrawFn) -> pa.Array:
    arrow, values = draw(st.sampled_from(values_of_type))
    return pa.array(draw(st.lists(values | st.none(), max_size=6)), arrow)


def config(keys: str, partitions: str = "", **more: str) -> TableConfig:
    return keyed_config(keys, partitions, **{"hoodie.datasource.write.partitionpath.urlencode": "true"} | more)


def made(rows: pa.Table, table: TableConfig) -> tuple[list[str], list[str]]:
    keys, paths = key_columns(rows, key_generator(table, instant=INSTANT))
    return keys.to_pylist(), paths.to_pylist()


@given(columns())
def test_text_of_a_column_is_that_of_its_values(column: pa.Array) -> None:
    single = pa.types.is_float32(column.type)
    expected = [value_text(value, single_precision=single) for value in column.to_pylist()]
    assert column_text(pa.chunked_array([column]), "c").to_pylist() == expected


strings = st.one_of(st.none(), st.sampled_from(["", "a", "b/c", "Zürich", "x=y"]))


@given(st.lists(st.tuples(strings, st.sampled_from([None, 1, 2]), strings, st.booleans()), max_size=8))
def test_keys_and_paths_of_a_table_are_those_of_its_rows(rows: list[tuple[Any, ...]]) -> None:
    named = [dict(zip("abpq", row, strict=True)) for row in rows if row[0] or row[1]]
    table = pa.Table.from_pylist(named, pa.schema({"a": pa.string(), "b": pa.int64(), "p": pa.string(), "q": pa.bool_()}))
    complex_config = config("a,b", "p,q")
    generator = key_generator(complex_config, instant=INSTANT)
    assert isinstance(generator, FieldKeys)
    keys, paths = made(table, complex_config)
    for number, row in enumerate(named):
        assert keys[number] == generator.record_key([value_text(row["a"]), value_text(row["b"])], row=number)
        assert paths[number] == generator.layout.path([value_text(row["p"]), value_text(row["q"])])


def test_table_without_key_fields_gets_keys_of_its_own() -> None:
    rows = pa.table({"v": [1, 2]})
    keys, paths = key_columns(rows, key_generator(config(""), instant=INSTANT, task_partition=4), first_row=9)
    assert keys.to_pylist() == [f"{INSTANT}_4_9", f"{INSTANT}_4_10"]
    assert paths.to_pylist() == ["", ""]


def test_dictionary_chunks_and_slices_give_the_same_keys_as_plain_text() -> None:
    column = pa.chunked_array([pa.array(["x", "b", "a"]).dictionary_encode().slice(1), pa.array(["c"]).dictionary_encode()])
    assert made(pa.table({"k": column, "p": column}), config("k", "p")) == (["b", "a", "c"], ["b", "a", "c"])


def test_nested_key_field_is_found_by_its_dotted_name() -> None:
    rows = pa.table({"s": [{"id": 5}]})
    assert made(rows, config("s.id"))[0] == ["5"]


def test_key_field_is_found_regardless_of_case() -> None:
    assert made(pa.table({"ID": [1]}), config("id"))[0] == ["1"]


@pytest.mark.parametrize("bad", [None, ""])
def test_null_or_empty_key_names_row_and_field(bad: str | None) -> None:
    with pytest.raises(KeyFieldError, match=r"Row 1 .* 'id'"):
        made(pa.table({"id": pa.array(["x", bad])}), config("id"))


def test_composite_key_of_nulls_alone_names_the_row() -> None:
    rows = pa.table({"a": pa.array(["x", None]), "b": pa.array([None, None], pa.string())})
    with pytest.raises(KeyFieldError, match="Row 1"):
        made(rows, config("a,b", "a", **{"hoodie.table.keygenerator.type": "COMPLEX"}))


def test_missing_field_is_named_with_the_columns_there_are() -> None:
    with pytest.raises(KeyFieldError, match=r"'id' is not in the data.*other"):
        made(pa.table({"other": [1]}), config("id"))


@pytest.mark.parametrize("column", [pa.array([[1]]), pa.array([{"a": 1}])])
def test_type_without_a_text_is_refused_with_the_field(column: pa.Array) -> None:
    with pytest.raises(KeyFieldError, match="'id'"):
        made(pa.table({"id": column}), config("id"))


def test_partition_value_that_leaves_the_table_is_refused_with_its_row() -> None:
    rows = pa.table({"id": [1, 2], "p": ["ok", "../../x"]})
    plain = config("id", "p", **{"hoodie.datasource.write.partitionpath.urlencode": "false"})
    with pytest.raises(KeyFieldError, match=r"Row 1 \(p='\.\./\.\./x'\)"):
        made(rows, plain)


def test_null_and_empty_partition_values_go_to_the_default_partition() -> None:
    rows = pa.table({"id": [1, 2, 3], "p": pa.array([None, "", "x"])})
    assert made(rows, config("id", "p"))[1] == ["__HIVE_DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__", "x"]


def test_dates_and_numbers_make_partition_paths_of_their_strings() -> None:
    rows = pa.table({"id": [1], "d": [date(2024, 1, 15)], "n": [math.pi], "t": [datetime(1970, 1, 1, 0, 0, 1)]})
    assert made(rows, config("id", "d,n,t"))[1] == ["2024-01-15/3.141592653589793/1000000"]


def test_dates_are_the_strings_that_apache_hudi_and_spark_make_of_them() -> None:
    days = pa.array([2_932_896, 2_932_897, None, 0, -756_052, -719_529], pa.int32()).cast(pa.date32())
    expected = ["9999-12-31", "+10000-01-01", None, "1970-01-01", "-0100-01-01", "-0001-12-31"]
    assert column_text(pa.chunked_array([days]), "d").to_pylist() == expected
    assert column_text(pa.chunked_array([days[:1], days[2:3]]), "d").to_pylist() == ["9999-12-31", None]
    assert column_text(pa.chunked_array([days[2:3]]), "d").to_pylist() == [None]
