"""Values are the same as Spark's `<=>` says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pyhudi.kernels.arrays.same_values import same_values

NAN = float("nan")
OTHER_NAN = np.array([0xFFF8000000000001], np.uint64).view(np.float64)[0]


@pytest.mark.parametrize(
    ("kind", "new", "old", "same"),
    [
        (pa.float64(), [1.0, NAN, NAN, NAN, None, None, 0.0], [1.0, NAN, OTHER_NAN, 1.0, NAN, None, -0.0], [1, 1, 1, 0, 0, 1, 1]),
        (pa.float32(), [1.5, NAN, None], [2.5, NAN, NAN], [0, 1, 0]),
        (pa.string(), ["a", "a", None, None], ["a", "b", "a", None], [1, 0, 0, 1]),
        (pa.int64(), [], [], []),
    ],
)
def test_nulls_and_nans_are_the_same(kind: pa.DataType, new: list[Any], old: list[Any], same: list[int]) -> None:
    assert same_values(pa.chunked_array([new], kind), pa.chunked_array([old], kind)).tolist() == [bool(one) for one in same]


def test_no_rows_without_chunks() -> None:
    nothing = pa.chunked_array([], pa.float64())
    assert same_values(nothing, nothing).dtype == bool
