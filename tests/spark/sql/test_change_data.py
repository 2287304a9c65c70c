"""Change data in SQL and as DataFrame: `hudi_table_changes(..., 'cdc', ...)`."""

from __future__ import annotations

import json

import pytest

from pyhudi.errors import UsageError
from pyhudi.spark.reader import change_frame as change_data

pytestmark = pytest.mark.spark

CAPTURE = "'hoodie.table.cdc.enabled' = 'true', 'hoodie.table.cdc.supplemental.logging.mode' = 'data_before'"
OPTIONS = {
    "hoodie.datasource.query.type": "incremental",
    "hoodie.datasource.query.incremental.format": "cdc",
    "hoodie.datasource.read.begin.instanttime": "earliest",
}
EXPECTED = [("d", 1, None), ("i", None, 1), ("i", None, 2), ("u", 2, 2)]


@pytest.fixture(params=["cow", "mor"])
def captured(sql, request):
    """Rows 1 and 2, then row 2 changed and row 1 deleted; returns the SQL runner."""
    sql(f"CREATE TABLE t (id INT, v STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', type = '{request.param}', {CAPTURE})")
    sql("INSERT INTO t VALUES (1, 'a'), (2, 'a')")
    sql("UPDATE t SET v = 'b' WHERE id = 2")
    sql("DELETE FROM t WHERE id = 1")
    return sql


def number(image):
    return None if image in (None, "null") else json.loads(image)["id"]


def ids(rows):
    return sorted(((row[0], number(row[1]), number(row[2])) for row in rows), key=str)


def test_the_function_gives_operations_and_images(captured):
    assert ids(captured("SELECT op, before, after FROM hudi_table_changes('t', 'cdc', 'earliest')")) == EXPECTED
    times = captured.table("t").history().column("completed").to_pylist()
    span = f"hudi_table_changes('t', 'cdc', '{times[0]}', '{times[1]}')"
    assert captured(f"SELECT get_json_object(before, '$.v'), get_json_object(after, '$.v') FROM {span}") == [("a", "b")]


def test_the_reader_gives_the_same_by_path_and_by_name_also_from_tasks(captured, monkeypatch):
    reader = captured.session.read.format("hudi").options(**OPTIONS)
    assert reader.load(str(captured.folder / "t")).columns == ["op", "ts_ms", "before", "after"]
    monkeypatch.setattr(change_data, "LOCAL_BYTES", 0)
    rows = captured.session.read.options(**OPTIONS).table("t").select("op", "before", "after").collect()
    assert ids(rows) == EXPECTED


def test_a_table_without_captured_changes_says_how_to_get_them(people):
    with pytest.raises(UsageError, match="cdc"):
        people("SELECT * FROM hudi_table_changes('people', 'cdc', 'earliest')")
