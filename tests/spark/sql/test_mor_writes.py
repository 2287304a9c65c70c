"""What SQL and DataFrames put into the log files of a merge-on-read table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.codec.log.log_file import scan_blocks
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spec.files.log_block import BlockType, LogBlock
from pyhudi.timeline.load_timeline import load_timeline
from tests.spark.sql.conftest import Sql

pytestmark = pytest.mark.spark

READ = "SELECT id, name, age, city FROM wide ORDER BY id"
PARTIAL = "hoodie.spark.sql.merge.into.partial.updates"


@pytest.fixture
def wide(sql: Sql) -> Sql:
    sql("CREATE TABLE wide (id INT, name STRING, age INT, city STRING) USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'mor')")
    sql("INSERT INTO wide VALUES (1, 'ann', 31, 'oslo'), (2, 'bob', 42, 'oslo'), (3, 'cid', 53, 'rome')")
    return sql


def blocks(table: HudiTable) -> list[LogBlock]:
    view = FileSystemView(table.storage, table.config, load_timeline(table.storage, table.config))
    result = []  # type: ignore[var-annotated]
    for log in (log for path in view.partition_paths() for file_slice in view.latest_slices(path) for log in file_slice.logs):
        with table.storage.open_input(log.path) as source:
            result += scan_blocks(source, log.path, log.size)
    return result


def test_update_writes_the_columns_it_changes(wide: Sql) -> None:
    wide("UPDATE wide SET age = age + 1 WHERE city = 'oslo'")
    (block,) = blocks(wide.table("wide"))
    assert block.header.is_partial
    assert block.header.schema_json is not None
    names = [field["name"] for field in json.loads(block.header.schema_json)["fields"]]
    assert [name for name in names if not name.startswith("_hoodie_")] == ["id", "age"]
    assert wide(READ) == [(1, "ann", 32, "oslo"), (2, "bob", 43, "oslo"), (3, "cid", 53, "rome")]


def test_partial_rows_leave_out_unchanged_columns_that_may_not_be_null(sql: Sql) -> None:
    columns = "id INT NOT NULL, name STRING NOT NULL, age INT NOT NULL, city STRING"
    sql(f"CREATE TABLE strict ({columns}) USING hudi TBLPROPERTIES (primaryKey = 'id', type = 'mor')")
    sql("INSERT INTO strict VALUES (1, 'ann', 31, 'oslo'), (2, 'bob', 42, 'oslo')")
    sql("UPDATE strict SET city = 'rome' WHERE id = 1")
    sql("MERGE INTO strict t USING (SELECT 2 AS id, 7 AS age) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET age = s.age")
    named = [[field["name"] for field in json.loads(block.header.schema_json or "")["fields"]] for block in blocks(sql.table("strict"))]
    assert [[name for name in names if not name.startswith("_hoodie_")] for names in named] == [["id", "city"], ["id", "age"]]
    expected = [(1, "ann", 31, "rome"), (2, "bob", 7, "oslo")]
    assert sql("SELECT id, name, age, city FROM strict ORDER BY id") == expected
    sql.table("strict").services.compact()
    assert sql("SELECT id, name, age, city FROM strict ORDER BY id") == expected


def test_second_partial_update_keeps_what_the_first_changed(wide: Sql) -> None:
    wide("UPDATE wide SET age = 1 WHERE id < 3")
    wide("UPDATE wide SET name = upper(name) WHERE age = 1")
    wide("DELETE FROM wide WHERE name = 'BOB'")
    assert wide(READ) == [(1, "ANN", 1, "oslo"), (3, "cid", 53, "rome")]
    assert [block.type for block in blocks(wide.table("wide"))] == [BlockType.PARQUET, BlockType.PARQUET, BlockType.DELETE]


def test_merge_that_only_updates_writes_the_columns_it_changes(wide: Sql) -> None:
    wide(
        "MERGE INTO wide t USING (SELECT 2 AS id, 'rob' AS called UNION ALL SELECT 3, 'sid') s ON t.id = s.id"
        " WHEN MATCHED AND s.id = 2 THEN UPDATE SET name = s.called WHEN MATCHED THEN DELETE"
    )
    data, deletes = blocks(wide.table("wide"))
    assert (data.header.is_partial, deletes.type) == (True, BlockType.DELETE)
    assert wide(READ) == [(1, "ann", 31, "oslo"), (2, "rob", 42, "oslo")]


def test_update_of_an_ordering_field_writes_whole_rows(sql: Sql) -> None:
    properties = "primaryKey = 'id', orderingFields = 'at', type = 'mor'"
    sql(f"CREATE TABLE timed (id INT, v STRING, w STRING, at INT) USING hudi TBLPROPERTIES ({properties})")
    sql("INSERT INTO timed VALUES (1, 'a', 'b', 5)")
    sql("UPDATE timed SET v = 'late', at = 4 WHERE id = 1")
    sql("UPDATE timed SET v = 'x' WHERE id = 1")
    assert [block.header.is_partial for block in blocks(sql.table("timed"))] == [False, True]
    assert sql("SELECT v, w, at FROM timed") == [("x", "b", 5)]


def test_update_writes_whole_rows_where_partial_updates_are_turned_off(wide: Sql) -> None:
    wide(f"SET {PARTIAL}=false")
    try:
        wide("UPDATE wide SET age = 7 WHERE id = 3")
    finally:
        wide.session.conf.unset(PARTIAL)
    (block,) = blocks(wide.table("wide"))
    assert not block.header.is_partial
    assert wide(READ)[2] == (3, "cid", 7, "rome")


def test_null_that_an_update_sets_is_kept_apart_from_columns_it_does_not_bring(wide: Sql) -> None:
    wide("UPDATE wide SET name = NULL WHERE id = 1")
    assert wide(READ)[0] == (1, None, 31, "oslo")


def test_insert_overwrite_replaces_base_files_and_logs(wide: Sql) -> None:
    wide("UPDATE wide SET age = 7")
    wide("INSERT OVERWRITE wide VALUES (9, 'zoe', 1, 'bern')")
    assert wide(READ) == [(9, "zoe", 1, "bern")]
    assert blocks(wide.table("wide")) == []


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_data_frames_upsert_into_log_files(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    path = str(tmp_path / "t")
    options = {
        "hoodie.table.name": "t",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.table.ordering.fields": "at",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.datasource.write.operation": "upsert",
        "pyhudi.engine": engine,
    }
    spark.sql("SELECT id, id * 10 AS v, 5 AS at FROM range(6)").write.format("hudi").options(**options).mode("append").save(path)
    late = "SELECT id, 0 AS v, CAST(3 + id AS INT) AS at FROM range(1, 5)"
    spark.sql(late).write.format("hudi").options(**options).mode("append").save(path)
    (block,) = blocks(HudiTable.open(path))
    assert block.header.positions is not None
    rows = HudiTable.open(path).to_arrow(columns=["id", "v"]).sort_by("id").to_pylist()
    assert [row["v"] for row in rows] == [0, 10, 0, 0, 0, 50]
    assert sorted((row.id, row.v) for row in spark.read.format("hudi").load(path).collect()) == [(row["id"], row["v"]) for row in rows]


def test_save_as_table_makes_and_continues_a_merge_on_read_table(sql: Sql) -> None:
    frame = sql.session.sql("SELECT id, id AS v FROM range(4)")
    options = {"primaryKey": "id", "type": "mor", "hoodie.datasource.write.operation": "upsert"}
    frame.write.format("hudi").options(**options).saveAsTable("saved")
    frame.where("id > 1").selectExpr("id", "v + 100 AS v").write.format("hudi").options(**options).mode("append").saveAsTable("saved")
    assert sql.table("saved").config.is_merge_on_read
    assert sql("SELECT id, v FROM saved ORDER BY id") == [(0, 0), (1, 1), (2, 102), (3, 103)]
    assert len(blocks(sql.table("saved"))) == 1
