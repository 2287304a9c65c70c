"""Functions of columns in filters: what they answer, what files and partitions they rule out, and what is no call."""

from __future__ import annotations

import operator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from pyhudi.metadata_table.format.index_definitions import ZONE_OPTION
from pyhudi.metadata_table.format.index_expressions import Expression
from pyhudi.read.execute import select
from pyhudi.read.filter.condition import Column, Compare, FunctionCall, operands
from pyhudi.read.filter.predicate import parse_predicate
from pyhudi.read.skipping.bounds import Bounds, may_match
from pyhudi.read.skipping.data_skipping import Skipping
from pyhudi.read.skipping.function_bounds import bounds_of_call, keeps_order
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot

SCHEMA = pa.schema(
    {"s": pa.string(), "ts": pa.timestamp("us", "UTC"), "l": pa.int64(), "d": pa.date32(), "st": pa.struct({"a": pa.string()})}
)
ROWS = pa.Table.from_pylist(
    [
        {"s": "A b", "ts": datetime(2024, 1, 1, 23, 59, 59, 999999, UTC), "l": 0, "d": date(2024, 1, 31), "st": {"a": "X"}},
        {"s": "ÄPFEL", "ts": datetime(1, 2, 3, tzinfo=UTC), "l": 1704067200, "d": date(9999, 12, 31)},
        {"ts": datetime(1969, 12, 31, 23, 59, 59, 5, UTC), "st": {"a": "y"}},
    ],
    schema=SCHEMA,
)


@pytest.mark.parametrize(
    ("text", "locations"),
    [
        ("lower(s) = 'äpfel'", [1]),
        ("UPPER(st.a) IN ('X', 'Y')", [0, 2]),
        ("date_format(ts, 'yyyy-MM-dd') = '2024-01-01'", [0]),
        ("'0001-02-03 00:00:00' = date_format(ts, 'yyyy-MM-dd HH:mm:ss')", [1]),
        ("from_unixtime(l) = '2024-01-01 00:00:00'", [1]),
        ("from_unixtime(l, 'yyyy') <= '1970'", [0]),
        ("year(d) = 2024 OR hour(ts) = 0", [0, 1]),
        ("date_add(d, 1) = DATE '2024-02-01'", [0]),
        ("NOT length(s) > 3", [0]),
        ("substr(s, 1, 1) LIKE 'A%'", [0]),
        ("lower(s) IS NULL", [2]),
        ("lower(s) = trim(s)", []),
        ("lower(s) <=> 'a b'", [0]),
    ],
)
def test_a_function_of_a_column_is_computed_as_spark_does(text, locations) -> None:
    numbered = ROWS.append_column("row", pa.array(range(3)))
    assert numbered.filter(parse_predicate(text, SCHEMA).expression).column("row").to_pylist() == locations


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("initcap(s) = 'A'", "calls 'initcap', which is not served"),
        ("lower(l) = 'a'", "of column 'l' of type int64"),
        ("date_format(ts, 1) = 'x'", "with the format 1; it is a text"),
        ("date_format(ts) = 'x'", r"it is date_format\(column, format\)"),
        ("date_format(ts, 'EEE') = 'x'", "format 'EEE', which is not served"),
        ("lower(s, 'x') = 'y'", "with 1 more arguments"),
        ("lower(nothing) = 'y'", "'nothing', which the table does not have"),
        ("lower(s = 'x'", r"misses '\)' after"),
        ("year(d) = 'x'", "compares with|compares a column"),
    ],
)
def test_a_call_that_is_not_served_is_refused_by_name(text, problem) -> None:
    with pytest.raises(UsageError, match=problem):
        parse_predicate(text, SCHEMA)


