"""ALTER TABLE without Spark: what a table's schema becomes, and how files written before are read."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import SchemaError, UnsupportedError
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.write.input.alter_columns import (
    AddColumn,
    AllowNull,
    Change,
    DescribeColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    RetypeColumn,
)

ON = {"hoodie.schema.on.read.enable": "true"}
INNER = pa.struct([pa.field("u", pa.int32()), pa.field("w", pa.float32())])
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("price", pa.float32()),
        ("amount", pa.int32()),
        ("inner", INNER),
        ("many", pa.list_(INNER)),
        ("by_key", pa.map_(pa.string(), INNER)),
        ("ts", pa.int64()),
    ]
)
ROW = {
    "id": 1,
    "name": "ann",
    "price": 0.1,
    "amount": 7,
    "inner": {"u": 1, "w": 0.5},
    "many": [{"u": 2, "w": 1.5}, None],
    "by_key": [("k", {"u": 3, "w": 2.5})],
    "ts": 5,
}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    made = HudiTable.create(
        f"memory://{request.node.name}", SCHEMA, name="t", keys=["id"], order_by=["ts"], table_type=request.param, options={}
    )
    put(made, ROW, {**ROW, "id": 2, "name": "bob", "inner": None})
    if request.param == "MERGE_ON_READ":
        put(made, {**ROW, "name": "amy", "ts": 6})  # this record is in a log file
    return made


def put(table: HudiTable, *rows: dict[str, Any]) -> None:
    """Upsert rows that have some of the table's columns."""
    columns = [field for field in table.schema if any(field.name in row for row in rows)]
    table.upsert(pa.Table.from_pylist(list(rows), schema=pa.schema(columns)))


def rows(table: HudiTable, *columns: str, **kwargs: Any) -> list[dict[str, Any]]:
    return sorted(table.to_arrow(columns=["id", *columns], **kwargs).to_pylist(), key=lambda row: row["id"])


def test_added_column_is_null_in_rows_written_before_and_filled_afterwards(table: HudiTable) -> None:
    alter_schema(table, [AddColumn(("note",), pa.string(), "a note")])
    put(table, {**ROW, "id": 3, "note": "new"})
    assert [row["note"] for row in rows(table, "note")] == [None, None, "new"]
    assert table.schema.field("note").metadata == {b"comment": b"a note"}


def test_renamed_column_keeps_its_values_and_the_old_name_may_come_back_empty(table: HudiTable) -> None:
    first = rows(table, "name")
    alter_schema(table, [RenameColumn(("name",), "rider")], ON)
    alter_schema(table, [AddColumn(("name",), pa.string())])
    result = rows(table, "rider", "name")
    assert [row["rider"] for row in result] == [row["name"] for row in first]
    assert [row["name"] for row in result] == [None, None]


def test_dropped_column_that_is_added_again_is_empty(table: HudiTable) -> None:
    alter_schema(table, [DropColumn(("amount",))], ON)
    assert "amount" not in table.schema.names
    alter_schema(table, [AddColumn(("amount",), pa.int32())])
    assert [row["amount"] for row in rows(table, "amount")] == [None, None]


def test_rows_written_after_a_change_stand_beside_those_from_before(table: HudiTable) -> None:
    alter_schema(table, [RenameColumn(("name",), "rider"), RetypeColumn(("price",), pa.float64())], ON)
    put(table, {**ROW, "id": 2, "rider": "zoe", "price": 9.25, "ts": 7}, {**ROW, "id": 3, "rider": "new", "price": 1.0})
    result = rows(table, "rider", "price")
    assert [(row["rider"], row["price"]) for row in result][1:] == [("zoe", 9.25), ("new", 1.0)]
    assert result[0]["price"] == 0.1
    assert table.count() == 3


def test_types_that_change_take_values_through_their_text(table: HudiTable) -> None:
    alter_schema(
        table,
        [RetypeColumn(("price",), pa.float64()), RetypeColumn(("amount",), pa.string()), RetypeColumn(("name",), pa.string())],
        ON,
    )
    assert (rows(table, "price", "amount")[0]["price"], rows(table, "amount")[0]["amount"]) == (0.1, "7")
    alter_schema(table, [RetypeColumn(("price",), pa.decimal128(10, 2))])
    assert str(rows(table, "price")[0]["price"]) == "0.10"


def test_changes_inside_structs_lists_and_maps_reach_the_rows_written_before(table: HudiTable) -> None:
    alter_schema(
        table,
        [
            RenameColumn(("inner", "u"), "uu"),
            AddColumn(("inner", "z"), pa.string(), position="uu"),
            DropColumn(("many", "element", "w")),
            RetypeColumn(("by_key", "value", "w"), pa.float64()),
        ],
        ON,
    )
    first, second = rows(table, "inner", "many", "by_key")
    assert first["inner"] == {"uu": 1, "z": None, "w": 0.5}
    assert second["inner"] is None
    assert first["many"] == [{"u": 2}, None]
    assert first["by_key"] == [("k", {"u": 3, "w": 2.5})]
    assert table.schema.field("by_key").type.item_type.field("w").type == pa.float64()


@pytest.mark.parametrize(
    ("change", "inner"),
    [
        (DropColumn(("inner", "u")), {"w": 0.5}),
        (MoveColumn(("inner", "w"), ""), {"w": 0.5, "u": 1}),
        (AddColumn(("inner", "z"), pa.string()), {"u": 1, "w": 0.5, "z": None}),
        (RenameColumn(("inner", "w"), "u2"), {"u": 1, "u2": 0.5}),
    ],
)
def test_change_inside_a_struct_by_itself_reaches_the_rows_written_before(table: HudiTable, change: Change, inner: dict[str, Any]) -> None:
    alter_schema(table, [change], ON)
    first, second = rows(table, "inner")
    assert (first["inner"], second["inner"]) == (inner, None)
    put(table, {**ROW, "id": 3, "inner": inner})
    assert [row["inner"] for row in rows(table, "inner")] == [inner, None, inner]


