"""Data brought to the table's types: no value changes, or there is an error."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.errors import SchemaError
from pyhudi.schema.evolve import conform


def test_columns_are_ordered_cast_and_filled() -> None:
    schema = pa.schema({"a": pa.string(), "b": pa.int64(), "c": pa.list_(pa.int32())})
    conformed = conform(pa.table({"B": pa.array([1], pa.int32()), "extra": [1], "a": ["x"]}), schema)
    assert conformed.schema == schema
    assert conformed.to_pylist() == [{"a": "x", "b": 1, "c": None}]


def test_data_of_the_right_schema_is_handed_on_as_it_is() -> None:
    table = pa.table({"a": ["x"]})
    assert conform(table, table.schema) is table


@pytest.mark.parametrize(
    ("value", "target", "result"),
    [
        (pa.array(["x"], pa.string_view()), pa.string(), "x"),
        (pa.array(["x"], pa.string_view()).cast(pa.string()).dictionary_encode(), pa.string(), "x"),
        (
            pa.DictionaryArray.from_arrays(pa.array([0], pa.uint32()), pa.array(["x"], pa.string_view())),
            pa.string(),
            "x",
        ),
        (pa.array([["x"]], pa.large_list(pa.large_string())), pa.list_(pa.string()), ["x"]),
        (pa.array([7], pa.int64()), pa.decimal128(10, 2), Decimal("7.00")),
        (pa.array([{"a": 1}]), pa.struct({"b": pa.string(), "a": pa.int64()}), {"b": None, "a": 1}),
        (pa.array([None], pa.null()), pa.struct({"a": pa.int64()}), None),
        (pa.array([1e7]), pa.string(), "1.0E7"),
        (pa.array([[0.1]], pa.large_list(pa.float32())), pa.list_(pa.float64()), [0.1]),
        (pa.array([0.1], pa.float32()).dictionary_encode(), pa.float64(), 0.1),
        (pa.array([{"a": 2.0}], pa.struct({"a": pa.float32()})), pa.struct({"b": pa.int32(), "a": pa.string()}), {"b": None, "a": "2.0"}),
        (pa.array([0.1], pa.float32()), pa.decimal128(10, 2), Decimal("0.10")),
        (pa.array(["12"]), pa.decimal128(10, 2), Decimal("12.00")),
        (pa.array([[2**40]]), pa.list_(pa.decimal128(20, 4)), [Decimal("1099511627776.0000")]),
        (pa.array(["2020-01-02"]), pa.date32(), date(2020, 1, 2)),
        (pa.array([date(2020, 1, 2)]), pa.string(), "2020-01-02"),
    ],
)
def test_encodings_and_narrower_types_are_cast(value: pa.Array, target: pa.DataType, result: Any) -> None:
    assert conform(pa.table({"c": value}), pa.schema({"c": target})).column("c")[0].as_py() == result


def test_fractions_below_microseconds_are_cut_off() -> None:
    table = pa.table({"c": pa.array([1_999], pa.timestamp("ns"))})
    conformed = conform(table, pa.schema({"c": pa.timestamp("us", "UTC")}))
    assert conformed.column("c").cast(pa.int64()).to_pylist() == [1]


@pytest.mark.parametrize(
    ("value", "target"),
    [
        (pa.array([2**53 + 1], pa.int64()), pa.float64()),
        (pa.array([2**40], pa.int64()), pa.int32()),
        (pa.array([10**9], pa.int64()), pa.decimal128(10, 2)),
        (pa.array(["x"]), pa.int32()),
        (pa.array(["12"]), pa.date32()),
        (pa.array([0.125]), pa.decimal128(10, 2)),
        (pa.array([float("nan")]), pa.decimal128(10, 2)),
        (pa.array(["x"]), pa.decimal128(10, 2)),
        (pa.array([b"\xff"]), pa.string()),
        (pa.array([[2**53 + 1]]), pa.list_(pa.float64())),
    ],
)
def test_value_that_does_not_fit_is_refused_with_its_column(value: pa.Array, target: pa.DataType) -> None:
    with pytest.raises(SchemaError, match=r"Column 'c(\.element)?'"):
        conform(pa.table({"c": value}), pa.schema({"c": target}))


def test_null_in_a_column_that_allows_none_is_refused() -> None:
    with pytest.raises(SchemaError, match="Column 'c' holds a null"):
        conform(pa.table({"c": [1, None]}), pa.schema([pa.field("c", pa.int64(), nullable=False)]))


@pytest.mark.parametrize("view", [pa.list_view, pa.large_list_view])
@pytest.mark.parametrize("values", [[[1], [2]], [None, [1]], [[1], None], [[1, None], [], [2]]])
def test_list_views_keep_their_values(view: Any, values: list[Any]) -> None:
    column = pa.chunked_array([pa.array(values, view(pa.int64()))])
    assert conform(pa.table({"a": column}), pa.schema({"a": pa.list_(pa.int64())}))["a"].to_pylist() == values


def test_list_views_within_other_types_keep_their_values() -> None:
    rows = [{"m": [("k", [None, [1]])]}, None]
    kind = pa.struct({"m": pa.map_(pa.string(), pa.list_view(pa.list_view(pa.int64())))})
    target = pa.struct({"m": pa.map_(pa.string(), pa.list_(pa.list_(pa.int64())))})
    assert conform(pa.table({"a": pa.array(rows, kind)}), pa.schema({"a": target}))["a"].to_pylist() == rows
