"""Numbers of Python and pandas, whose types say nothing about the column that they are for."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pytest

from pyhudi.write.input.fitted_values import fitted_numbers, fitted_reals
from pyhudi.write.input.incoming_data import to_table

TABLE = pa.schema({"id": pa.int64(), "count": pa.int32(), "price": pa.float32()})


@pytest.mark.parametrize(
    ("values", "column_type", "fitted"),
    [
        (pa.array([1.0, None]), pa.int32(), pa.int32()),
        (pa.array([1.5]), pa.int64(), pa.float64()),
        (pa.array([float("nan")]), pa.int64(), pa.float64()),
        (pa.array([1e300]), pa.int64(), pa.float64()),
        (pa.array([2**40]), pa.int32(), pa.int64()),
        (pa.array([5]), pa.int32(), pa.int32()),
        (pa.array([5]), pa.float64(), pa.int64()),
        (pa.array([0.1]), pa.float32(), pa.float32()),
        (pa.array(["1"]), pa.int32(), pa.string()),
        (pa.array([[1.0]]), pa.list_(pa.int64()), pa.list_(pa.int64())),
        (pa.array([{"a": 1.0}]), pa.struct({"a": pa.int32()}), pa.struct({"a": pa.int32()})),
        (pa.array([{"b": 1.0}]), pa.struct({"a": pa.int32()}), pa.struct({"b": pa.float64()})),
    ],
)
def test_numbers_take_the_type_of_their_column_where_they_stay_the_same(values: pa.Array, column_type: pa.DataType, fitted) -> None:
    result = fitted_numbers(values, column_type)
    assert result.type == fitted
    assert result.to_pylist() == values.to_pylist() or fitted in (pa.float32(), pa.float64())


@pytest.mark.parametrize("frames", [lambda frame: frame, lambda frame: [frame, frame]], ids=["frame", "list of frames"])
def test_integers_beside_a_missing_value_are_integers_in_pandas_too(frames) -> None:
    frame = pd.DataFrame({"id": [1, 2], "Count": [7, None], "other": [1.0, None]})
    rows = to_table(frames(frame), lambda: TABLE)
    assert [rows.schema.field(name).type for name in rows.column_names] == [pa.int64(), pa.int32(), pa.float64()]
    assert rows.column("Count").to_pylist()[:2] == [7, None]


def test_reals_and_floats_of_pandas_stay() -> None:
    frame = pa.table({"count": [1.5], "price": [0.1]})
    assert fitted_reals(frame, TABLE).equals(frame)
    assert to_table([{"id": 1.0, "count": 2.5}], lambda: TABLE).schema.types == [pa.int64(), pa.float64()]