def test_filter_speaks_of_todays_columns(table: HudiTable) -> None:
    alter_schema(table, [RenameColumn(("name",), "rider"), AddColumn(("name",), pa.string())], ON)
    assert [row["id"] for row in rows(table, filter="rider = 'bob'")] == [2]
    assert rows(table, filter="name IS NOT NULL") == []


def test_time_travel_shows_the_columns_of_then(table: HudiTable) -> None:
    before = table.history().column("requested").to_pylist()[-1]
    alter_schema(table, [RenameColumn(("name",), "rider"), MoveColumn(("ts",), "")], ON)
    assert "name" in table.to_arrow(as_of=before).schema.names
    assert table.to_arrow().schema.names[0] == "ts"


def test_compaction_writes_todays_columns(table: HudiTable) -> None:
    alter_schema(table, [RenameColumn(("name",), "rider"), DropColumn(("amount",))], ON)
    before = rows(table, "rider")
    if table.config.is_merge_on_read:
        table.services.compact()
    assert rows(table, "rider") == before


def test_column_of_an_index_is_renamed_only_without_it() -> None:
    table = HudiTable.create("memory://alter_index", SCHEMA, name="t", keys=["id"], options={})
    put(table, {**ROW, "id": 1})
    table.services.index("by_name", "name")
    with pytest.raises(SchemaError, match="secondary_index_by_name"):
        alter_schema(table, [RenameColumn(("name",), "rider")], ON)
    alter_schema(table, [RenameColumn(("amount",), "sum")], ON)
    table.services.index("by_name", drop=True)
    alter_schema(table, [RenameColumn(("name",), "rider")], ON)
    assert rows(table, "rider", "sum", filter="rider = 'ann' AND sum = 7") == [{"id": 1, "rider": "ann", "sum": 7}]


def test_images_of_changes_from_before_a_change_have_todays_names() -> None:
    options = {"hoodie.table.cdc.enabled": "true"}
    table = HudiTable.create("memory://alter_cdc", SCHEMA, name="t", keys=["id"], order_by=["ts"], options=options)
    put(table, {**ROW, "id": 1})
    put(table, {**ROW, "id": 1, "name": "amy", "ts": 6})
    alter_schema(table, [RenameColumn(("name",), "rider"), DropColumn(("many",))], ON)
    changes = table.changes(format="cdc").to_pylist()
    images = [json.loads(text) for row in changes for text in (row["before"], row["after"]) if text not in (None, "null")]
    assert sorted(image["rider"] for image in images) == ["amy", "ann", "ann"]
    assert not any("name" in image or "many" in image for image in images)


def test_every_commit_repeats_the_version_and_the_history_holds_all(table: HudiTable) -> None:
    alter_schema(table, [RenameColumn(("name",), "rider")], ON)
    table.upsert([{"id": 9, "rider": "x", "ts": 1, "more": 2}], options={"hoodie.write.set.null.for.missing.columns": "true"})
    stored = [file for file in table.storage.list(".hoodie/.schema") if file.name.endswith(".schemacommit")]
    history = json.loads(table.storage.read(stored[-1].path))["schemas"]
    assert [schema["version_id"] for schema in history][-1] == 0
    assert len(stored) == 2
    assert len(history) == 3
    assert history[0]["fields"][-1]["name"] == "more"
    assert history[0]["max_column_id"] == history[1]["max_column_id"] + 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (RenameColumn(("id",), "key"), "record key"),
        (DropColumn(("ts",)), "ordering"),
        (RenameColumn(("nobody",), "x"), "no column nobody"),
        (RenameColumn(("name",), "PRICE"), "already"),
        (AddColumn(("name",), pa.string()), "already"),
        (RetypeColumn(("ts",), pa.int32()), "cannot become"),
        (RetypeColumn(("inner",), pa.string()), "cannot become"),
        (AddColumn(("new",), pa.string(), position="nobody"), "nobody"),
        (DropColumn(("_hoodie_file_name",)), "fills itself"),
        (RenameColumn(("name",), "_hoodie_record_key"), "cannot become _hoodie_record_key"),
    ],
)
def test_impossible_changes_are_refused_and_nothing_is_written(table: HudiTable, change: Any, says: str) -> None:
    before = table.history()
    with pytest.raises(SchemaError, match=says):
        alter_schema(table, [change], ON)
    assert table.history() == before


@pytest.mark.parametrize(
    "change", [RenameColumn(("name",), "x"), DropColumn(("name",)), MoveColumn(("name",), ""), RetypeColumn(("name",), pa.date32())]
)
def test_without_schema_on_read_changes_of_known_columns_are_refused(table: HudiTable, change: Any) -> None:
    with pytest.raises(UnsupportedError, match="columns that have numbers"):
        alter_schema(table, [change])


def test_without_schema_on_read_columns_are_described_and_grow(table: HudiTable) -> None:
    alter_schema(table, [DescribeColumn(("name",), "who"), AllowNull(("name",)), RetypeColumn(("amount",), pa.int64())])
    assert table.schema.field("amount").type == pa.int64()
    assert rows(table, "amount")[0]["amount"] == 7
    alter_schema(table, [RetypeColumn(("amount",), pa.string()), RetypeColumn(("price",), pa.float64())])
    assert rows(table, "amount")[0]["amount"] == "7"
    assert not table.storage.list(".hoodie/.schema")
