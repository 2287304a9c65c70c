"""SQL conditions select the rows that SQL says, and faults are told with their place."""

from __future__ import annotations

import operator
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import UsageError
from pyhudi.read.filter.predicate import parse_predicate

SCHEMA = pa.schema(
    {
        "id": pa.int32(),
        "name": pa.string(),
        "amount": pa.decimal128(10, 2),
        "price": pa.float64(),
        "day": pa.date32(),
        "at": pa.timestamp("us", "UTC"),
        "ok": pa.bool_(),
        "odd name": pa.int64(),
        "nested": pa.struct([("x", pa.int64())]),
    }
)
AT = datetime(2026, 12, 1, 4, 5, 47, tzinfo=UTC)
ROWS = pa.Table.from_pylist(
    [
        {"id": 1, "name": "ann", "amount": Decimal("1.50"), "price": 1.5, "day": date(2026, 1, 1), "at": AT, "ok": True},
        {"id": 2, "name": "o'bo%b", "amount": Decimal("2.00"), "price": 2.0, "day": date(2026, 2, 1), "ok": False},
        {"id": 3, "name": "", "odd name": 7, "nested": {"x": 9}, "price": float("nan")},
        {"id": 4},
    ],
    schema=SCHEMA,
)


def ids(text: str) -> list[int]:
    result: list[int] = ROWS.filter(parse_predicate(text, SCHEMA).expression)["id"].to_pylist()
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id = 1", [1]),
        ("id == 1 or id <> 1", [1, 2, 3, 4]),
        ("2 <= id", [2, 3, 4]),
        ("3 > id", [1, 2]),
        ("id != 2 AND NOT id = 3", [1, 4]),
        ("NOT (id = 1 OR id = 2)", [3, 4]),
        ("id = 1 OR id = 2 AND id = 3", [1]),
        ("id IN (1, 3, 99)", [1, 3]),
        ("id NOT IN (1, 3)", [2, 4]),
        ("id NOT IN (1, NULL)", []),
        ("name NOT IN ('ann')", [2, 3]),
        ("id BETWEEN 2 AND 3", [2, 3]),
        ("id NOT BETWEEN 2 AND 3", [1, 4]),
        ("name IS NULL", [4]),
        ("name IS NOT NULL", [1, 2, 3]),
        ("name = NULL", []),
        ("name <=> NULL", [4]),
        ("name <=> 'ann'", [1]),
        ("name IS NOT DISTINCT FROM 'ann'", [1]),
        ("name IS DISTINCT FROM 'ann'", [2, 3, 4]),
        ("name IS DISTINCT FROM NULL", [1, 2, 3]),
        ("NOT (name IS DISTINCT FROM NULL) AND id IS DISTINCT FROM price", [4]),
        ("(id, name) IS DISTINCT FROM (1, 'ann')", [2, 3, 4]),
        ("name LIKE 'a%'", [1]),
        ("name LIKE '%\\\\%%'", [2]),
        ("name NOT LIKE 'a_n'", [2, 3]),
        ("name = 'o''bo%b'", [2]),
        (r"name = 'o\'bo%b'", [2]),
        ("name = ''", [3]),
        ("amount > 1.5", [2]),
        ("amount = 1.50", [1]),
        ("price < 1.75", [1]),
        ("id < 2.5", [1, 2]),
        ("day = '2026-01-01'", [1]),
        ("day >= DATE '2026-01-15'", [2]),
        ("at = TIMESTAMP '2026-12-01 04:05:47'", [1]),
        ("at < '2027-01-01'", [1]),
        ("at = '2026-12-01T09:35:47+05:30'", [1]),
        ("at = TIMESTAMP '2026-12-01 04:05:47Z'", [1]),
        ("at IN ('2026-12-01 05:05:47+01')", [1]),
        ("at < '2026-12-01T04:05:47+00:00'", []),
        ("at = CAST('2026-12-01 04:05:47' AS TIMESTAMP)", [1]),
        ("at = CAST('2026-12-01T03:05:47.000-0100' AS TIMESTAMP) AND CAST('2026-12-01' AS TIMESTAMP) < at", [1]),
        ("ok", [1]),
        ("NOT ok", [2]),
        ("ok = FALSE", [2]),
        ("`odd name` = 7", [3]),
        ('"odd name" = 7', [3]),
        ("nested.x = 9", [3]),
        ("`nested`.`x` > 8", [3]),
        ("ID = 1 aNd NaMe = 'ann'", [1]),
        ("TRUE", [1, 2, 3, 4]),
        ("id = -1 OR id = +1", [1]),
        ("  ( ( id=1 ) )  ", [1]),
    ],
)
def test_conditions_select_rows(text: str, expected: list[int]) -> None:
    assert ids(text) == expected


