"""Old files of columns that Apache Hudi widened since: the values that Apache Hudi 1.2.0 shows of them."""

from __future__ import annotations

import math
import re
import struct
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyhudi.errors import CorruptTableError
from pyhudi.javacompat.float_text import float_text
from pyhudi.schema.float_columns import EXACT_MAX, EXACT_MIN, as_doubles, float_strings
from pyhudi.schema.promoted_rows import promote_column, promoted_type
from tests.unit.kernels.test_read_base import read, stored

CASES: list[tuple[pa.DataType, pa.DataType, list[Any], list[Any]]] = [
    (pa.int32(), pa.float32(), [16777217, 2**31 - 1, None], [16777216.0, 2147483648.0, None]),
    (pa.int64(), pa.float32(), [2**53 + 1, -(2**63)], [9007199254740992.0, -9223372036854775808.0]),
    (pa.int64(), pa.float64(), [2**53 + 3, 2**63 - 1], [9007199254740996.0, 9223372036854775808.0]),
    (pa.int32(), pa.string(), [-1, 0, None], ["-1", "0", None]),
    (pa.int64(), pa.string(), [2**63 - 1], ["9223372036854775807"]),
    (pa.float32(), pa.float64(), [0.1, -0.0, math.inf, 3.4028235e38, None], [0.1, -0.0, math.inf, 3.4028235e38, None]),
    (pa.float32(), pa.string(), [2.0, -0.0, 1e7, 1e-5, 123456.79, math.nan], ["2.0", "-0.0", "1.0E7", "1.0E-5", "123456.79", "NaN"]),
    (pa.float64(), pa.string(), [2.0, 0.1, 2e23, -math.inf, 5e-324], ["2.0", "0.1", "1.9999999999999998E23", "-Infinity", "4.9E-324"]),
    (pa.date32(), pa.string(), [date(1969, 12, 31), date(1, 1, 1)], ["1969-12-31", "0001-01-01"]),
    (pa.decimal128(10, 2), pa.decimal128(20, 4), [Decimal("-0.01"), None], [Decimal("-0.0100"), None]),
    (pa.decimal128(10, 8), pa.string(), [Decimal("0.00000001")], ["0.00000001"]),
    (pa.binary(), pa.string(), [b"x", b""], ["x", ""]),
    (pa.string(), pa.binary(), ["x", None], [b"x", None]),
]
PLACES = {
    "column": (lambda kind: kind, lambda value: value),
    "struct": (lambda kind: pa.struct({"x": kind, "kept": pa.bool_()}), lambda value: {"x": value, "kept": True}),
    "list": (lambda kind: pa.list_(pa.field("element", kind)), lambda value: [value, value]),
    "map": (lambda kind: pa.map_(pa.string(), pa.field("value", kind)), lambda value: [("k", value)]),
}


@pytest.mark.parametrize("location", PLACES)
@pytest.mark.parametrize(("old", "new", "values", "expected"), CASES, ids=[f"{old} to {new}" for old, new, _, _ in CASES])
def test_value_of_a_narrow_type_is_read_as_apache_hudi_reads_it(old, new, values, expected, location) -> None:
    type_of, make = PLACES[location]
    nothing = [] if location == "column" else [None]
    rows = pa.table({"c": pa.array([*map(make, values), *nothing], type_of(old))})
    cs = [row["c"] for row in read(stored(rows), pa.schema({"c": type_of(new)}))]
    assert repr(cs) == repr([*map(make, expected), *nothing])


def test_fields_of_a_struct_meet_by_name() -> None:
    old = pa.struct({"x": pa.float32()})
    new = pa.struct({"late": pa.string(), "x": pa.string()})
    rows = pa.table({"c": pa.array([{"x": 2.0}], old)})
    assert read(stored(rows), pa.schema({"c": new})) == [{"c": {"late": None, "x": "2.0"}}]


def test_part_of_an_array_is_promoted() -> None:
    lists = pa.array([[9.0], None, [0.1], [], [2.0, None]], pa.list_(pa.float32())).slice(1, 4)
    assert promote_column(lists, promoted_type(lists.type, pa.list_(pa.string())), "c").to_pylist() == [None, ["0.1"], [], ["2.0", None]]