def test_files_and_partitions_are_ruled_out_through_functions(tmp_path: Path) -> None:
    schema = pa.schema({"id": pa.string(), "city": pa.string(), "ts": pa.timestamp("us", "UTC"), "l": pa.int64()})
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"], partition_by=["city"])
    for day in range(4):
        time = datetime(2024, 1, 1 + day, 12, tzinfo=UTC)
        rows = [{"id": str(day), "city": ("Oslo", "Lima")[day % 2], "ts": time, "l": int(time.timestamp())}]
        table.insert(rows, options={"hoodie.parquet.small.file.limit": "0"})
    snapshot = open_snapshot(table.storage, SnapshotQuery())
    for text, count in {
        "date_format(ts, 'yyyy-MM-dd') = '2024-01-03'": 1,
        "from_unixtime(l, 'yyyy-MM-dd') >= '2024-01-03'": 2,
        "year(ts) = 2023": 0,
        "lower(city) = 'oslo'": 2,
        "lower(city) = 'oslo' AND date_format(ts, 'yyyy-MM') = '2024-02'": 0,
    }.items():
        selection = select(snapshot, None, text)
        chosen = Skipping(snapshot, selection.test, at_any_price=True).choose(selection.paths)
        assert len(chosen.slices) == count, text
        assert table.to_arrow(filter=text).num_rows == count, text


ZONES = ["UTC", "America/Havana", "Asia/Kolkata", "Pacific/Apia", "-03:00"]
MOMENTS = st.integers(0, 2**31).map(lambda second: datetime(1990, 1, 1, tzinfo=UTC) + timedelta(seconds=second)) | st.integers(
    -7200, 7200
).map(lambda second: datetime(2024, 11, 3, 5, tzinfo=UTC) + timedelta(seconds=second))
CALLS = [("date_format", (("format", pattern),)) for pattern in ("yyyy", "yyyy-MM-dd", "yyyy-MM-dd HH:mm:ss", "yyyyMM")] + [("year", ())]


@given(moments=st.lists(MOMENTS, min_size=1, max_size=5), session_zone=MOMENTS, which=st.sampled_from(CALLS), zone=st.sampled_from(ZONES))
def test_a_file_is_kept_whose_rows_a_function_matches_in_any_zone(moments, session_zone, which, zone) -> None:
    kind, column = pa.int32() if which[0] == "year" else pa.string(), Column(("ts",), SCHEMA.field("ts").type)
    call = FunctionCall(which[0], column, kind, which[1], zone)
    assert keeps_order(call)
    values = Expression(which[0], dict(which[1]) | {ZONE_OPTION: zone}).of_column(pa.array([*moments, session_zone], column.type))
    low, high = (pa.array([choose(moments)], column.type) for choose in (min, max))
    bounds = bounds_of_call(call, Bounds(low, high, np.ones(1, bool), np.zeros(1, bool)))
    assert values is not None
    assert bounds is not None
    *result, expected = values.to_pylist()
    for symbol, compare in {"=": operator.eq, "<=": operator.le, ">=": operator.ge}.items():
        retained = may_match(Compare(call, symbol, pa.scalar(expected, kind)), {call: bounds}, 1, nan_is_greatest=True)[0]
        assert retained or not any(compare(one, expected) for one in result)


@pytest.mark.parametrize(
    "text", ["lower(s) = 'a'", "hour(ts) = 1", "date_format(ts, 'MM-yyyy') = 'x'", "substring(s, 2, 1) = 'a'", "length(s) = 1"]
)
def test_functions_that_do_not_keep_order_are_not_bounded(text) -> None:
    (call,) = operands(parse_predicate(text, SCHEMA).condition)
    assert not keeps_order(call)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("condition", "rows"), [("year(d) IS NULL", [1]), ("year(d) IS NOT NULL", [0, 2]), ("NOT (year(d) <=> NULL)", [0, 2])]
)
def test_a_function_is_null_where_its_column_is(condition: str, rows: list[int]) -> None:
    table = pa.table({"row": [0, 1, 2], "d": pa.array([11_000_001, None, 0], pa.int32()).cast(pa.date32())})
    assert table.filter(parse_predicate(condition, table.schema).expression)["row"].to_pylist() == rows


def test_a_file_is_kept_when_a_bound_has_no_result(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64(), "l": pa.int64()}), name="t", keys=["id"])
    table.insert([{"id": 0, "l": 946_684_800}, {"id": 1, "l": 316_000_000_000}, {"id": 2, "l": 400_000_000_000_000}])
    condition = "from_unixtime(l, 'yyyy') < '1000'"
    unskipped = table.to_arrow(filter=condition, options={"hoodie.enable.data.skipping": "false"})["id"].to_pylist()
    assert table.to_arrow(filter=condition)["id"].to_pylist() == unskipped == [1]
