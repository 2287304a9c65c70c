"""Creating a table: what is there afterwards, and where none is created."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pyhudi.errors import KeyFieldError, OptionError, SchemaError, TableExists, TableNotFound
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import SCHEMA, files_of, make_table, ride, rows_of

NESTED = pa.schema({"id": pa.int64(), "a": pa.struct({"p": pa.int64()})})


def test_new_table_has_the_folders_of_hudi_and_one_file(tmp_path) -> None:
    HudiTable.create(str(tmp_path / "t"), SCHEMA, name="t", keys=["id"])
    result = {str(path.relative_to(tmp_path / "t")) for path in (tmp_path / "t").rglob("*")}
    assert {".hoodie/.temp", ".hoodie/.schema", ".hoodie/timeline/history", ".hoodie/.aux"} <= result
    assert [path for path in result if (tmp_path / "t" / path).is_file()] == [".hoodie/hoodie.properties"]


def test_new_table_of_version_6_has_the_folders_of_its_layout(tmp_path) -> None:
    HudiTable.create(str(tmp_path / "t"), SCHEMA, name="t", keys=["id"], options={"hoodie.write.table.version": "6"})
    assert (tmp_path / "t/.hoodie/archived").is_dir()
    assert not (tmp_path / "t/.hoodie/timeline").exists()


@pytest.mark.parametrize("version", ["6", "8", "9"])
def test_all_versions_are_written_and_read(version) -> None:
    table = make_table(order_by=["at"], options={"hoodie.write.table.version": version})
    table.upsert([ride(1, at=2)])
    table.upsert([ride(1, value=5, at=1)])
    assert table.config.version == int(version)
    assert rows_of(table) == [ride(1, at=2)]


def test_schema_keys_and_options_are_in_the_properties() -> None:
    table = make_table(
        keys=["id", "city"],
        partition_by=["city"],
        order_by=["at"],
        options={"hoodie.datasource.write.hive_style_partitioning": "true", "hoodie.database.name": "db"},
    )
    config = table.config
    assert (config.record_key_fields, config.partition_fields, config.ordering_fields) == (
        ("id", "city"),
        ("city",),
        ("at",),
    )
    assert (config.hive_style, config.database, config.timeline_zone) == (True, "db", "UTC")
    assert table.schema.equals(SCHEMA)


def test_where_a_table_stands_none_is_created() -> None:
    table = make_table()
    with pytest.raises(TableExists, match="open it"):
        make_table(table.storage)


@pytest.mark.parametrize("path", ["notes.txt", "folder/notes.txt", ".hoodie/timeline/20260101000000000.inflight"])
def test_where_other_files_stand_no_table_is_created(path) -> None:
    storage = MemoryStorage()
    storage.create(path, b"mine")
    with pytest.raises(TableExists):
        make_table(storage)
    assert files_of(storage) == [path]


def test_what_a_killed_creation_left_is_taken_over() -> None:
    storage = MemoryStorage()
    for folder in (".hoodie/.aux/.bootstrap/.fileids", ".hoodie/timeline/history"):
        storage.make_dir(folder)
    storage.create(".hoodie/.hoodie.properties.4711-0.tmp", b"half")
    make_table(storage).upsert([ride(1)])


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ({"keys": ["nr"]}, KeyFieldError, "'nr'"),
        ({"partition_by": ["town"]}, KeyFieldError, "'town'"),
        ({"order_by": ["when"]}, KeyFieldError, "'when'"),
        ({"schema": NESTED, "order_by": ["a.q"]}, SchemaError, "'a.q' is not in column 'a'"),
        ({"schema": NESTED, "order_by": ["a"]}, SchemaError, "has no order"),
        ({"keys": "id"}, OptionError, r"\['id'\]"),
        ({"keys": ["id", "id"]}, OptionError, "twice"),
        ({"schema": pa.schema({"id": pa.int64(), "t": pa.time64("ns")})}, SchemaError, "'t'"),
        ({"schema": pa.schema([])}, SchemaError, "no columns"),
        ({"schema": pa.schema({"id": pa.int64(), "a b": pa.int64()})}, SchemaError, "'a b'"),
        ({"options": {"primaryKey": "city"}}, OptionError, r"the argument for it is keys=\['city'\]"),
        ({"options": {"hoodie.table.ordering.fields": "at"}, "order_by": []}, OptionError, r"the argument for it is order_by=\['at'\]"),
        ({"options": {"type": "mor"}}, OptionError, "the argument for it is table_type='mor'"),
        ({"options": {"hoodie.write.table.version": "7"}}, OptionError, "version=7 .* 6, 8, 9"),
    ],
)
def test_definition_that_makes_no_table_is_refused_and_leaves_nothing(arguments, kind, says) -> None:
    storage = MemoryStorage()
    with pytest.raises(kind, match=says):
        make_table(storage, **arguments)
    assert storage.list("") == []


@pytest.mark.parametrize("spelling", ["MERGE_ON_READ", "mor"])
def test_table_type_may_be_named_in_full_or_short(spelling, tmp_path) -> None:
    table = HudiTable.create(str(tmp_path / "t"), SCHEMA, name="t", keys=["id"], table_type=spelling)
    assert HudiTable.open(str(tmp_path / "t")).config.table_type == table.config.table_type == "MERGE_ON_READ"


def test_opening_where_nothing_stands_says_so(tmp_path) -> None:
    with pytest.raises(TableNotFound, match="no Hudi table"):
        HudiTable.open(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_comments_of_columns_and_fields_stay() -> None:
    inner = pa.struct([pa.field("zip", pa.int64(), metadata={"comment": "of the town", "other": "left out"})])
    schema = pa.schema([pa.field("id", pa.int64(), metadata={"comment": "the key"}), pa.field("at", inner)])
    storage = MemoryStorage()
    table = make_table(storage, schema=schema, keys=["id"], partition_by=[], order_by=[])
    table.upsert([{"id": 1, "at": {"zip": 2}}])
    read = table.schema
    assert read.field("id").metadata == {b"comment": b"the key"}
    assert read.field("at").type.field("zip").metadata == {b"comment": b"of the town"}
