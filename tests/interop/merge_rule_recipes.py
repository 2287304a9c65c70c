"""Merge-on-read fixtures about ordering values and payload classes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.interop.merge_on_read_recipes import MERGE_ON_READ
from tests.interop.reference import ReferenceHudi

# Three values of each type that serves as an ordering field, rising.
ORDERING_VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int": (pa.int32(), [-1, 5, 6]),
    "decimal": (pa.decimal128(12, 3), [Decimal("-1.500"), Decimal("9.000"), Decimal("10.250")]),
    "timestamp": (pa.timestamp("us", "UTC"), [dt.datetime(y, 1, 2, 3, 4, 5, 6, tzinfo=dt.UTC) for y in (1960, 2026, 2027)]),
    "date": (pa.date32(), [dt.date(1960, 1, 2), dt.date(2026, 1, 2), dt.date(2027, 1, 2)]),
    "double": (pa.float64(), [-1.5, 9.0, 10.25]),
    "string": (pa.string(), ["10", "9", "é"]),
}


def ordered_by(reference: ReferenceHudi, path: Path, table: dict[str, str], kind: str) -> None:
    """Late, equal and early updates, then deletes that carry the ordering value."""
    arrow, (low, middle, high) = ORDERING_VALUES[kind]

    def rows(*values: tuple[str, Any, str], deleted: bool = False) -> pa.Table:
        ids, orders, notes = zip(*values, strict=True)
        columns = {"id": ids, "city": ["oslo"] * len(ids), "rank": pa.array(orders, arrow), "note": notes}
        return pa.table(columns | {"_hoodie_is_deleted": [deleted] * len(ids)})

    table = table | MERGE_ON_READ | {"hoodie.datasource.write.precombine.field": "rank"}
    reference.write(path, rows(*((name, middle, f"{name}0") for name in "abcdefg")), "overwrite", table)
    reference.write(path, rows(("a", low, "a1"), ("b", middle, "b1"), ("c", high, "c1")), "append", table)
    if kind != "date":  # Apache Hudi can't write a delete that carries a date
        removed = rows(("d", low, ""), ("e", middle, ""), ("f", high, ""), ("c", middle, ""), deleted=True)
        reference.write(path, removed, "append", table)
    reference.write(path, rows(("f", middle, "f2"), ("e", high, "e2"), ("c", middle, "c2"), ("h", low, "h2")), "append", table)


def several_ordering_fields(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    def rows(*values: tuple[str, int, str, str], deleted: bool = False) -> pa.Table:
        ids, first, second, notes = zip(*values, strict=True)
        columns = {"id": ids, "city": ["oslo"] * len(ids), "a": pa.array(first, pa.int64()), "b": second, "note": notes}
        return pa.table(columns | {"_hoodie_is_deleted": [deleted] * len(ids)})

    table = table | MERGE_ON_READ | {"hoodie.table.ordering.fields": "a,b"}
    reference.write(path, rows(*((name, 5, "m", f"{name}0") for name in "pqrstuv")), "overwrite", table)
    reference.write(path, rows(("p", 5, "l", "p1"), ("q", 5, "n", "q1"), ("r", 4, "z", "r1"), ("s", 6, "a", "s1")), "append", table)
    reference.write(path, rows(("t", 5, "l", ""), ("u", 5, "n", ""), ("s", 6, "0", ""), deleted=True), "append", table)
    reference.write(path, rows(("u", 5, "m", "u2"), ("q", 5, "m", "q2"), ("r", 5, "m", "r2")), "append", table)


def payload(reference: ReferenceHudi, path: Path, table: dict[str, str], name: str) -> None:
    """Nulls and defaults in the later record; a late record with values for the nulls of the earlier."""

    def rows(*values: tuple[str, int, int | None, str | None]) -> pa.Table:
        ids, ts, n, note = zip(*values, strict=True)
        columns = {"id": ids, "city": ["oslo"] * len(ids), "ts": pa.array(ts, pa.int64()), "n": pa.array(n, pa.int32())}
        return pa.table(columns | {"note": pa.array(note, pa.string())})

    table = (
        table
        | MERGE_ON_READ
        | {
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.payload.class": f"org.apache.hudi.common.model.{name}",
        }
    )
    reference.write(path, rows(*((key, 10, 1, f"{key}0") for key in "abcd"), ("e", 10, None, None)), "overwrite", table)
    reference.write(path, rows(("a", 20, None, "a1"), ("b", 5, 2, None), ("e", 5, 7, "e1"), ("c", 20, 0, "")), "append", table)
    reference.write(path, rows(("a", 30, 3, None), ("d", 5, None, "d2"), ("f", 1, None, None)), "append", table)
    reference.write(path, rows(("f", 2, 5, None), ("c", 15, None, None)), "append", table)


def database_migration(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """AWS DMS: a row whose `Op` is `D` is a delete."""

    def rows(*values: tuple[str, str, int, str]) -> pa.Table:
        ids, op, ts, note = zip(*values, strict=True)
        columns = {"Op": op, "id": ids, "city": ["oslo"] * len(ids), "ts": pa.array(ts, pa.int64()), "note": note}
        return pa.table(columns)

    table = (
        table
        | MERGE_ON_READ
        | {
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.AWSDmsAvroPayload",
        }
    )
    reference.write(path, rows(*((key, "I", 10, f"{key}0") for key in "abcd")), "overwrite", table)
    reference.write(path, rows(("a", "U", 20, "a1"), ("b", "D", 20, "b1"), ("c", "U", 5, "c1"), ("d", "D", 5, "d1")), "append", table)
    reference.write(path, rows(("b", "I", 30, "b2"), ("x", "D", 1, "x2")), "append", table)


def mysql(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Debezium's events of MySQL: ordered by binlog file and position."""
    version = table["hoodie.write.table.version"]

    def rows(*values: tuple[str, str, str, int, str | None]) -> pa.Table:
        ids, op, file, position, note = zip(*values, strict=True)
        columns = {"id": ids, "city": ["oslo"] * len(ids), "_change_operation_type": op, "_event_bin_file": file}
        sequence = [f"{name.rsplit('.')[-1]}.{at}" for name, at in zip(file, position, strict=True)]
        columns |= {"_event_pos": pa.array(position, pa.int64()), "_event_seq": sequence}
        return pa.table(columns | {"note": pa.array(note, pa.string())})

    ordering = "_event_seq" if version != "9" else "_event_bin_file,_event_pos"
    table = (
        table
        | MERGE_ON_READ
        | {
            "hoodie.datasource.write.precombine.field": ordering,
            "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.debezium.MySqlDebeziumAvroPayload",
        }
    )
    first = "mysql-bin.000001"
    reference.write(path, rows(*((key, "c", first, 200, f"{key}0") for key in "abcdef")), "overwrite", table)
    second = "mysql-bin.000002"
    changes = (("a", "u", first, 300, "a1"), ("b", "u", first, 100, "b1"), ("c", "u", second, 50, "c1"))
    reference.write(path, rows(*changes, ("d", "d", second, 60, "d1"), ("e", "d", first, 100, "e1")), "append", table)
    reference.write(path, rows(("c", "u", first, 900, "c2"), ("f", "u", second, 70, None)), "append", table)


