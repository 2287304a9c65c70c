"""DataFrames of tables without record key, by the meta columns that they bring, and of data that lack columns, on both engines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi import HudiTable
from pyhudi.errors import KeyFieldError, SchemaError
from pyhudi.schema.meta_columns import META_COLUMNS, PARTITION_PATH, RECORD_KEY
from tests.not_none import not_none
from tests.slow_cases import slow_cases

pytestmark = pytest.mark.spark

ROWS = [(1, 1, "a"), (2, 2, "b"), (3, 3, "a")]
OPTIONS = {"hoodie.table.name": "t", "hoodie.datasource.write.partitionpath.field": "city"}
UPSERT = {"hoodie.datasource.write.operation": "upsert"}
DELETE = {"hoodie.datasource.write.operation": "delete"}


@pytest.fixture
def engine(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[str]:
    chosen = getattr(request, "param", "spark")
    spark.conf.set("pyhudi.engine", chosen)
    yield chosen
    spark.conf.unset("pyhudi.engine")


def save(frame: DataFrame, path: Path, **options: str) -> None:
    frame.write.format("hudi").options(**OPTIONS).options(**options).mode("append").save(str(path))


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path, engine: str) -> Path:
    save(spark.createDataFrame(ROWS, "id int, v int, city string"), tmp_path / "t")
    return tmp_path / "t"


def merge_on_read(spark: SparkSession, folder: Path, version: str) -> Path:
    options = {"hoodie.datasource.write.table.type": "MERGE_ON_READ", "hoodie.write.table.version": version}
    save(spark.createDataFrame(ROWS, "id int, v int, city string"), folder / "mor", **options)
    return folder / "mor"


def newest_engine(path: Path) -> str:
    storage = HudiTable.open(str(path)).storage
    folder = ".hoodie/timeline" if (path / ".hoodie" / "timeline").exists() else ".hoodie"
    commits = [file for file in storage.list(folder) if file.name.endswith("commit")]
    writes = [file for file in commits if file.name.endswith(".deltacommit")] or commits  # a table with these has compactions for commits
    newest = max(writes, key=lambda file: file.name)
    return not_none(re.search(rb"pyhudi\.engine[^a-z.]*([a-z]+)", storage.read(newest.path)))[1].decode()


def read(spark: SparkSession, path: Path, where: str = "true") -> DataFrame:
    """Rows as they are now: what is written of them must not read the table again."""
    result = spark.read.format("hudi").load(str(path)).where(where)
    return spark.createDataFrame(result.toArrow())


def rows(path: Path) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in HudiTable.open(str(path)).to_arrow().to_pylist()), key=str)


@pytest.mark.parametrize("engine", ["local", "spark"], indirect=True)
def test_rows_that_were_read_are_updated(spark: SparkSession, path: Path, engine: str) -> None:
    before = read(spark, path)
    save(before.withColumn("v", F.col("v") + 10), path)
    assert newest_engine(path) == engine
    assert rows(path) == [(1, 11, "a"), (2, 12, "b"), (3, 13, "a")]
    save(before.where("id = 1").withColumn("v", F.lit(5)).select(RECORD_KEY, PARTITION_PATH, "id", "v", "city"), path, **UPSERT)
    assert rows(path) == [(1, 5, "a"), (2, 12, "b"), (3, 13, "a")]


def test_update_of_the_table_by_its_own_frame(spark: SparkSession, path: Path) -> None:
    save(spark.read.format("hudi").load(str(path)).withColumn("v", F.col("v") * 2), path)
    assert rows(path) == [(1, 2, "a"), (2, 4, "b"), (3, 6, "a")]


def test_row_whose_partition_value_changes_moves(spark: SparkSession, path: Path) -> None:
    result = read(spark, path)
    twice = result.withColumn("v", F.lit(7)).unionByName(result.where("id = 1").withColumn("v", F.lit(8)))
    save(twice.withColumn("city", F.lit("b")), path)
    assert [(number, city) for number, _, city in rows(path)] == [(1, "b"), (2, "b"), (3, "b")]
    save(read(spark, path, "id = 3").withColumn("city", F.lit("new")), path)
    assert [(number, city) for number, _, city in rows(path)] == [(1, "b"), (2, "b"), (3, "new")]
    keys = {row["id"]: row[RECORD_KEY] for row in result.collect()}
    assert {row["id"]: row[RECORD_KEY] for row in read(spark, path).collect()} == keys


def test_deletes_by_meta_columns(spark: SparkSession, path: Path) -> None:
    result = read(spark, path, "id < 3")
    save(result.select(*META_COLUMNS), path, **DELETE)
    assert rows(path) == [(3, 3, "a")]
    save(result, path, **DELETE)
    assert rows(path) == [(3, 3, "a")]


def test_rows_that_do_not_name_their_records_are_refused(spark: SparkSession, path: Path) -> None:
    result = read(spark, path)
    without = {"without": result.drop(*META_COLUMNS), "some": result.drop(PARTITION_PATH)}
    nulls = result.withColumn(RECORD_KEY, F.expr(f"if(id = 1, null, {RECORD_KEY})"))
    for frame, says in ((without["without"], RECORD_KEY), (without["some"], PARTITION_PATH), (nulls, "in 1 rows")):
        for options in (UPSERT, DELETE):
            with pytest.raises(KeyFieldError, match=says):
                save(frame, path, **options)
    assert rows(path) == ROWS


def test_row_whose_record_is_not_there_is_refused(spark: SparkSession, path: Path) -> None:
    result = read(spark, path)
    HudiTable.open(str(path)).delete(where="id = 1")
    for frame in (result, result.where("id = 2").withColumn(RECORD_KEY, F.lit("x")), result.where("id = 1").withColumn("city", F.lit("b"))):
        with pytest.raises(KeyFieldError, match="has no record"):
            save(frame, path)
    assert rows(path) == ROWS[1:]


def test_rows_without_meta_columns_and_inserts_are_added(spark: SparkSession, path: Path) -> None:
    result = read(spark, path, "id = 1")
    save(result.drop(*META_COLUMNS), path)
    save(result, path, **{"hoodie.datasource.write.operation": "insert"})
    assert [row[0] for row in rows(path)] == [1, 1, 1, 2, 3]


@pytest.mark.parametrize("version", slow_cases(["6", "9"], {"6"}))
@pytest.mark.parametrize("engine", slow_cases(["local", "spark"], {"spark"}), indirect=True)
def test_merge_on_read_rows_that_were_read_are_updated(spark: SparkSession, tmp_path: Path, engine: str, version: str) -> None:
    path = merge_on_read(spark, tmp_path, version)
    result = read(spark, path)
    save(result.withColumn("v", F.lit(0)), path)
    assert newest_engine(path) == engine
    save(result.where("id = 2"), path, **DELETE)
    assert newest_engine(path) == engine
    assert rows(path) == [(1, 0, "a"), (3, 0, "a")]
    for frame in (result, result.where("id = 2"), result.where("id = 2").withColumn("city", F.lit("a"))):
        with pytest.raises(KeyFieldError, match="in partition 'b': it was deleted since"):
            save(frame, path)
    assert rows(path) == [(1, 0, "a"), (3, 0, "a")]
    save(read(spark, path).withColumn("v", F.lit(4)), path)
    HudiTable.open(str(path)).services.compact()
    save(read(spark, path, "id = 1").withColumn("v", F.lit(5)), path)
    assert rows(path) == [(1, 5, "a"), (3, 4, "a")]


@pytest.mark.parametrize("engine", slow_cases(["local", "spark"], {"spark"}), indirect=True)
def test_merge_on_read_rows_move_to_another_partition_and_back(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    path = merge_on_read(spark, tmp_path, "9")
    keys = {row["id"]: row[RECORD_KEY] for row in read(spark, path).collect()}
    for turn, city in enumerate("babab"):
        save(read(spark, path, "id < 3").withColumn("v", F.lit(turn)).withColumn("city", F.lit(city)), path)
        assert newest_engine(path) == engine
        assert rows(path) == [(1, turn, city), (2, turn, city), (3, 3, "a")]
        assert spark.read.format("hudi").load(str(path)).count() == 3
    assert {row["id"]: row[RECORD_KEY] for row in read(spark, path).collect()} == keys


@pytest.mark.slow
def test_first_write_and_streams_of_another_table_add_rows(spark: SparkSession, path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for folder in ("first", "second"):
        stream = spark.readStream.format("hudi").load(str(path)).writeStream.format("hudi").options(**OPTIONS)
        stream.option("checkpointLocation", str(tmp_path / folder)).trigger(availableNow=True).start(str(copy)).awaitTermination()
    assert rows(copy) == sorted(ROWS * 2)


def test_missing_columns_are_refused_by_every_operation(spark: SparkSession, path: Path) -> None:
    frame = spark.createDataFrame([(1, 5, "a")], "id int, vv int, city string")
    frame = frame.select(*(F.lit("x").alias(name) for name in META_COLUMNS), "*")
    for operation in ("upsert", "insert", "bulk_insert", "insert_overwrite", "insert_overwrite_table"):
        with pytest.raises(SchemaError, match="lack the column 'v' of table t and add the column 'vv'"):
            save(frame, path, **{"hoodie.datasource.write.operation": operation})
    assert rows(path) == ROWS


def test_option_and_mode_overwrite_permit_missing_columns(spark: SparkSession, path: Path) -> None:
    frame = spark.createDataFrame([(1, "a")], "id int, city string")
    save(frame, path, **{"hoodie.write.set.null.for.missing.columns": "true"})
    assert (1, None, "a") in rows(path)
    frame.write.format("hudi").options(**OPTIONS).mode("overwrite").save(str(path))
    assert rows(path) == [(1, None, "a")]


def test_reserved_names_are_refused(spark: SparkSession, path: Path, tmp_path: Path) -> None:
    frame = read(spark, path).drop(*META_COLUMNS)
    for name in ("_hoodie_score", "_pyhudi_delete"):
        for target in (path, tmp_path / "new"):
            with pytest.raises(SchemaError, match=f"'{name}' has a reserved name"):
                save(frame.withColumn(name, F.lit(True)), target)
    assert not (tmp_path / "new" / ".hoodie" / "hoodie.properties").exists()
