"""Orders along several columns."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from pyhudi.kernels.arrays.space_curves import Layout, row_order


def cells(side: int, dimensions: int) -> pa.Table:
    """Every cell of a cube, shuffled."""
    axes = [axis.ravel() for axis in np.meshgrid(*[np.arange(side)] * dimensions)]
    order = np.random.default_rng(5).permutation(len(axes[0]))
    return pa.table({str(number): axis[order] for number, axis in enumerate(axes)})


@pytest.mark.parametrize(("side", "dimensions"), [(2, 2), (16, 2), (8, 3), (4, 4)])
def test_neighbours_on_a_hilbert_curve_are_neighbours_in_space(side: int, dimensions: int) -> None:
    table = cells(side, dimensions)
    order = row_order(table, Layout.HILBERT)
    steps = sum(np.abs(np.diff(column.to_numpy()[order])) for column in table.columns)
    assert sorted(order) == list(range(side**dimensions))
    assert set(steps.tolist()) == {1}


def test_a_z_order_goes_by_the_bits_of_all_columns_in_turn() -> None:
    table = cells(4, 2)
    order = row_order(table, Layout.ZORDER)
    x, y = (column.to_numpy()[order] for column in table.columns)
    codes = [((a >> 1) << 3) | ((b >> 1) << 2) | ((a & 1) << 1) | (b & 1) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert codes == sorted(codes)


def test_linear_order_is_that_of_spark_nulls_first_and_nan_last_and_keeps_equal_rows_as_they_are() -> None:
    table = pa.table({"a": [2.0, float("nan"), None, 1.0, 2.0, None], "b": ["y", "x", "b", "x", "y", "a"]})
    assert row_order(table, Layout.LINEAR).tolist() == [5, 2, 3, 0, 4, 1]


@pytest.mark.parametrize("layout", list(Layout))
def test_columns_of_all_types_weigh_the_same(layout: Layout) -> None:
    day = datetime.date(2026, 1, 1)
    table = pa.table({"d": [day, day, None, day], "n": pa.array([Decimal("1.5"), Decimal("0.5"), Decimal("2.5"), None]), "s": list("bbca")})
    order = row_order(table, layout).tolist()
    assert sorted(order) == [0, 1, 2, 3]
    assert layout is Layout.HILBERT or order.index(1) < order.index(0)


@pytest.mark.parametrize("layout", list(Layout))
def test_rows_that_are_all_alike_or_none_have_an_order(layout: Layout) -> None:
    assert row_order(pa.table({"a": [1, 1, 1], "b": ["x", "x", "x"]}), layout).tolist() == [0, 1, 2]
    assert row_order(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}), layout).tolist() == []


def test_more_distinct_values_than_ranges_still_spread() -> None:
    count = 200_000
    table = pa.table({"a": np.arange(count), "b": np.arange(count)[::-1].copy()})
    order = row_order(table, Layout.HILBERT)
    assert sorted(order.tolist()) == list(range(count))