NUMBERS = pa.table(
    {
        "row": pa.array([0, 1, 2], pa.int64()),
        "i": pa.array([1, 2, None], pa.int32()),
        "l": pa.array([2**53 + 1, -(2**63), None], pa.int64()),
        "m": pa.array([Decimal("12345678901234567890.12"), Decimal("12345678901234567890.13"), None], pa.decimal128(30, 2)),
        "g": pa.array([0.1, 0.5, None], pa.float32()),
        "f": pa.array([0.1, float("inf"), None], pa.float64()),
    }
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i = 1.5", []),
        ("i = 1.0", [0]),
        ("i <> 1.5", [0, 1]),
        ("NOT (i = 1.5)", [0, 1]),
        ("i <=> 1.5", []),
        ("NOT (i <=> 1.5)", [0, 1, 2]),
        ("i < 1.5", [0]),
        ("1.5 >= i", [0]),
        ("i > 1.5", [1]),
        ("i >= 1e0", [0, 1]),
        ("i BETWEEN 0.5 AND 1.5", [0]),
        ("i IN (1.5, 2)", [1]),
        ("i NOT IN (1.5)", [0, 1]),
        ("i NOT IN (1.5, NULL)", []),
        ("i = 99999999999", []),
        ("i < 99999999999", [0, 1]),
        ("i > 1e40", []),
        ("g IN (1e39, 0.5)", [1]),
        ("f < 9" + "9" * 400, [0]),
        ("i > -1e400000", [0, 1]),
        ("i > 1e-400000", [0, 1]),
        ("l > 1.5", [0]),
        ("l = 9007199254740993", [0]),
        ("l < -9223372036854775807.5", [1]),
        ("m = 12345678901234567890.12", [0]),
        ("m IN (12345678901234567890.13, 0.001)", [1]),
        ("m > 12345678901234567890.121", [1]),
        ("m >= 12345678901234567890.12", [0, 1]),
        ("m < 1e30", [0, 1]),
        ("g = 0.1", []),
        ("g IN (0.1, 0.5)", [1]),
        ("f IN (0.1)", [0]),
        ("f <= 'NaN'", []),
        ("NOT (f <= 'NaN')", [0, 1]),
        ("f <> 'NaN'", [0, 1]),
    ],
)
def test_numbers_are_compared_as_they_are_written(text: str, expected: list[int]) -> None:
    predicate = parse_predicate(text, NUMBERS.schema)
    assert NUMBERS.filter(predicate.expression)["row"].to_pylist() == expected


