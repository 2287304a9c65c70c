"""Tables whose columns were renamed, dropped, moved and widened: Apache Hudi reads and continues ours, we read its."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.table.remove_rename import rename_table
from pyhudi.write.input.alter_columns import AddColumn, DescribeColumn, DropColumn, MoveColumn, RenameColumn, RetypeColumn
from tests.interop.reference import ReferenceHudi

ON = {"hoodie.schema.on.read.enable": "true"}
#: Apache Hudi asks for both, and its vectorized reader does not read structs that were changed inside.
HUDI_ON = {
    **ON,
    "hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true",
    "spark.sql.parquet.enableVectorizedReader": "false",
}
INNER = pa.struct([("u", pa.int32()), ("w", pa.string())])
SCHEMA = pa.schema(
    [
        ("id", pa.int32()),
        ("name", pa.string()),
        ("amount", pa.int32()),
        ("price", pa.decimal128(10, 2)),
        ("inner", INNER),
        ("many", pa.list_(INNER)),
        ("ts", pa.int64()),
    ]
)
ROW = {"name": "ann", "amount": 7, "price": 1, "inner": {"u": 1, "w": "a"}, "many": [{"u": 2, "w": "b"}], "ts": 5}


def rows_of(table: HudiTable) -> list[dict[str, Any]]:
    return sorted(table.to_arrow().to_pylist(), key=lambda row: row["id"])


def hudis(reference: ReferenceHudi, path: Path) -> list[dict[str, Any]]:
    table = HudiTable.open(path)
    reference.sql(f"CREATE TABLE IF NOT EXISTS {table.config.name} USING hudi LOCATION '{path}'")
    names = ", ".join(table.schema.names)
    result: list[dict[str, Any]] = reference.sql(
        f"REFRESH TABLE {table.config.name}", f"SELECT {names} FROM {table.config.name} ORDER BY id", conf=HUDI_ON
    ).to_pylist()
    return result


@pytest.mark.parametrize("kind", [pytest.param("COPY_ON_WRITE", marks=pytest.mark.slow), "MERGE_ON_READ"])
def test_altered_table_is_read_and_continued_by_both(kind: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    path, name = tmp_path / "t", f"altered_{kind.lower()}"
    options = {"hoodie.metadata.enable": "false"}
    table = HudiTable.create(path, SCHEMA, name=name, keys=["id"], order_by=["ts"], table_type=kind)
    table.upsert(pa.Table.from_pylist([{**ROW, "id": 1}, {**ROW, "id": 2, "inner": None}, {**ROW, "id": 3}], SCHEMA), options)
    table.upsert(pa.Table.from_pylist([{**ROW, "id": 3, "name": "cid", "ts": 6}], SCHEMA), options)
    alter_schema(table, [RenameColumn(("name",), "called"), RetypeColumn(("amount",), pa.int64())], {**ON, **options})
    alter_schema(
        table,
        [
            AddColumn(("name",), pa.string(), "another one", position="id"),
            RenameColumn(("inner", "u"), "uu"),
            RenameColumn(("many", "element", "w"), "ww"),
            RetypeColumn(("price",), pa.decimal128(20, 2)),
            MoveColumn(("called",), "ts"),
            DescribeColumn(("ts",), "when"),
        ],
        {**ON, **options},
    )
    assert hudis(reference, path) == rows_of(table)
    schema = table.schema.remove_metadata()
    new = {"id": 4, "name": "new", "amount": 1 << 40, "price": 2, "inner": {"uu": 9, "w": "z"}, "many": [], "ts": 1, "called": "dee"}
    table.upsert(pa.Table.from_pylist([new], schema), options)
    alter_schema(table, [DropColumn(("many",)), DropColumn(("inner", "w"))], {**ON, **options})
    assert hudis(reference, path) == rows_of(table)

    reference.sql(
        f"UPDATE {name} SET name = 'set' WHERE id = 1",
        f"ALTER TABLE {name} RENAME COLUMN amount TO sum",
        f"ALTER TABLE {name} DROP COLUMN price",
        f"ALTER TABLE {name} ADD COLUMNS (extra STRING)",
        f"UPDATE {name} SET extra = 'theirs' WHERE id = 2",
        conf=HUDI_ON,
    )
    table = HudiTable.open(path)
    assert hudis(reference, path) == rows_of(table)
    assert [(row["sum"], row["called"], row["name"], row["extra"]) for row in rows_of(table)] == [
        (7, "ann", "set", None),
        (7, "ann", None, "theirs"),
        (7, "cid", None, None),
        (1 << 40, "dee", "new", None),
    ]
    if table.config.is_merge_on_read:
        table.services.compact(options={**options, "hoodie.compact.inline.max.delta.commits": "1"})
        assert hudis(reference, path) == rows_of(table)
    some = pa.Table.from_pylist([{"id": 5, "called": "eve", "sum": 3, "ts": 9, "more": 1.5}])
    table.upsert(some, {**options, "hoodie.write.set.null.for.missing.columns": "true"})
    assert hudis(reference, path) == rows_of(table)
    assert len(rows_of(table)) == 5

    rename_table(table, f"{name}_2")
    table = HudiTable.open(path)
    reference.sql(f"CREATE TABLE {name}_2 USING hudi LOCATION '{path}'", f"UPDATE {name}_2 SET called = 'last' WHERE id = 5", conf=HUDI_ON)
    assert hudis(reference, path) == rows_of(table)
    assert rows_of(table)[-1]["called"] == "last"
