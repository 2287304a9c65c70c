"""Rows as JSON: every type, and what a JSON reader makes of it."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.kernels.cdc.row_json import json_rows


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (pa.bool_(), True, "true"),
        (pa.int64(), -(2**63), "-9223372036854775808"),
        (pa.float64(), 1.5, "1.5"),
        (pa.float64(), float("nan"), '"NaN"'),
        (pa.float64(), float("-inf"), '"-Infinity"'),
        (pa.decimal128(10, 2), Decimal("-1.50"), "-1.50"),
        (pa.decimal128(38, 10), Decimal("1E-10"), "0.0000000001"),
        (pa.date32(), dt.date(2026, 1, 2), "20455"),
        (pa.timestamp("us", "UTC"), dt.datetime(2026, 1, 2, 3, 4, 5, 678901, dt.UTC), "1767323045678901"),
        (pa.binary(), b"\x00\xff", '"AP8="'),
        (pa.list_(pa.date32()), [dt.date(1970, 1, 2), None], "[1,null]"),
        (pa.map_(pa.string(), pa.int64()), [("k", 7), ("l", None)], '{"k":7,"l":null}'),
        (pa.struct({"x": pa.int32(), "y": pa.string()}), {"x": None, "y": 'q"'}, '{"x":null,"y":"q\\""}'),
        (pa.string(), None, "null"),
    ],
)
def test_a_value_of_each_type_has_its_text(kind: pa.DataType, value: Any, text: str) -> None:
    assert json_rows(pa.table({"c": pa.array([value], kind)})).to_pylist() == [f'{{"c":{text}}}']


def test_meta_columns_are_left_out() -> None:
    assert json_rows(pa.table({"_hoodie_commit_time": ["1"], "a": [1]})).to_pylist() == ['{"a":1}']


@given(st.lists(st.fixed_dictionaries({"50%s": st.text() | st.none(), "é": st.floats(allow_nan=False, allow_infinity=False)})))
def test_a_json_reader_gets_the_values_back(rows: list[dict[str, Any]]) -> None:
    schema = pa.schema({"50%s": pa.string(), "é": pa.float64()})
    assert [json.loads(text) for text in json_rows(pa.Table.from_pylist(rows, schema)).to_pylist()] == rows