SYMBOLS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@given(st.decimals(-300, 300, places=3), st.sampled_from(sorted(SYMBOLS)), st.sampled_from([pa.int8(), pa.decimal128(3, 1)]))
def test_comparing_with_any_number_is_comparing_exactly(value: Decimal, symbol: str, kind: pa.DataType) -> None:
    step = 1 if pa.types.is_integer(kind) else Decimal("0.1")
    rows = [number * step for number in range(-128, 128)]
    table = pa.table({"x": pa.array(rows, kind)})
    result = table.filter(parse_predicate(f"x {symbol} {value}", table.schema).expression)["x"].to_pylist()
    assert result == [row for row in rows if SYMBOLS[symbol](row, value)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"s LIKE '100\%'", ["100%"]),
        ("s LIKE '100%'", ["100%", "100 apples"]),
        (r"s LIKE 'a\_b'", ["a_b"]),
        (r"s = 'a\nb'", ["a\nb"]),
        (r"s = 'a\u005Fb'", ["a_b"]),
        (r"s = 'a\U0000005fb'", ["a_b"]),
        (r"s = 'a\137b'", ["a_b"]),
        (r"s = 'a\\b'", ["a\\b"]),
        (r"s LIKE 'a\\\\b'", ["a\\b"]),
        (r"s = 'it\'s'", ["it's"]),
        ("s = 'it''s'", ["it's"]),
    ],
)
def test_strings_are_escaped_as_in_spark(text: str, expected: list[str]) -> None:
    table = pa.table({"s": ["100%", "100 apples", "a_b", "axb", "a\nb", "anb", "a\\b", "it's"]})
    assert table.filter(parse_predicate(text, table.schema).expression)["s"].to_pylist() == expected


def test_columns_may_be_called_date_and_timestamp() -> None:
    table = pa.table({"date": pa.array([date(2024, 1, 1), None]), "timestamp": [1, 2]})
    for text in ("date = '2024-01-01'", "DATE '2024-01-01' = date AND timestamp = 1", "timestamp < 2", "date IS NOT NULL"):
        assert table.filter(parse_predicate(text, table.schema).expression)["timestamp"].to_pylist() == [1], text


@pytest.mark.parametrize(("text", "expected"), [("x IN (0, 7)", [0, 1]), ("x IN (-0.0)", [0, 1]), ("x NOT IN (0)", [2]), ("x = 0", [0, 1])])
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()])
def test_both_zeros_are_one_number(text: str, expected: list[int], kind: pa.DataType) -> None:
    zeros = pa.table({"row": [0, 1, 2], "x": pa.array([-0.0, 0.0, 1.0], kind)})
    assert zeros.filter(parse_predicate(text, zeros.schema).expression)["row"].to_pylist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty, at character 1"),
        ("id =", "misses an operand of '=', at character 4"),
        ("id = 1 id", "has an unexpected 'id', at character 8"),
        ("id 1", "has an unexpected '1', at character 4"),
        ("(id = 1", "misses ')' after '1', at character 7"),
        ("id BETWEEN 1 OR 2", "misses an operand of 'OR', at character 14"),
        ("id IS 3", "has IS without NULL, TRUE or FALSE, at character 7"),
        ("id NOT 3", "has an unexpected 'NOT', at character 4"),
        ("id ; 1", "is more than one expression, at character 6"),
        ("name = 'open", "cannot be understood, at character 8"),
        ("id IN (SELECT 1)", "subqueries are not served"),
        ("name RLIKE 'x'", "has REGEXPLIKE, which is not served"),
        ("name COLLATE x = 'a'", "has COLLATE, which is not served"),
        ("(id, name) = (1, 'a', 2)", "compares 2 values with 3"),
        ("CAST(id AS MONEY) = 1", "casts to a type that is none of BOOLEAN"),
        ("CAST(price AS STRING) = '1'", "casts double to a string"),
        ("id + 1", "needs a comparison: this is of type int32"),
        ("id LIKE name", "needs a text after LIKE"),
        ("name LIKE 'a' ESCAPE 'xy'", "needs one character after ESCAPE"),
        ("name LIKE 'ax' ESCAPE 'a'", "precedes no '%'"),
        ("nam = 'x'", "column 'nam', which the table does not have, at character 1. Did you mean 'name'?\n"),
        ("uper(name) = 'X'", ", year are, at character 1. Did you mean 'upper'?\n"),
        ("nested.y = 1", "'y' is no field"),
        ("id = 'many'", "no such value"),
        ("day = '2026-13-01'", "no such value"),
        ("id = TRUE", "no such value"),
        ("name > id", "has an operation that the types of its operands do not have"),
        ("name = 'a\ud800'", "no such value"),
        ("name LIKE 'a\ud800'", "no such value"),
        ("id = DATE", "column 'DATE', which the table does not have"),
        ("id LIKE '1%'", "needs a text after LIKE, on a text column"),
    ],
)
def test_a_fault_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_predicate(text, SCHEMA)
    assert message in str(caught.value)


