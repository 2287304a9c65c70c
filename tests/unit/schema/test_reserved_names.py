"""Columns whose names Hudi or pyhudi take for their own are refused when they would become the table's."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import SchemaError
from pyhudi.schema.meta_columns import META_FIELDS
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.write.input.alter_columns import AddColumn, RenameColumn

SCHEMA = pa.schema({"id": pa.int64(), "flag": pa.bool_()})
RESERVED = ["_hoodie_score", "_Hoodie_Commit_Time", "_HOODIE_IS_DELETED", "_pyhudi_delete"]
NUMBERED = {"hoodie.schema.on.read.enable": "true"}


def make(name: str) -> HudiTable:
    table = HudiTable.create(f"memory://reserved-{name}", SCHEMA, name="t", keys=["id"])
    table.upsert([{"id": 1, "flag": True}])
    return table


@pytest.mark.parametrize("name", RESERVED)
def test_reserved_names_are_refused_by_every_way_that_adds_columns(name: str) -> None:
    with pytest.raises(SchemaError, match=f"'{name}' has a reserved name"):
        HudiTable.create(f"memory://reserved-new-{name}", SCHEMA.append(pa.field(name, pa.int64())), name="t", keys=["id"])
    table = make(name)
    for write in (table.upsert, table.insert, table.bulk_insert, table.overwrite):
        with pytest.raises(SchemaError, match=f"'{name}' has a reserved name"):
            write([{"id": 1, "flag": True, name: 1}])
    for change in (AddColumn((name,), pa.int64()), RenameColumn(("flag",), name)):
        with pytest.raises(SchemaError, match=f"'{name}' has a reserved name"):
            alter_schema(table, [change], NUMBERED)
    assert table.to_arrow().to_pylist() == [{"id": 1, "flag": True}]


def test_column_cannot_become_the_one_that_marks_deletes() -> None:
    with pytest.raises(SchemaError, match="would count as deleted"):
        alter_schema(make("rename"), [RenameColumn(("flag",), "_hoodie_is_deleted")], NUMBERED)


def test_meta_columns_of_rows_that_were_read_are_left_out() -> None:
    table = HudiTable.create("memory://reserved-read", pa.schema([*META_FIELDS, *SCHEMA]), name="t", keys=["id"])
    table.upsert([{"id": 1, "flag": True}])
    table.upsert(table.to_arrow(meta_columns=True))
    assert table.schema.names == ["id", "flag"]
    assert table.count() == 1
