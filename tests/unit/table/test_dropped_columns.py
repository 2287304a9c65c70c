"""Tables whose files leave the partition columns out (`hoodie.datasource.write.drop.partition.columns`): paths alone hold their values."""

from __future__ import annotations

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyhudi.errors import KeyFieldError, UnsupportedError
from pyhudi.storage.table_properties import store_properties
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.clock import SystemClock
from pyhudi.timeline.instant_details import read_commit
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.write.input.alter_columns import AddColumn, apply_changes
from pyhudi.write.input.prepare_rows import TableSchema
from tests.unit.table.tables import make_table, ride, rows_of

DROP = {"hoodie.datasource.write.drop.partition.columns": "true"}
TIMES = {
    "hoodie.datasource.write.keygenerator.type": "CUSTOM",
    "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
    "hoodie.keygen.timebased.output.dateformat": "yyyy",
}


def columns_of_files(table: HudiTable) -> set[tuple[str, ...]]:
    contents = (io.BytesIO(table.storage.read(path)) for path in table.inspect.files()["path"].to_pylist())
    return {tuple(name for name in pq.read_schema(content).names if not name.startswith("_hoodie")) for content in contents}


@pytest.mark.parametrize("style", [{}, {"hoodie.datasource.write.hive_style_partitioning": "true"}, {"hoodie.index.type": "GLOBAL_SIMPLE"}])
def test_values_come_back_from_the_paths_through_every_operation(style: dict[str, str]) -> None:
    stored = {name: value for name, value in style.items() if "index" not in name}
    table = make_table(partition_by=["city"], order_by=["at"], options={**DROP, **stored})
    write = {name: value for name, value in style.items() if "index" in name}
    table.bulk_insert([ride(1, "oslo"), ride(2, "rome"), nowhere(3)])
    table.upsert([ride(1, "oslo", 5, 1), ride(2, "rome", 5, 1), ride(4, "lima")], options=write)
    table.delete([ride(2, "rome")], options=write)
    table.insert([ride(5, "rome")])
    table.delete(where="city = 'lima'")
    assert rows_of(table) == rows(ride(1, "oslo", 5, 1), nowhere(3), ride(5, "rome"))
    assert table.to_arrow(filter="city = 'rome'")["id"].to_pylist() == [5]
    assert columns_of_files(table) == {("id", "value", "at")}


def test_values_that_the_path_would_not_tell_are_refused_before_anything_is_written() -> None:
    table = make_table(partition_by=["city", "value"], options=DROP)
    with pytest.raises(KeyFieldError, match=r"Row 0 \(city='oslo/east'.*3 segments"):
        table.insert([ride(1, "oslo/east")])
    assert rows_of(table) == []


def test_commits_have_the_schema_of_the_files_and_it_evolves() -> None:
    table = make_table(partition_by=["city"], options=DROP)
    table.upsert([ride(1)])
    table.upsert([{**ride(1), "more": 7}])
    timeline = load_timeline(table.storage, table.config)
    strings = [read_commit(table.storage, table.config, instant).schema_json for instant in timeline.data_instants()]
    names = [[field["name"] for field in json.loads(text or "")["fields"]] for text in strings]
    assert names == [["id", "value", "at"], ["id", "value", "at", "more"]]
    assert table.to_arrow().schema.names == ["id", "value", "at", "more", "city"]


def test_a_number_in_the_path_comes_back_as_the_table_was_made_with_it() -> None:
    table = make_table(partition_by=["value"], options=DROP)
    table.upsert([ride(1, value=7), ride(2, value=8)])
    table.upsert(pa.Table.from_pylist([ride(1, "rome", 7)]))
    table.delete([{"id": 2, "value": 8}])
    assert [(row["id"], row["city"], row["value"]) for row in table.to_arrow().to_pylist()] == [(1, "rome", 7)]
    # Apache Hudi's writer of DataFrames notes no schema.
    store_properties(table.storage, {}, SystemClock().now(), remove=["hoodie.table.create.schema"])
    assert HudiTable(table.storage).to_arrow()["value"].to_pylist() == ["7"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"table_type": "MERGE_ON_READ"}, "merge-on-read tables keep"),
        ({"order_by": ["city"]}, "ordering field city"),
        ({"partition_by": []}, "no partition fields"),
        ({"options": {**DROP, "hoodie.table.cdc.enabled": "true"}}, "change data"),
        ({"options": {**DROP, "hoodie.populate.meta.fields": "false"}, "keys": ["id", "city"]}, "virtual keys of the field city"),
        ({"partition_by": ["city:TIMESTAMP"], "options": {**DROP, **TIMES}}, "in another form"),
    ],
)
def test_what_paths_cannot_tell_is_refused(more: dict[str, Any], why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        make_table(**{"partition_by": ["city"], "options": DROP, **more})


@pytest.mark.parametrize("kind", [pa.float64(), pa.decimal128(9, 2), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.binary()])
def test_a_column_that_paths_would_turn_into_text_is_refused(kind: pa.DataType) -> None:
    schema = pa.schema([("id", pa.int64()), ("part", kind)])
    with pytest.raises(UnsupportedError, match=r"partition column 'part' of type .* come back from the paths as text"):
        make_table(schema=schema, partition_by=["part"], order_by=[], options=DROP)


def test_alter_is_refused_and_a_write_adds_the_column() -> None:
    table = make_table(partition_by=["city"], options=DROP)
    with pytest.raises(UnsupportedError, match="A write that brings a new column adds it"):
        apply_changes(TableSchema(table.schema, ""), [AddColumn(("more",), pa.int64())], table.config, schema_on_read=False)


def nowhere(number: int) -> dict[str, Any]:
    return {**ride(number), "city": None}


def rows(*expected: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows as they come back: the partition column last."""
    return [{name: row[name] for name in ("id", "value", "at", "city")} for row in expected]