def test_the_line_of_a_fault_is_shown_with_a_caret() -> None:
    text = "id = 1\n  AND name = 'x' AND  nam = 'y'"
    with pytest.raises(UsageError) as caught:
        parse_predicate(text, SCHEMA)
    *_, line, caret = str(caught.value).splitlines()
    assert line[caret.index("^") :].startswith("nam = 'y'")
    with pytest.raises(UsageError) as caught:
        parse_predicate(f"{'id = 1 AND ' * 100} {text}", SCHEMA)
    assert max(map(len, str(caught.value).splitlines()[1:])) < 130


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id + 1 = 2 OR id * 2 = 4", [1, 2]),
        ("id % 2 = 1 AND -id < -1", [3]),
        ("id / 2 = 0.5", [1]),
        ("7 DIV id = 3", [2]),
        ("CAST(amount AS INT) = 1 OR CAST(1.9 AS INT) = id", [1]),
        ("CAST(at AS DATE) = '2026-12-01'", [1]),
        ("CAST(id AS STRING) || '-' || name = '1-ann'", [1]),
        ("CAST(id AS DECIMAL(10, 2)) = amount OR id = 1", [1, 2]),
        ("CASE WHEN id < 3 THEN 'low' WHEN id = 3 THEN 'mid' END = 'low'", [1, 2]),
        ("CASE id WHEN 1 THEN 10 ELSE id END > 3", [1, 4]),
        ("IF(ok, 1, 2) = 2", [2, 3, 4]),
        ("coalesce(name, 'none') = 'none'", [4]),
        ("(id, name) IN ((1, 'ann'), (2, 'x'), (3, ''))", [1, 3]),
        ("(id, name) NOT IN ((1, 'ann'), (2, 'x'))", [2, 3, 4]),
        ("(id, name) IN ((1, 'ann'), (4, NULL))", [1]),
        ("(id, name) NOT IN ((1, 'ann'), (2, NULL))", [3, 4]),
        ("id IN (1, id)", [1, 2, 3, 4]),
        ("id IN (odd_or_not, 1)".replace("odd_or_not", "`odd name` - 4"), [1, 3]),
        ("id BETWEEN 1 + 1 AND length(name)", [2]),
        ("(id = 1) IS TRUE OR (name = 'x') IS NOT FALSE", [1, 4]),
        ("name <=> CAST(NULL AS STRING)", [4]),
        ("ok <=> (id = 1)", [1, 2]),
        ("name LIKE '%!%%' ESCAPE '!'", [2]),
        ("substring(upper(name), 1, 1) = 'A' OR id = 2", [1, 2]),
        ("length(trim(name)) = 3", [1]),
        ("round(price, 1) = 1.5", [1]),
        ("1 = 1", [1, 2, 3, 4]),
    ],
)
def test_expressions_in_conditions(text: str, expected: list[int]) -> None:
    assert ids(text) == expected


def test_a_condition_nested_without_end_is_refused() -> None:
    with pytest.raises(UsageError, match="deeper"):
        parse_predicate("(" * 5000 + "id = 1" + ")" * 5000, SCHEMA)


@given(st.text(alphabet="id=<>1 'nameANDORNOT(),.`\"-+%\\", max_size=40))
def test_any_text_is_a_condition_or_a_usage_error(text: str) -> None:
    try:
        parse_predicate(text, SCHEMA)
    except UsageError:
        return


@given(st.integers(-5, 5), st.integers(-5, 5), st.sampled_from(["=", "<>", "<", "<=", ">", ">="]))
def test_a_literal_may_stand_on_either_side(value: int, stored: int, symbol: str) -> None:
    rows = pa.table({"v": [stored]})
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(symbol, symbol)
    left = rows.filter(parse_predicate(f"v {symbol} {value}", rows.schema).expression)
    assert left.equals(rows.filter(parse_predicate(f"{value} {mirrored} v", rows.schema).expression))
