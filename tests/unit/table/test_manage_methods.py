"""`table.head`, `table.alter`, `table.savepoint`, `table.restore` and `pyhudi.list_tables`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pyhudi
from pyhudi import HudiTable
from pyhudi.errors import OptionError, SchemaError, UnsupportedError, UsageError
from pyhudi.storage.memory_storage import MemoryStorage

SCHEMA = pa.schema({"id": pa.int64(), "size": pa.int32(), "note": pa.string()})
ON_READ = {"hoodie.schema.on.read.enable": "true"}


@pytest.fixture
def table() -> HudiTable:
    table = HudiTable.create(MemoryStorage().uri, SCHEMA, name="t", keys=["id"])
    table.insert({"id": 1, "size": 2, "note": "x"})
    return table


def test_columns_are_added_and_widened(table: HudiTable) -> None:
    schema = table.alter(add={"tip": pa.float64(), "day": pa.date32()}, retype={"size": pa.int64()})
    assert (schema.names, schema.field("size").type) == (["id", "size", "note", "tip", "day"], pa.int64())
    assert table.to_arrow().to_pylist() == [{"id": 1, "size": 2, "note": "x", "tip": None, "day": None}]


def test_columns_are_renamed_dropped_and_added_in_one_commit(table: HudiTable) -> None:
    schema = table.alter(drop=["note"], rename={"size": "length"}, retype={"length": pa.int64()}, add={"note": pa.int64()}, options=ON_READ)
    assert schema.names == ["id", "length", "note"]
    assert table.to_arrow().to_pylist() == [{"id": 1, "length": 2, "note": None}]
    assert table.history().num_rows == 2


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({}, UsageError, "changes nothing"),
        ({"drop": ["note"]}, UnsupportedError, "hoodie.schema.on.read.enable"),
        ({"drop": "note"}, OptionError, "give a list of column names"),
        ({"drop": ["nothing"], "options": ON_READ}, SchemaError, "nothing"),
        ({"drop": ["id"], "options": ON_READ}, SchemaError, "id"),
        ({"add": {"id": pa.int64()}}, SchemaError, "id"),
        ({"add": ["tip"]}, UsageError, "give a dict by column"),
        ({"add": {"tip": "double"}}, UsageError, "where a pyarrow type belongs"),
        ({"rename": {"size": 5}, "options": ON_READ}, UsageError, "where the name of a column belongs"),
        ({"retype": {"size": pa.bool_()}, "options": ON_READ}, SchemaError, "size"),
    ],
)
def test_what_cannot_be_altered_is_refused(table: HudiTable, arguments: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        table.alter(**arguments)
    assert table.history().num_rows == 1


def test_a_table_is_restored_to_its_savepoint(table: HudiTable) -> None:
    saved = table.savepoint(comment="before")
    table.upsert({"id": 1, "size": 9, "note": "y"})
    assert table.restore(to=saved.instant, dry_run=True).state != "completed"
    assert table.restore(to=saved.instant).state == "completed"
    assert table.to_arrow(["size"]).to_pylist() == [{"size": 2}]


def test_the_tables_of_a_folder_are_listed(tmp_path: Path) -> None:
    for name in ("a", "deep/b", "deep/er/c", "deep/er/est/d", "_hidden/e"):
        HudiTable.create(tmp_path / "lake" / name, SCHEMA, name="t", keys=["id"])
    (tmp_path / "lake" / "files").mkdir()
    lake = str(tmp_path / "lake")
    assert pyhudi.list_tables(lake) == [f"{lake}/a", f"{lake}/deep/b", f"{lake}/deep/er/c"]
    assert pyhudi.list_tables(tmp_path / "lake", depth=1) == [f"{lake}/a"]
    assert pyhudi.list_tables(f"{lake}/a") == [f"{lake}/a"]
    assert [HudiTable.open(path).count() for path in pyhudi.list_tables(lake)] == [0, 0, 0]
    with pytest.raises(UsageError, match="no folder, or an empty one"):
        pyhudi.list_tables(f"{lake}/nothing")
    with pytest.raises(OptionError, match="depth is -1"):
        pyhudi.list_tables(lake, depth=-1)


def test_head_gives_so_many_rows_at_most(table: HudiTable) -> None:
    table.insert([{"id": number, "size": 1, "note": ""} for number in range(2, 9)])
    assert [table.head(count).num_rows for count in (0, 3, 20)] == [0, 3, 8]
    assert table.head().num_rows == 5
    assert table.head(1).schema == table.schema


@pytest.mark.parametrize("count", [-1, 2.5, "3", True, None])
def test_head_refuses_what_is_no_number_of_rows(table: HudiTable, count: Any) -> None:
    with pytest.raises(UsageError, match="give a number of rows, 0 or more"):
        table.head(count)