def postgres(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Debezium's events of Postgres: values that the database left out are filled from the earlier record."""
    absent = "__debezium_unavailable_value"

    def rows(*values: tuple[str, str, int | None, str | None]) -> pa.Table:
        ids, op, lsn, note = zip(*values, strict=True)
        columns = {"id": ids, "city": ["oslo"] * len(ids), "_change_operation_type": op}
        columns |= {"_event_lsn": pa.array(lsn, pa.int64()), "note": pa.array(note, pa.string())}
        return pa.table(columns)

    table = (
        table
        | MERGE_ON_READ
        | {
            "hoodie.datasource.write.precombine.field": "_event_lsn",
            "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.debezium.PostgresDebeziumAvroPayload",
        }
    )
    reference.write(path, rows(*((key, "c", 10, f"{key}0") for key in "abcdefg")), "overwrite", table)
    changes = (("a", "u", 20, absent), ("b", "u", 5, "b1"), ("c", "u", 20, None), ("d", "d", 20, "d1"))
    reference.write(path, rows(*changes, ("e", "d", 5, "e1"), ("f", "u", 20, "f1")), "append", table)
    reference.write(path, rows(("f", "u", 30, absent), ("g", "u", 5, absent)), "append", table)


def delete_marker(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """A column and a value of the user's choice say that a row is a delete."""

    def rows(*values: tuple[str, int, str]) -> pa.Table:
        ids, ts, state = zip(*values, strict=True)
        return pa.table({"id": ids, "city": ["oslo"] * len(ids), "ts": pa.array(ts, pa.int64()), "state": state})

    table = (
        table
        | MERGE_ON_READ
        | {
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
            "hoodie.payload.delete.field": "state",
            "hoodie.payload.delete.marker": "gone",
        }
    )
    reference.write(path, rows(*((key, 10, f"{key}0") for key in "abcd")), "overwrite", table)
    reference.write(path, rows(("a", 20, "gone"), ("b", 5, "gone"), ("c", 10, "gone")), "append", table)
    reference.write(path, rows(("a", 15, "late"), ("c", 20, "back")), "append", table)
