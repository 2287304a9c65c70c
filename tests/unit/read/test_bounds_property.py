"""Whatever a filter and the values in files are: a file with a matching row is not ruled out by the bounds of its values.

Filters are evaluated by Arrow on the rows, and on the statistics that these rows have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pyhudi.read.filter.condition import And, Column, Compare, Condition, In, IsNull, Not, Operand, StartsWith, operands
from pyhudi.read.filter.predicate import parse_predicate
from pyhudi.read.skipping.bounds import Bounds, may_match

SCHEMA = pa.schema({"i": pa.int64(), "f": pa.float64(), "s": pa.string(), "d": pa.date32(), "m": pa.decimal128(12, 2), "b": pa.bool_()})
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "i": st.integers(-3, 3),
    "f": st.sampled_from([-1.5, -0.0, 0.0, 1.0, 2.5, math.nan, math.inf]),
    "s": st.text("ab\u00fc\uffee\U0001f600", max_size=3),
    "d": st.integers(0, 3).map(lambda days: date(2024, 1, 1) + timedelta(days)),
    "m": st.integers(-3, 3).map(lambda number: Decimal(number) / 4),
    "b": st.booleans(),
}
FILES = st.lists(
    st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def literal(value: Any) -> str:
    if isinstance(value, bool | int | float):
        return str(value)
    return f"'{value}'"


def comparisons_of(name: str) -> st.SearchStrategy[str]:
    known = VALUES[name] if name != "f" else st.sampled_from([-1.5, 0.0, 1.0, 2.0])
    one = known.map(literal)
    compared = st.builds(lambda symbol, value: f"{name} {symbol} {value}", st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>"]), one)
    among = st.builds(lambda values: f"{name} IN ({', '.join(values)})", st.lists(one | st.just("NULL"), min_size=1, max_size=3))
    between = st.builds(lambda low, high: f"{name} NOT BETWEEN {low} AND {high}", one, one)
    either = st.sampled_from([f"{name} IS NULL", f"{name} IS NOT NULL"])
    like = st.builds(lambda text: f"s LIKE '{text}%'", VALUES["s"])
    return compared | among | between | either | (like if name == "s" else either)


FILTERS = st.recursive(
    st.sampled_from(list(VALUES)).flatmap(comparisons_of),
    lambda inner: (
        st.builds("({} AND {})".format, inner, inner) | st.builds("({} OR {})".format, inner, inner) | st.builds("NOT ({})".format, inner)
    ),
    max_leaves=5,
)


def name_of(operand: Operand) -> str:
    """Return the name of a column, which the operand is."""
    assert isinstance(operand, Column)
    return operand.name


def bounds_of(column: str, files: list[list[dict[str, Any]]], order: Callable[[Any], Any] = lambda value: value) -> Bounds:
    """What is known of a writer's records: least and greatest value, no greatest where NaN is, texts with unclear order unknown."""
    result = [[row[column] for row in rows if row[column] is not None] for rows in files]
    plain = [[value for value in values if value == value] for values in result]
    low = [min(values, key=order, default=None) for values in plain]
    high = [max(values, key=order, default=None) if len(values) == len(all_) else None for values, all_ in zip(plain, result, strict=True)]
    if column == "s":
        low, high = ([None if text is None or max(text, default="a") >= "\ue000" else text for text in side] for side in (low, high))
    kind = SCHEMA.field(column).type
    nulls = [any(row[column] is None for row in rows) for rows in files]
    return Bounds(pa.array(low, kind), pa.array(high, kind), np.array([bool(values) for values in result]), np.array(nulls))


def utf_16(value: Any) -> Any:
    return value.encode("utf-16-be") if isinstance(value, str) else value


@pytest.mark.parametrize("order", [lambda value: value, utf_16], ids=["by code point", "as Java orders texts"])
@settings(max_examples=150)
@given(files=FILES, text=FILTERS, hidden=st.sets(st.sampled_from(list(VALUES))))
def test_no_file_with_a_matching_row_is_ruled_out(
    order: Callable[[Any], Any], files: list[list[dict[str, Any]]], text: str, hidden: set[str]
) -> None:
    predicate = parse_predicate(text, SCHEMA)
    bounds = {
        operand: bounds_of(name_of(operand), files, order)
        for operand in set(operands(predicate.condition))
        if name_of(operand) not in hidden
    }
    retained = may_match(predicate.condition, bounds, len(files), nan_is_greatest=False)
    for rows, stays in zip(files, retained, strict=True):
        matching = pa.Table.from_pylist(rows, schema=SCHEMA).filter(predicate.expression).num_rows
        assert stays or not matching, (text, rows)


# --- Spark's NaN ----------------------------------------------------------------------------------------------------

