"""Expressions of pyarrow say to statistics what they say of rows, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyhudi.errors import UsageError
from pyhudi.read.filter.arrow_condition import condition_of
from pyhudi.read.filter.condition import Column, Compare, Not, Unknown, operands
from pyhudi.read.filter.row_predicate import check_condition
from pyhudi.read.skipping.bounds import may_match
from tests.unit.read.test_bounds_property import FILES, SCHEMA, VALUES, bounds_of, name_of

COLUMNS = pa.schema(
    {
        "i": pa.int32(),
        "l": pa.int64(),
        "f": pa.float32(),
        "d": pa.float64(),
        "s": pa.string(),
        "day": pa.date32(),
        "at": pa.timestamp("us", "UTC"),
        "local": pa.timestamp("us"),
        "m": pa.decimal128(10, 2),
        "b": pa.bool_(),
        "n": pa.struct({"x": pa.struct({"y": pa.int64()})}),
    }
)
FIELD = pc.field


@pytest.mark.parametrize(
    ("expression", "path", "value"),
    [
        (FIELD("i") > 5, ("i",), 5),
        (FIELD("l") > -(1 << 62), ("l",), -(1 << 62)),
        (FIELD("l") > 0, ("l",), 0),
        (FIELD("f") > 1.5, ("f",), 1.5),
        (FIELD("d") > -2.25, ("d",), -2.25),
        (FIELD("s") > "", ("s",), ""),
        (FIELD("day") > date(1969, 12, 30), ("day",), date(1969, 12, 30)),
        (FIELD("at") > datetime(2024, 1, 1, tzinfo=UTC), ("at",), datetime(2024, 1, 1, tzinfo=UTC)),
        (FIELD("local") > datetime(2024, 1, 1), ("local",), datetime(2024, 1, 1)),
        (FIELD("m") > Decimal("-1.25"), ("m",), Decimal("-1.25")),
        (FIELD("n", "x", "y") > 7, ("n", "x", "y"), 7),
        (pc.scalar(5) < FIELD("i"), ("i",), 5),
    ],
    ids=str,
)
def test_a_comparison_is_read_with_its_column_and_value(expression: pc.Expression, path: tuple[str, ...], value: Any) -> None:
    condition = condition_of(expression, COLUMNS)
    assert isinstance(condition, Compare)
    assert (condition.operand.path if isinstance(condition.operand, Column) else None, condition.symbol, condition.value.as_py()) == (
        path,
        ">",
        value,
    )


@pytest.mark.parametrize(
    "expression",
    [
        pc.match_substring(FIELD("s"), "x"),
        FIELD("i") > 1.5,
        FIELD("i") + 1 == 2,
        FIELD("i") == FIELD("l"),
        FIELD("i").is_null(nan_is_null=True),
        FIELD("i").isin([1, None]),
        pc.is_in(FIELD("i"), value_set=pa.array([1], pa.int32()), skip_nulls=True),
        FIELD("nobody") == 1,
        FIELD("i") == pa.scalar(None, pa.int32()),
    ],
    ids=str,
)
def test_what_cannot_be_told_is_opaque(expression: pc.Expression) -> None:
    condition = condition_of(expression, COLUMNS)
    assert isinstance(condition.part if isinstance(condition, Not) else condition, Unknown)


MAKES: list[Callable[[pc.Expression, Any], pc.Expression]] = [
    lambda field, value: field == value,
    lambda field, value: field != value,
    lambda field, value: field < value,
    lambda field, value: field >= value,
    lambda field, value: pc.scalar(value) <= field,
    lambda field, _: field.is_null(),
    lambda field, _: field.is_valid(),
    lambda field, value: field.isin([value]),
]
LEAVES = st.sampled_from([name for name in VALUES if name != "m"]).flatmap(
    lambda name: (
        st.builds(
            lambda make, value: make(FIELD(name), pa.scalar(value, SCHEMA.field(name).type)), st.sampled_from(MAKES[:-1]), VALUES[name]
        )
        | VALUES[name].map(lambda value: FIELD(name).isin(pa.array([value], SCHEMA.field(name).type)))
    )
)
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.builds(lambda a, b: a & b, inner, inner) | st.builds(lambda a, b: a | b, inner, inner) | inner.map(lambda one: ~one),
    max_leaves=4,
)


@settings(max_examples=150)
@given(files=FILES, expression=EXPRESSIONS)
def test_no_file_with_a_matching_row_is_ruled_out(files: list[list[dict[str, Any]]], expression: pc.Expression) -> None:
    condition = condition_of(expression, SCHEMA)
    bounds = {operand: bounds_of(name_of(operand), files) for operand in set(operands(condition))}
    retained = may_match(condition, bounds, len(files), nan_is_greatest=False)
    for rows, stays in zip(files, retained, strict=True):
        assert stays or not pa.Table.from_pylist(rows, schema=SCHEMA).filter(expression).num_rows, (str(expression), rows)


@pytest.mark.parametrize(
    "expression",
    [pc.field(1) == 1, pc.field("nope") == 1, pc.field("i"), pc.field("s") > pc.field("i"), pc.field("at") > datetime(2024, 1, 1)],
)
def test_an_expression_that_is_no_condition_is_refused_before_anything_is_read(expression: pc.Expression) -> None:
    schema = pa.schema({"i": pa.int64(), "s": pa.string(), "at": pa.timestamp("us", "UTC")})
    with pytest.raises(UsageError, match="The filter"):
        check_condition(expression, schema)


def test_strings_that_look_like_places_are_no_places() -> None:
    check_condition(pc.field("s") == 'x "FieldPath(1)', pa.schema({"s": pa.string()}))