@pytest.mark.parametrize(
    ("old", "new", "condition"),
    [
        (pa.float32(), pa.float64(), pc.field("c") == 0.1),
        (pa.float32(), pa.string(), pc.field("c") == "0.1"),
        (pa.float64(), pa.string(), pc.field("c") >= "0.1"),
    ],
    ids=str,
)
def test_filter_is_held_against_the_values_of_today_not_the_statistics_of_the_file(old, new, condition) -> None:
    rows = pa.table({"c": pa.array([0.1, 0.1], old), "n": [1, 2]})
    schema = pa.schema({"c": new, "n": pa.int64()})
    assert [row["n"] for row in read(stored(rows, row_group_size=1), schema, filter=condition, columns=["n"])] == [1, 2]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (pa.float64(), pa.float32()),
        (pa.float64(), pa.decimal128(12, 2)),
        (pa.bool_(), pa.int32()),
        (pa.struct({"x": pa.int32()}), pa.string()),
        (pa.date32(), pa.float64()),
    ],
    ids=str,
)
def test_file_of_a_type_that_is_no_widening_is_refused_with_both_types(old, new) -> None:
    with pytest.raises(CorruptTableError, match=rf"column 'c' as .*cannot be read as the table's {re.escape(str(new))}"):
        read(stored(pa.table({"c": pa.nulls(1, old)})), pa.schema({"c": new}))


def bits(width: str, letter: str) -> st.SearchStrategy[float]:
    whole = st.integers(0, 2 ** (8 * struct.calcsize(width)) - 1)
    return st.one_of(whole.map(lambda number: struct.unpack(letter, struct.pack(width, number))[0]), st.floats(2**-14, 2**27, width=32))


@given(st.lists(bits(">Q", ">d") | st.decimals(-1000, 10**8, places=3).map(float)))
def test_doubles_have_the_text_of_java(values) -> None:
    assert float_strings(pa.array(values, pa.float64())).to_pylist() == [float_text(value) for value in values]


@given(st.lists(bits(">I", ">f")))
def test_floats_have_the_text_of_java_and_become_the_double_of_that_text(values) -> None:
    column = pa.array(values, pa.float32())
    strings = [float_text(value, single_precision=True) for value in column.to_pylist()]
    assert float_strings(column).to_pylist() == strings
    assert repr(as_doubles(column).to_pylist()) == repr([float(text) for text in strings])


@pytest.mark.parametrize("digits", [1, 2, 5, 6, 7, 9])
def test_many_floats_become_the_doubles_of_their_text(digits: int) -> None:
    random = np.random.default_rng(digits)
    sizes = 10.0 ** random.uniform(-4, 8, 40_000)
    values = np.round(random.choice([-1, 1], len(sizes)) * sizes, digits).astype(np.float32)
    column = pa.array(values, mask=random.random(len(values)) < 0.1)
    assert as_doubles(column).equals(float_strings(column).cast(pa.float64()))


#: The bits of floats from 2^-24 to 10^7; every power of two and ten is where digits and distances change.
RANGE = [int(np.float32(bound).view(np.uint32)) for bound in (EXACT_MIN, EXACT_MAX)]
EDGES = [2.0**power for power in range(-24, 24)] + [float(f"1e{power}") for power in range(-7, 8)]


def check_shortest(bits_of_floats: np.ndarray) -> None:
    """Java prints these floats with the fewest digits, as Arrow does."""
    column = pa.array(bits_of_floats.astype(np.uint32).view(np.float32))
    assert as_doubles(column).equals(column.cast(pa.string()).cast(pa.float64()))


def test_floats_near_a_change_of_digits_become_the_doubles_of_their_text() -> None:
    near = [int(np.float32(edge).view(np.uint32)) + step for edge in EDGES for step in range(-2000, 2000)]
    check_shortest(np.clip(near, RANGE[0], RANGE[1] - 1))


def test_small_floats_have_the_digits_of_java() -> None:
    bits_of_floats = np.random.default_rng(7).integers(RANGE[0], int(np.float32(1e-3).view(np.uint32)), 2000)
    column = pa.array(bits_of_floats.astype(np.uint32).view(np.float32))
    assert as_doubles(column).to_pylist() == [float(float_text(value, single_precision=True)) for value in column.to_pylist()]


@pytest.mark.slow
def test_all_floats_become_the_doubles_of_their_text() -> None:
    for start in range(RANGE[0], RANGE[1], 1 << 22):
        check_shortest(np.arange(start, min(start + (1 << 22), RANGE[1])))
