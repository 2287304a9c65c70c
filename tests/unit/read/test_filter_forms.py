"""Filters with expressions answer as DuckDB does, nulls included; lists of tuples answer as pyarrow does."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from pyhudi.read.filter.predicate import parse_predicate

SCHEMA = pa.schema({"row": pa.int64(), "a": pa.int64(), "b": pa.int64(), "f": pa.float64(), "s": pa.string(), "ok": pa.bool_()})
_NUMBERS: list[int | None] = [None, -3, -1, 0, 1, 2, 7]
ROWS = pa.table(
    [
        range(49),
        [a for a in _NUMBERS for _ in _NUMBERS],
        [b for _ in _NUMBERS for b in _NUMBERS],
        [[None, 0.5, -2.0, 1.0][number % 4] for number in range(49)],
        [[None, "", "abc", "B%", "a_c"][number % 5] for number in range(49)],
        [[None, True, False][number % 3] for number in range(49)],
    ],
    schema=SCHEMA,
)
CONNECTION = duckdb.connect()
CONNECTION.register("arrow_rows", ROWS)
CONNECTION.execute("CREATE TABLE rows AS SELECT * FROM arrow_rows")  # its scans of Arrow do not know all of its own comparisons

_LITERALS = st.sampled_from(["0", "1", "-2", "7", "NULL"])
_TEXTS = st.sampled_from(["s", "lower(s)", "upper(s)", "'abc'", "coalesce(s, 'x')", "s || 'c'"])


def _wider(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
        | st.builds("({} % 3)".format, inner)
        | st.builds("({} / 2)".format, inner)
        | st.builds("(- {})".format, inner)
        | st.builds("coalesce({}, {})".format, inner, inner)
        | st.builds("CASE WHEN {} > {} THEN {} ELSE {} END".format, inner, inner, inner, inner)
        | st.builds("CAST({} AS DOUBLE)".format, inner)
    )


VALUES = st.recursive(st.sampled_from(["a", "b", "f", "length(s)"]) | _LITERALS.filter(lambda one: one != "NULL"), _wider, max_leaves=3)
TESTS = (
    st.builds("{} {} {}".format, VALUES, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), VALUES | _LITERALS)
    | st.builds("{} {} {}".format, _TEXTS, st.sampled_from(["=", "<>", "<"]), _TEXTS)
    | st.builds("{} IS {}NULL".format, VALUES, st.sampled_from(["", "NOT "]))
    | st.builds("{} {}IN ({}, {})".format, VALUES, st.sampled_from(["", "NOT "]), _LITERALS, _LITERALS)
    | st.builds("{} {}BETWEEN {} AND {}".format, VALUES, st.sampled_from(["", "NOT "]), VALUES, _LITERALS)
    | st.builds("s {}LIKE {}".format, st.sampled_from(["", "NOT "]), st.sampled_from(["'a%'", "'%c'", "'a_c'", "'B!%' ESCAPE '!'"]))
    | st.sampled_from(["ok", "ok IS TRUE", "ok IS NOT FALSE", "a IS NOT DISTINCT FROM b"])
)
CONDITIONS = st.recursive(
    TESTS,
    lambda inner: (
        st.builds("({} AND {})".format, inner, inner) | st.builds("({} OR {})".format, inner, inner) | st.builds("NOT ({})".format, inner)
    ),
    max_leaves=4,
)


@settings(max_examples=200)
@given(CONDITIONS)
def test_conditions_answer_as_duckdb_does(text: str) -> None:
    expected = [row for (row,) in CONNECTION.execute(f"SELECT row FROM rows WHERE {text} ORDER BY row").fetchall()]
    assert ROWS.filter(parse_predicate(text, SCHEMA).expression)["row"].to_pylist() == expected, text


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    result = HudiTable.create(tmp_path_factory.mktemp("tables") / "t", SCHEMA, name="t", keys=["row"], partition_by=["ok"])
    result.insert(ROWS)
    return result


@pytest.mark.parametrize(
    "filters",
    [
        [("a", "=", 1)],
        [("a", ">", 0), ("s", "in", ["abc", ""])],
        [[("a", "==", 7), ("b", "!=", 7)], [("s", "not in", ["abc"]), ("ok", "=", True)]],
        [[("row", "<=", 3)]],
    ],
)
def test_lists_of_tuples(table: HudiTable, filters: Any, tmp_path: Path) -> None:
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    expected = sorted(pq.read_table(tmp_path / "rows.parquet", filters=filters)["row"].to_pylist())
    assert expected
    assert sorted(table.to_arrow(filter=filters)["row"].to_pylist()) == expected
    assert table.count(filters) == len(expected)
    assert sorted(table.scan(filter=filters).to_table()["row"].to_pylist()) == expected


@pytest.mark.parametrize("filters", [[], [()], [("a", "=")], [("a", "~", 1)], ["a"], [[("a", "=", 1)], ("b", "=", 1)], 5])
def test_other_lists_are_refused(table: HudiTable, filters: Any) -> None:
    with pytest.raises(UsageError, match="is no list of tests such as"):
        table.to_arrow(filter=filters)


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        ([("at", "=", "2026-01-01T00:00:00+05:30")], [1]),
        ([("at", "in", ["2026-01-01T00:00:00+05:30", "2026-01-02"])], [1]),
        ([("at", ">=", "2026-01-01")], [2]),
        ([("at", "in", ["2026-01-01", None])], [2]),
        ([("day", "=", "2026-01-01")], [2]),
        ([("day", "in", ("2025-12-31", datetime.date(2026, 1, 2)))], [1]),
        ([[("local", "=", "2025-12-31 18:30:00"), ("row", ">", 1)]], [2]),
        ("CAST('2026-01-01T00:00:00+05:30' AS TIMESTAMP) = at", [1]),
    ],
)
def test_texts_of_times(tmp_path: Path, filters: Any, rows: list[int]) -> None:
    assert sorted(table_of_times(tmp_path).to_arrow(filter=filters)["row"].to_pylist()) == rows


@pytest.mark.parametrize(
    "filters",
    ["at = '2026-13-01T00:00:00+05:30'", "CAST('2026-13-01T00:00:00+05:30' AS TIMESTAMP) = at", [("at", "=", "2026-13-01T00:00:00+05:30")]],
)
def test_text_that_is_no_time_is_named(tmp_path: Path, filters: Any) -> None:
    with pytest.raises(
        UsageError, match=r"'2026-13-01T00:00:00[+]05:30', which is no .*an offset from UTC, but no date and time"
    ) as caught:
        table_of_times(tmp_path).to_arrow(filter=filters)
    assert isinstance(filters, list) or str(caught.value).endswith("^")


def table_of_times(folder: Path) -> HudiTable:
    schema = pa.schema({"row": pa.int64(), "at": pa.timestamp("us", "UTC"), "local": pa.timestamp("us"), "day": pa.date32()})
    table = HudiTable.create(folder / "times", schema, name="times", keys=["row"])
    times = pa.array(["2025-12-31 18:30:00", "2026-01-01 00:00:00"]).cast(pa.timestamp("us"))
    at = times.cast("int64").cast(pa.timestamp("us", "UTC"))
    table.insert(pa.table({"row": [1, 2], "at": at, "local": [times[0]] * 2, "day": times.cast(pa.date32())}, schema=schema))
    return table


def test_lists_of_tuples_choose_the_rows_of_a_change(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["row"])
    table.insert(ROWS)
    table.update({"s": "'new'"}, where=[("row", "in", [1, 2])])
    assert table.delete(where=[("row", ">", 2)]).deleted == 46
    assert sorted(one["row"] for one in table.to_arrow(filter="s = 'new' AND row * 2 > 0").to_pylist()) == [1, 2]
    with pytest.raises(UsageError, match="names the column 'nothing'") as caught:
        table.delete(where="row > 1 AND nothing = 2")
    assert str(caught.value).endswith("  row > 1 AND nothing = 2\n" + " " * 14 + "^")


def test_partitions_are_left_out_by_the_rest_of_a_condition_with_an_expression(table: HudiTable) -> None:
    for filters in ("ok = true AND a + b = 3", [("ok", "=", True), ("a", "=", 1)]):
        rows = table.inspect.plan(filters).to_pylist()
        assert {(one["partition_path"], one["read"]) for one in rows} >= {("true", True), ("false", False)}


@pytest.mark.parametrize("text", ["city > 5", "5 >= city", "city BETWEEN 1 AND 9"])
def test_strings_are_not_ordered_by_numbers(text: str) -> None:
    table = HudiTable.create(f"memory://{text}", pa.schema({"id": pa.int64(), "city": pa.string()}), name="t", keys=["id"])
    table.insert([{"id": 1, "city": "10"}])
    with pytest.raises(UsageError, match=r"strings are less or greater than the number \d, where '10' comes before '9'"):
        table.to_arrow(filter=text)
    assert table.to_arrow(filter="CAST(city AS BIGINT) > 5 AND city = 10").num_rows == 1
