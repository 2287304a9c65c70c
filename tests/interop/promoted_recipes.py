"""Tables whose columns Apache Hudi widened while it wrote: every pair of types that it takes, in columns, structs, lists and maps."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.interop.reference import ReferenceHudi

_NAN, _INF = float("nan"), float("inf")
_VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int": (pa.int32(), [1, -1, 0, 2**31 - 1, -(2**31), 16777217, 33554435, None]),
    "long": (pa.int64(), [1, -1, 0, 2**63 - 1, -(2**63), 16777217, 2**53 + 1, 2**53 + 3, None]),
    "float": (pa.float32(), [0.1, 2.0, -0.0, 0.0, _NAN, _INF, -_INF, 1e7, 1e-5, 1.61682407e11, 3.4028235e38, 1.4e-45, 123456.79, None]),
    "double": (pa.float64(), [0.1, 2.0, -0.0, 0.0, _NAN, _INF, -_INF, 1e7, 1e-5, 1e16, 2e23, 1.7976931348623157e308, 5e-324, None]),
    "string": (pa.string(), ["2.0", "x", "", None]),
    "decimal(10,2)": (pa.decimal128(10, 2), [Decimal("1.50"), Decimal("-0.01"), Decimal("99999999.99"), None]),
    "decimal(20,2)": (pa.decimal128(20, 2), [Decimal("123456789012345678.25"), None]),
    "decimal(20,4)": (pa.decimal128(20, 4), [Decimal("1234567890123456.2525"), None]),
}
PAIRS = (
    *(("int", wide) for wide in ("long", "float", "double", "string")),
    *(("long", wide) for wide in ("float", "double", "string")),
    ("float", "double"),
    ("float", "string"),
    ("double", "string"),
    ("decimal(10,2)", "decimal(20,2)"),
    ("decimal(10,2)", "decimal(20,4)"),
)
#: More rows than any type has values.
ROWS = 15
KEYED = {"hoodie.datasource.write.recordkey.field": "id", "hoodie.datasource.write.precombine.field": "ts"}
OWN_FILES = {"hoodie.parquet.small.file.limit": "0"}
#: Log files also for new keys.
BUCKETS = {
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.compact.inline": "false",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
}


def promoted_rows(prefix: str, count: int, ts: int, *, wide: bool) -> pa.Table:
    """Rows with keys of a prefix; each pair of types has a column of each kind, named by the types."""
    names = {f"{old}_{new}".translate(str.maketrans("(,)", "___")): new if wide else old for old, new in PAIRS}
    types = {name: _VALUES[kind][0] for name, kind in names.items()}
    inner = pa.struct(list(types.items()))
    columns: dict[str, pa.Array] = {
        "id": pa.array([f"{prefix}{number:02d}" for number in range(count)]),
        "ts": pa.array([ts] * count, pa.int64()),
    }
    rows = [{name: _value(kind, number) for name, kind in names.items()} for number in range(count)]
    for name, kind in types.items():
        values = [row[name] for row in rows]
        columns[name] = pa.array(values, kind)
        # Apache Hudi's lists hold no nulls by default.
        columns[f"list_{name}"] = pa.array([[] if value is None else [value, value] for value in values], pa.list_(kind))
        columns[f"map_{name}"] = pa.array([[("a", value)] for value in values], pa.map_(pa.string(), kind))
    columns["part"] = pa.array(rows, inner)
    columns["deep"] = pa.array([[{"m": [("k", row)]}] for row in rows], pa.list_(pa.struct([("m", pa.map_(pa.string(), inner))])))
    return pa.table(columns)


def promoted_types(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Old files hold the narrow types."""
    reference.write(path, promoted_rows("a", ROWS, 1, wide=False), "append", table | KEYED | OWN_FILES)
    reference.write(path, promoted_rows("b", 3, 2, wide=True), "append", table | KEYED | OWN_FILES)


def promoted_types_in_logs(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Base file and the first log hold the narrow types; a second log holds the wide ones."""
    table = table | KEYED | OWN_FILES | BUCKETS
    reference.write(path, promoted_rows("a", ROWS, 1, wide=False), "append", table)
    reference.write(path, promoted_rows("a", ROWS - 3, 2, wide=False), "append", table)
    reference.write(path, promoted_rows("a", 2, 3, wide=True), "append", table)
    reference.write(path, promoted_rows("b", 2, 3, wide=True), "append", table)


def _value(kind: str, number: int) -> Any:
    values = _VALUES[kind][1]
    return values[number % len(values)]
