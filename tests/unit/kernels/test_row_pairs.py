"""The pairs of two sides are those that a loop over both finds."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.kernels.arrays.row_pairs import row_pairs

ROW = st.tuples(st.sampled_from(["a", "b", None]), st.sampled_from([1, 2, 3, None]), st.booleans())
KINDS = (pa.string(), pa.int64(), pa.bool_())


def columns(rows: list[tuple[Any, ...]], kinds: tuple[pa.DataType, ...] = KINDS) -> list[pa.ChunkedArray]:
    half = len(rows) // 2
    return [pa.chunked_array([[row[at] for row in part] for part in (rows[:half], rows[half:])], kind) for at, kind in enumerate(kinds)]


def pairs(left: list[pa.ChunkedArray], right: list[pa.ChunkedArray]) -> list[tuple[int, int]]:
    result = row_pairs(left, right)
    assert result is not None
    return [*zip(*(numbers.tolist() for numbers in result), strict=True)]


@given(st.lists(ROW, max_size=12), st.lists(ROW, max_size=12), st.integers(1, 3))
def test_pairs_are_those_of_a_loop(left: list[tuple[Any, ...]], right: list[tuple[Any, ...]], width: int) -> None:
    expected = [
        (at, other)
        for at, row in enumerate(left)
        for other, one in enumerate(right)
        if row[:width] == one[:width] and None not in row[:width]
    ]
    assert pairs(columns(left)[:width], columns(right)[:width]) == expected


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.decimal128(10, 2), [Decimal("1.50"), Decimal("2.50"), Decimal("1.50")]),
        (pa.date32(), [date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 1)]),
        (pa.timestamp("us", "UTC"), [datetime(2026, 1, 1), datetime(2026, 1, 2), datetime(2026, 1, 1)]),
        (pa.binary(), [b"a", b"", b"a"]),
        (pa.binary(2), [b"aa", b"ab", b"aa"]),
        (pa.bool_(), [True, False, True]),
        (pa.int8(), [1, 2, 1]),
    ],
)
def test_values_of_any_type_that_is_matched(kind: pa.DataType, values: list[Any]) -> None:
    one, both = [pa.chunked_array([[*values, None]], kind)], [(0, 0), (0, 2), (1, 1), (2, 0), (2, 2)]
    assert pairs(one, one) == both
    assert pairs(one * 2, one * 2) == both


def test_more_pairs_than_are_wished_are_not_made() -> None:
    many = [pa.chunked_array([["a"] * 100_000])]
    assert row_pairs(many, many, 50_000) is None
    assert pairs([pa.chunked_array([["a"]])], [pa.chunked_array([["a", "a"]])]) == [(0, 0), (0, 1)]


def test_many_columns_do_not_overflow() -> None:
    column = pa.chunked_array([list(range(3_000))])
    assert pairs([column] * 7, [column] * 7) == [(at, at) for at in range(3_000)]
