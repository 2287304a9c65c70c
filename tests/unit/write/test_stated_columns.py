"""`hoodie.write.schema`: the columns and types that the data of a write are written in. Answers as of Apache Hudi 1.2.0, but for what
docs/differences.md states.
"""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import OptionError, SchemaError, UsageError

KEY = "hoodie.write.schema"
COLUMNS = pa.schema({"id": pa.int32(), "ts": pa.int64(), "a": pa.int32()})
ROWS = pa.table({"id": [2, 3], "ts": [2, 2], "a": [7, 8]}, schema=COLUMNS)


def avro(**types: str) -> str:
    fields = [{"name": name, "type": ["null", kind], "default": None} for name, kind in types.items()]
    return json.dumps({"type": "record", "name": "r", "fields": fields})


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(tmp_path, request):
    table = HudiTable.create(tmp_path / "t", COLUMNS, name="t", keys=["id"], order_by=["ts"], table_type=request.param)
    table.upsert(pa.table({"id": [1, 2], "ts": [1, 1], "a": [5, 6]}, schema=COLUMNS))
    return table


@pytest.mark.parametrize("key", [KEY, "hoodie.avro.schema"])
def test_data_are_written_in_the_types_of_the_schema(table, key):
    result = table.upsert(ROWS, options={key: avro(id="int", ts="long", a="long")})
    assert table.schema.field("a").type == pa.int64()
    assert result.widened_columns == ("a",)
    assert sorted(table.to_arrow(columns=["id", "a"]).to_pylist(), key=lambda row: row["id"]) == [
        {"id": 1, "a": 5},
        {"id": 2, "a": 7},
        {"id": 3, "a": 8},
    ]


def test_columns_that_the_schema_leaves_out_are_not_written(table):
    rows = ROWS.append_column("extra", pa.array(["x", "y"]))
    table.upsert(rows, options={KEY: avro(ID="int", ts="long", a="int")})
    assert table.schema.names == ["id", "ts", "a"]


def test_columns_of_the_table_that_the_schema_leaves_out_need_leave(table):
    few = {KEY: avro(id="int", ts="long")}
    with pytest.raises(SchemaError, match="lack the column 'a'"):
        table.upsert(ROWS, options=few)
    table.upsert(ROWS, options={**few, "hoodie.write.set.null.for.missing.columns": "true"})
    assert table.schema.names == ["id", "ts", "a"]
    assert dict(zip(*table.to_arrow(columns=["id", "a"]).to_pydict().values(), strict=True)) == {1: 5, 2: None, 3: None}


@pytest.mark.parametrize(
    ("schema", "kind", "words"),
    [
        ("nonsense", OptionError, "no Avro schema of a record"),
        ('"int"', OptionError, "no Avro schema of a record"),
        (avro(), OptionError, "states no columns"),
        (avro(id="int", ts="long", a="int", b="string"), SchemaError, "lack the column 'b'"),
        (avro(id="int", ts="int", a="int"), SchemaError, "'ts' has type int64"),
        (avro(id="int", ts="long", a="boolean"), SchemaError, "'a'"),
    ],
)
def test_a_schema_that_does_not_fit_is_refused_and_nothing_is_written(table, schema, kind, words):
    with pytest.raises(kind, match=words):
        table.upsert(ROWS, options={KEY: schema})
    assert len(table.history()) == 1
    assert len(table) == 2


def test_marks_of_deletes_are_not_left_out_unnoticed(table):
    rows = ROWS.append_column("_hoodie_is_deleted", pa.array([True, False]))
    with pytest.raises(UsageError, match="_hoodie_is_deleted"):
        table.upsert(rows, options={KEY: avro(id="int", ts="long", a="int")})


def test_deletes_and_empty_data_do_not_need_the_columns(table):
    options = {KEY: avro(id="int", ts="long", a="int")}
    table.upsert([], options=options)
    table.delete(pa.table({"id": pa.array([1], pa.int32())}), options=options)
    assert len(table) == 1
