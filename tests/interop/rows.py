"""Rows that the tests of this folder write, and how two sets of rows are compared."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa

CITIES = ("oslo", "lima", "bern")
TRIPS = pa.schema([("id", pa.string()), ("city", pa.string()), ("amount", pa.int64()), ("price", pa.float64())])


def trips(first: int, end: int, amount: int = 0) -> pa.Table:
    """Trips number `first` to `end - 1`; the same number has the same city every time."""
    numbers = range(first, end)
    columns = [
        [f"trip-{number}" for number in numbers],
        [CITIES[number % len(CITIES)] for number in numbers],
        [amount] * len(numbers),
        [number + 0.5 for number in numbers],
    ]
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, TRIPS, strict=True)], schema=TRIPS)


def every_type() -> pa.Table:
    """A row of usual values, one of extremes, one of nulls; ids `a`, `b`, `c`."""
    utc = dt.UTC
    instant = dt.datetime(2026, 1, 2, 3, 4, 5, 678901)
    before_1900 = dt.datetime(1883, 11, 18, 12, 3, 58, 1)
    # Apache Hudi can't rewrite its own files when a list holds structs of one field or, deeper, structs or decimals.
    deep = pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.int64())), ("l", pa.list_(pa.string()))]))
    columns: dict[str, tuple[pa.DataType, list[Any]]] = {
        "bool": (pa.bool_(), [True, False]),
        "int8": (pa.int8(), [1, -128]),
        "int16": (pa.int16(), [2, -32768]),
        "int32": (pa.int32(), [3, -(2**31)]),
        "int64": (pa.int64(), [4, 2**63 - 1]),
        "float32": (pa.float32(), [1.5, float("-inf")]),
        "float64": (pa.float64(), [1.0, 1e300]),
        "decimal_9_2": (pa.decimal128(9, 2), [Decimal("1.50"), Decimal("-9999999.99")]),
        "decimal_18_1": (pa.decimal128(18, 1), [Decimal("1.5"), Decimal("12345678901234567.8")]),
        "decimal_38_10": (pa.decimal128(38, 10), [Decimal("1E-10"), Decimal(-2)]),
        "string": (pa.string(), ["ü€𝄞 \n\t", ""]),
        "binary": (pa.binary(), [b"\x00\xff", b""]),
        "date": (pa.date32(), [dt.date(2026, 1, 2), dt.date(1969, 12, 31)]),
        "timestamp": (pa.timestamp("us", "UTC"), [instant.replace(tzinfo=utc), before_1900.replace(tzinfo=utc)]),
        "timestamp_ntz": (pa.timestamp("us"), [instant, before_1900]),
        "array": (pa.list_(pa.int32()), [[1, 2], []]),
        "map": (pa.map_(pa.string(), pa.int64()), [[("k", 1), ("l", None)], []]),
        "struct": (pa.struct([("x", pa.int32()), ("y", pa.string())]), [{"x": 1, "y": "q"}, {"x": None, "y": None}]),
        "deep": (deep, [[{"m": [("k", 7), ("l", None)], "l": ["ü"]}], [{"m": None, "l": None}]]),
    }
    arrays = {name: pa.array([*values, None], kind) for name, (kind, values) in columns.items()}
    return pa.table({"id": ["a", "b", "c"], **arrays, "part": ["x", "y", "x"]})


def data(table: pa.Table, order: str = "id") -> list[dict[str, Any]]:
    """The rows without meta columns, sorted, as Python values; maps as dicts, because their entries have no order."""
    names = [name for name in table.column_names if not name.startswith("_hoodie_")]
    rows = table.select(names).sort_by(order).to_pylist()
    return [{name: _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {key: _plain(item) for key, item in value}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
