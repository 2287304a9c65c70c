"""Arguments of wrong types are errors of pyhudi that name the argument, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import StorageError, TableExists, UsageError

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string()})
ROW = {"id": 1, "v": "x"}


@pytest.fixture
def table(request: pytest.FixtureRequest) -> HudiTable:
    made = HudiTable.create(f"memory://arguments-{request.node.name}", SCHEMA, name="t", keys=["id"])
    made.insert([ROW])
    return made


@pytest.mark.parametrize(
    ("argument", "value"),
    [(name, value) for name in ("keys", "partition_by", "order_by") for value in (None, 5, [5], [None], "id", b"id", {"id": 1})]
    + [("name", None), ("name", 5), ("table_type", 5), ("options", 5), ("options", {5: "a"})]
    + [("schema", value) for value in (None, 5, "id int", {"id": pa.int64()}, [("id", pa.int64())])],
)
def test_creation_names_the_argument(argument: str, value: Any, request: pytest.FixtureRequest) -> None:
    path = f"memory://arguments-{request.node.name}"
    given = {"schema": SCHEMA, "name": "t", "keys": ["id"], argument: value}
    with pytest.raises(UsageError, match=argument.rstrip("s")):
        HudiTable.create(path, given.pop("schema"), **given)
    HudiTable.create(path, SCHEMA, name="t")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda table: table.upsert([ROW], 5), "options are 5"),
        (lambda table: table.upsert([ROW], [("a", "b")]), "of type list"),
        (lambda table: table.upsert([ROW], {5: "a"}), "the name of an option is 5"),
        (lambda table: table.upsert([{5: 1}]), "a row holds 5"),
        (lambda table: table.delete([{None: 1}]), "a row holds None"),
        (lambda table: table.upsert(5), "of type builtins.int"),
        (lambda table: table.upsert(None), r"upsert\(\) needs data"),
        (lambda table: table.insert(None), r"insert\(\) needs data"),
        (lambda table: table.overwrite(None), "needs data"),
        (lambda table: table.overwrite([ROW], partitions=5), "partitions is 5"),
        (lambda table: table.delete(partitions=[None]), "partitions holds None"),
        (lambda table: table.delete(partitions="a"), "partitions is the text 'a'"),
        (lambda table: table.to_arrow(columns=5), "columns is 5"),
        (lambda table: table.to_arrow(columns="id"), "columns is the text 'id'"),
        (lambda table: table.to_arrow(columns=[None]), "columns holds None"),
        (lambda table: table.to_arrow(options=5), "options are 5"),
        (lambda table: table.inspect.log_blocks(5), "path is 5"),
        (lambda table: table.inspect.log_anatomy(None), "path is None"),
        (lambda table: HudiTable("/data/t"), r"HudiTable.open\(path\)"),  # type: ignore[arg-type]
        (lambda table: HudiTable(None), r"HudiTable.open\(path\)"),  # type: ignore[arg-type]
    ],
)
def test_calls_name_the_argument(table: HudiTable, call: Callable[[HudiTable], Any], says: str) -> None:
    before = table.history()
    with pytest.raises(UsageError, match=says):
        call(table)
    assert table.history() == before
    assert table.to_arrow().to_pylist() == [ROW]


def test_file_in_place_of_a_folder_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "t"):
        with pytest.raises(StorageError, match=str(path)):
            HudiTable.open(path)
        with pytest.raises((StorageError, TableExists), match=str(path)):
            HudiTable.create(path, SCHEMA, name="t")