F = Column(("f",), pa.float64())
SYMBOLS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def spark_order(value: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(value) else (False, value)


def holds(condition: Condition, value: float | None) -> bool | None:
    """Spark's answer for one row."""
    match condition:
        case Not(part):
            inner = holds(part, value)
            return None if inner is None else not inner
        case And(parts):
            each = [holds(part, value) for part in parts]
            return False if False in each else None if None in each else True
        case IsNull():
            return value is None
        case Compare(_, symbol, literal_) if value is not None:
            return SYMBOLS[symbol](spark_order(value), spark_order(literal_.as_py()))
        case In(_, values, _) if value is not None:
            return any(spark_order(one) == spark_order(value) for one in values.to_pylist())
    return None


NUMBERS = st.sampled_from([-1.0, 0.0, 1.0, math.nan, math.inf])
OF_SPARK = st.recursive(
    st.builds(lambda symbol, value: Compare(F, symbol, pa.scalar(value)), st.sampled_from(list(SYMBOLS)), NUMBERS)
    | st.builds(lambda values: In(F, pa.array(values, pa.float64())), st.lists(NUMBERS, min_size=1, max_size=3))
    | st.just(IsNull(F)),
    lambda inner: st.builds(Not, inner) | st.builds(lambda left, right: And((left, right)), inner, inner),
    max_leaves=4,
)


@settings(max_examples=400)
@given(values=st.lists(st.none() | NUMBERS, min_size=1, max_size=4), condition=OF_SPARK)
@example(values=[0.0, math.nan], condition=Compare(F, ">", pa.scalar(0.0)))
@example(values=[0.0, math.nan], condition=Not(Compare(F, "<=", pa.scalar(0.0))))
def test_nan_is_greater_than_all_bounds_for_spark(values: list[float | None], condition: Condition) -> None:
    bounds = bounds_of("f", [[{"f": value} for value in values]])
    retained = may_match(condition, {F: bounds}, 1, nan_is_greatest=True)
    assert retained[0] or not any(holds(condition, value) for value in values)


# --- what is ruled out ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "i = 9",
        "i < 1",
        "i IN (0, 9)",
        "NOT (i >= 1)",
        "i <> 5 AND i > 7",
        "s LIKE 'x%'",
        "NOT s LIKE '%'",
        "b NOT IN (FALSE, TRUE)",
        "f > 1",
        "NOT (f <= 1)",
        "f <> 1",
        "s > 'b'",
        "d < '2024-01-01'",
        "m > 1.5",
        "b",
        "i IS NULL",
    ],
)
def test_a_file_whose_bounds_say_no_is_ruled_out(text: str) -> None:
    rows = [{"i": 1, "f": 1.0, "s": "a", "d": date(2024, 1, 1), "m": Decimal("1.50"), "b": False}, {"i": 7, "s": "b"}]
    files = [[{name: row.get(name, rows[0][name]) for name in SCHEMA.names} for row in rows]]
    predicate = parse_predicate(text, SCHEMA)
    assert not may_match(
        predicate.condition,
        {column: bounds_of(name_of(column), files) for column in operands(predicate.condition)},
        1,
        nan_is_greatest=True,
    )[0]


def test_a_file_of_one_value_is_held_against_a_list_of_others() -> None:
    rows = [[{"i": 1, "f": 1.0}], [{"i": 2, "f": math.nan}], [{"i": 1, "f": 2.0}, {"i": 2, "f": 1.0}]]
    for text, retained in {"i NOT IN (1, 3)": [False, True, True], "f NOT IN (1, 3)": [False, True, True]}.items():
        predicate = parse_predicate(text, SCHEMA)
        bounds = {
            column: bounds_of(name_of(column), [[{**dict.fromkeys(SCHEMA.names), **row} for row in file] for file in rows])
            for column in operands(predicate.condition)
        }
        assert may_match(predicate.condition, bounds, 3, nan_is_greatest=True).tolist() == retained


def test_a_prefix_is_held_against_both_bounds() -> None:
    column = Column(("s",), pa.string())
    bounds = Bounds(pa.array(["ab", "b", "abc", None]), pa.array(["ac", "z", "abd", "aa"]), np.ones(4, bool), np.zeros(4, bool))
    assert may_match(StartsWith(column, "ab"), {column: bounds}, 4, nan_is_greatest=True).tolist() == [True, False, True, False]


def test_many_values_are_looked_for_between_the_bounds() -> None:
    column = Column(("i",), pa.int64())
    values = pa.array(range(0, 4000, 2))
    bounds = Bounds(pa.array([11, 12, 5000]), pa.array([11, 13, 6000]), np.ones(3, bool), np.zeros(3, bool))
    assert may_match(In(column, values), {column: bounds}, 3, nan_is_greatest=True).tolist() == [False, True, False]
