"""Apache Hudi skips by statistics of ours and keeps every file with a matching row; pyhudi keeps no file that Apache Hudi rules out.

Files hold what statistics are bad at: NaN, nulls only, texts beyond 4 KiB, columns that came later or grew. The truth is what Apache Hudi
finds without skipping, for all conditions in one query. Two conditions make Apache Hudi lose rows of any table, and are not asked:
`LIKE 'a%'` where the least text is greater than the prefix, and comparisons with NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.read.execute import select
from pyhudi.read.skipping.data_skipping import Skipping
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from tests.interop.reference import ReferenceHudi

ON = {"hoodie__metadata__enable": "true", "hoodie__enable__data__skipping": "true"}
WRITES = {"hoodie.parquet.small.file.limit": "0", "hoodie.compact.inline": "false"}
#: Type, three values in order, and two literals.
COLUMNS: dict[str, tuple[pa.DataType, list[Any], list[str]]] = {
    "b": (pa.bool_(), [False, True, True], ["true"]),
    "i": (pa.int32(), [-3, 0, 5], ["0", "9"]),
    "d": (pa.float64(), [-1.5, -0.0, 2.5], ["0", "9"]),
    "f": (pa.float32(), [-1.5, 0.0, 2.5], ["9"]),
    "s": (pa.string(), ["a", "abc", "b"], ["'ab'", "'zz'"]),
    "t": (pa.string(), ["aa", "z" * 5000, "b"], ["'aa'", "'zz'"]),
    "day": (pa.date32(), [date(2023, 1, 1), date(2024, 1, 1), date(2025, 1, 1)], ["DATE '2024-01-01'", "DATE '2030-01-01'"]),
    "ts": (pa.timestamp("us", "UTC"), [datetime(2024, 1, one, tzinfo=UTC) for one in (1, 2, 3)], ["TIMESTAMP '2024-01-02 00:00:00'"]),
    "ms": (pa.timestamp("ms", "UTC"), [datetime(2024, 1, one, tzinfo=UTC) for one in (1, 2, 3)], ["TIMESTAMP '2024-01-02 00:00:00'"]),
    "m": (pa.decimal128(12, 2), [Decimal("-1.50"), Decimal("0.00"), Decimal("7.25")], ["0.00", "99.00"]),
    "e": (pa.int64(), [1, 3, 9], ["3", "4000000000"]),
    "n": (pa.int32(), [6, 7, 8], ["7"]),
}
#: Asked always; they stand for what is written on purpose, and for what went wrong once.
SOME = [
    *("d > 9 OR id = 'x'", "n IS NULL OR id = 'x'", "t > 'y' OR id = 'x'", "d IS NOT NULL OR id = 'x'", "e >= 4000000000"),
    *("n = 7", "m < 0 AND d < 0", "s NOT IN ('a', 'ab')"),
]


def conditions() -> Iterator[str]:
    for name, (_, _, literals) in COLUMNS.items():
        for literal in literals:
            yield from (f"{name} {symbol} {literal}" for symbol in ("=", "!=", "<", "<=", ">", ">=", "<=>"))
            yield from (f"{name} > {literal} OR id = 'x'", f"NOT ({name} > {literal}) OR id = 'x'", f"{name} = {literal} OR id = 'x'")
            yield from (f"{name} IN ({literal})", f"{name} NOT IN ({literal})")
        yield from (f"{name} IS NULL", f"{name} IS NOT NULL", f"{name} IS NULL OR id = 'x'", f"{name} IS NOT NULL OR id = 'x'")


def rows(prefix: str, *kinds: int | str | None, old: bool) -> pa.Table:
    """Rows of the first, second or third values, of nulls (None), or of what is hardest ("odd")."""
    schema = pa.schema({"id": pa.string(), "p": pa.string(), **{name: kind for name, (kind, _, _) in COLUMNS.items()}})
    result = []
    for number, kind in enumerate(kinds):
        values = {name: None if kind is None else few[1 if kind == "odd" else kind] for name, (_, few, _) in COLUMNS.items()}  # type: ignore[index]
        nan = {"d": math.nan, "f": math.nan} if kind == "odd" else {}
        result.append({"id": f"{prefix}{number}", "p": "xy"[number % 2], **values, **nan})
    data = pa.Table.from_pylist(result, schema=schema)
    return data.drop_columns("n").set_column(data.schema.get_field_index("e"), "e", data.column("e").cast(pa.int32())) if old else data


def written(path: Path, version: int, table_type: str) -> HudiTable:
    first = rows("a", 0, 0, 1, 1, old=True)
    options = {"hoodie.write.table.version": str(version)}
    table = HudiTable.create(path, first.schema, name="t", keys=["id"], partition_by=["p"], table_type=table_type, options=options)
    for data in (first, rows("m", "odd", None, None, "odd", old=True), rows("z", None, None, old=True), rows("c", 2, 2, old=True)):
        table.insert(data, options=WRITES)
    grown = rows("k", 0, 1, old=False)
    table.insert(grown.set_column(grown.schema.get_field_index("e"), "e", pa.array([1 << 32, 5])), options=WRITES)
    table.insert(rows("l", None, None, old=False), options=WRITES)
    if table_type == "MERGE_ON_READ":
        table.upsert(rows("a", "odd", 2, old=False), options=WRITES)
    return table


def check(reference: ReferenceHudi, path: Path, table: HudiTable, filters: list[str], name: str) -> None:
    reference.sql(f"CREATE TABLE {name} USING hudi LOCATION '{path}'")
    answers = ", ".join(f"({condition}) AS c{number}" for number, condition in enumerate(filters))
    truth = reference.sql(f"SELECT _hoodie_file_name, {answers} FROM {name}")
    groups = [_group(file) for file in truth.column(0).to_pylist()]
    retained = reference.retained(path, filters, **ON)
    snapshot = open_snapshot(table.storage, SnapshotQuery())
    for number, condition in enumerate(filters):
        needed = {group for group, answer in zip(groups, truth.column(f"c{number}").to_pylist(), strict=True) if answer}
        theirs = set(map(_group, retained[condition]))
        selection = select(snapshot, None, condition)
        chosen = Skipping(snapshot, selection.test, nan_is_greatest=True, at_any_price=True).choose(selection.paths)
        ours = {file_slice.group.file_id for file_slice in chosen.slices}
        assert needed <= theirs, f"Apache Hudi loses rows for {condition}"
        assert needed <= ours, f"pyhudi loses rows for {condition}"
        assert ours <= theirs, f"Apache Hudi rules out more for {condition}"


def _group(file_name: str) -> str:
    return file_name.lstrip(".").split("_")[0]


@pytest.mark.parametrize(("version", "table_type"), [(9, "COPY_ON_WRITE"), pytest.param(8, "MERGE_ON_READ", marks=pytest.mark.slow)])
def test_no_row_is_skipped_and_no_file_is_kept_in_vain(reference: ReferenceHudi, tmp_path: Path, version: int, table_type: str) -> None:
    table = written(tmp_path / "t", version, table_type)
    filters = [condition for condition in SOME if version > 8 or "m " not in condition]
    check(reference, tmp_path / "t", table, filters, f"skipped_{version}")


@pytest.mark.slow
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", [8, 9])
def test_no_row_is_skipped_by_any_condition(reference: ReferenceHudi, tmp_path: Path, version: int, table_type: str) -> None:
    table = written(tmp_path / "t", version, table_type)
    check(reference, tmp_path / "t", table, list(conditions()), f"skipped_{version}_{table_type[0]}".lower())
