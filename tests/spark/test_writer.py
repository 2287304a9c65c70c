"""`df.write.format("hudi")`: save modes, table names, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.errors import KeyFieldError, OptionError, SchemaError, TableExists, UnsupportedError, UsageError
from pyhudi.spark.input.small_input import collect_small
from tests.not_none import not_none

pytestmark = pytest.mark.spark

OPTIONS = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
}


def trips(spark: SparkSession, *ids: int, fare: float = 1.5) -> DataFrame:
    return spark.createDataFrame([(f"t{n}", "lima", fare) for n in ids], "id string, city string, fare double")


def fares(path: Path) -> dict[str, float]:
    rows = HudiTable.open(str(path)).to_arrow().to_pylist()
    return {row["id"]: row["fare"] for row in rows}


def test_append_creates_the_table_and_then_upserts(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    trips(spark, 1, 2).write.format("hudi").options(**OPTIONS).mode("append").save(str(path))
    trips(spark, 2, 3, fare=9.0).write.format("hudi").options(**OPTIONS).mode("append").save(str(path))
    assert fares(path) == {"t1": 1.5, "t2": 9.0, "t3": 9.0}


def test_overwrite_replaces_the_rows_in_one_commit(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    trips(spark, 1, 2).write.format("hudi").options(**OPTIONS).mode("append").save(str(path))
    trips(spark, 5).write.format("hudi").options(**OPTIONS).mode("overwrite").save(str(path))
    assert fares(path) == {"t5": 1.5}
    assert HudiTable.open(str(path)).history()["action"].to_pylist() == ["commit", "replacecommit"]


def test_overwrite_reads_the_table_that_it_replaces(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    trips(spark, 1, 2).write.format("hudi").options(**OPTIONS).mode("append").save(str(path))
    doubled = spark.read.format("hudi").load(str(path)).selectExpr("id", "city", "fare * 2 AS fare")
    doubled.write.format("hudi").options(**OPTIONS).mode("overwrite").save(str(path))
    assert fares(path) == {"t1": 3.0, "t2": 3.0}


CREATED_AGAIN = [
    ("record key", {"hoodie.datasource.write.recordkey.field": "fare"}, "fare"),
    ("partition fields", {"hoodie.datasource.write.partitionpath.field": ""}, "fare"),
    ("table type", {"hoodie.datasource.write.table.type": "MERGE_ON_READ"}, "fare"),
    ("name", {"hoodie.table.name": "other"}, "fare"),
    ("change data", {"hoodie.table.cdc.enabled": "true"}, "fare"),
    ("column types", {}, "CAST(fare AS INT) fare"),
]


def test_overwrite_with_another_definition_creates_the_table_again(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    trips(spark, 1).write.format("hudi").options(**OPTIONS).mode("append").save(str(path))
    for number, (what, other, fare) in enumerate(CREATED_AGAIN):
        old = spark.read.format("hudi").load(str(path)).selectExpr("id", "city", "CAST(fare AS DOUBLE) fare")
        rows = old.union(trips(spark, 10 + number, fare=float(number))).selectExpr("id", "city", fare)
        rows.write.format("hudi").options(**{**OPTIONS, **other}).mode("overwrite").save(str(path))
        table = HudiTable.open(str(path))
        assert table.history()["action"].to_pylist() == ["replacecommit", "deltacommit" if what == "table type" else "commit"], what
        assert len(table) == number + 2, what
        assert min(row.id for row in spark.read.format("hudi").load(str(path)).collect()) == "t1", what
    assert str(table.schema.field("fare").type) == "int32"
    trips(spark, 1, fare=2.0).write.format("hudi").options(**OPTIONS).mode("append").save(str(path))
    assert fares(path)["t1"] == 2.0


def test_overwrite_that_cannot_create_the_table_again_leaves_it_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    trips(spark, 1).write.format("hudi").options(**OPTIONS).mode("append").save(str(path))
    files = sorted(path.rglob("*.parquet"))
    other = {**OPTIONS, "hoodie.datasource.write.recordkey.field": "fare"}
    for wrong, error in (
        ({**other, "hoodie.write.table.version": "6"}, UnsupportedError),
        ({**other, "hoodie.datasource.write.recordkey.field": "fares"}, KeyFieldError),
    ):
        with pytest.raises(error):
            trips(spark, 2).write.format("hudi").options(**wrong).mode("overwrite").save(str(path))
    no_keys = spark.createDataFrame([("t1", "lima", None)], "id string, city string, fare double")
    with pytest.raises(KeyFieldError, match="fare"):
        no_keys.write.format("hudi").options(**other).mode("overwrite").save(str(path))
    assert fares(path) == {"t1": 1.5}
    assert sorted(path.rglob("*.parquet")) == files
    assert not (path / ".hoodie" / "recreate").exists()


def test_save_as_table_with_another_definition_creates_the_table_again(spark: SparkSession) -> None:
    spark.sql("DROP TABLE IF EXISTS again PURGE")
    trips(spark, 1, 2).write.format("hudi").options(**OPTIONS).mode("append").saveAsTable("again")
    other = {**OPTIONS, "hoodie.datasource.write.partitionpath.field": "id", "hoodie.datasource.write.recordkey.field": "city"}
    trips(spark, 7).selectExpr("city", "id").write.format("hudi").options(**other).mode("overwrite").saveAsTable("again")
    spark.sql("INSERT INTO again SELECT 'rome', 't8'")
    assert [row[-2:] for row in spark.table("again").orderBy("id").collect()] == [("lima", "t7"), ("rome", "t8")]
    location = not_none(spark.sql("DESCRIBE FORMATTED again").where("col_name = 'Location'").first()).data_type
    assert HudiTable.open(location).config.record_key_fields == ("city",)
    spark.sql("DROP TABLE again PURGE")


def test_errorifexists_is_the_default_and_ignore_does_nothing(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    trips(spark, 1).write.format("hudi").options(**OPTIONS).save(str(path))
    with pytest.raises(TableExists, match="errorifexists"):
        trips(spark, 2).write.format("hudi").options(**OPTIONS).save(str(path))
    trips(spark, 2).write.format("hudi").options(**OPTIONS).mode("ignore").save(str(path))
    assert set(fares(path)) == {"t1"}


def test_format_and_mode_may_come_in_any_order_or_as_arguments(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    trips(spark, 1).write.mode("append").options(**OPTIONS).format("hudi").save(str(path))
    trips(spark, 2).write.save(str(path), format="hudi", mode="append", **OPTIONS)
    assert set(fares(path)) == {"t1", "t2"}


def test_partition_by_names_the_partition_field(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    options = {name: value for name, value in OPTIONS.items() if "partitionpath" not in name}
    trips(spark, 1).write.format("hudi").options(**options).partitionBy("city").mode("append").save(str(path))
    assert HudiTable.open(str(path)).config.partition_fields == ("city",)


def test_save_as_table_creates_appends_and_overwrites(spark: SparkSession) -> None:
    spark.sql("DROP TABLE IF EXISTS saved PURGE")
    for mode, ids in (("append", (1, 2)), ("append", (2, 3)), ("overwrite", (7,))):
        trips(spark, *ids).write.format("hudi").options(**OPTIONS).mode(mode).saveAsTable("saved")
    assert [row.id for row in spark.table("saved").orderBy("id").collect()] == ["t7"]
    spark.sql("DROP TABLE saved PURGE")


def test_insert_into_takes_columns_by_position(spark: SparkSession, caplog: pytest.LogCaptureFixture) -> None:
    spark.sql("DROP TABLE IF EXISTS ins PURGE")
    spark.sql("CREATE TABLE ins (id STRING, fare DOUBLE, city STRING) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    frame = spark.createDataFrame([("a", 1.0, "lima")], "x string, y double, z string")
    frame.write.insertInto("ins")
    assert [tuple(row) for row in spark.sql("SELECT id, fare, city FROM ins").collect()] == [("a", 1.0, "lima")]
    frame.write.mode("overwrite").option("hoodie.metadata.enable", "false").insertInto("ins")
    assert spark.table("ins").count() == 1
    assert "option 'hoodie.metadata.enable' has no effect: it is given to a writer that calls insertInto" in caplog.text
    spark.sql("DROP TABLE ins PURGE")


def test_table_without_key_takes_inserts_with_generated_keys(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "keyless"
    for engine in ("local", "spark"):
        frame = trips(spark, 1, 1, 2).write.format("hudi").option("pyhudi.engine", engine)
        frame.option("hoodie.table.name", "keyless").mode("append").save(str(path))
    keys = HudiTable.open(str(path)).to_arrow(columns=["_hoodie_record_key"])["_hoodie_record_key"].to_pylist()
    assert len(keys) == 6
    assert len(set(keys)) == 6


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_null_record_key_is_refused_and_nothing_is_committed(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    path = tmp_path / "trips"
    frame = spark.createDataFrame([(None, "lima", 1.0)], "id string, city string, fare double")
    with pytest.raises(KeyFieldError, match="id"):
        frame.write.format("hudi").options(**OPTIONS).option("pyhudi.engine", engine).mode("append").save(str(path))
    assert not list(path.iterdir())


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_partition_value_that_leads_out_of_the_table_is_refused(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    path = tmp_path / "trips"
    frame = spark.createDataFrame([("a", "../../x", 1.0)], "id string, city string, fare double")
    with pytest.raises(KeyFieldError, match=r"\.\."):
        frame.write.format("hudi").options(**OPTIONS).option("pyhudi.engine", engine).mode("append").save(str(path))
    assert not (tmp_path.parent / "x").exists()


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"hoodie.datasource.write.recordkey.fields": "id"}, OptionError, "recordkey.field"),
        ({"hoodie.datasource.write.operation": "upsrt"}, OptionError, "upsert"),
        ({"hoodie.index.type": "HBASE"}, UnsupportedError, "HBASE"),
        ({"hoodie.table.name": ""}, OptionError, "hoodie.table.name"),
    ],
)
def test_wrong_option_is_refused_by_name_and_nothing_is_written(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], error: type[Exception], says: str
) -> None:
    path = tmp_path / "trips"
    with pytest.raises(error, match=says):
        trips(spark, 1).write.format("hudi").options(**OPTIONS).options(**options).mode("append").save(str(path))
    assert not path.exists() or not list(path.iterdir())


def test_column_of_another_type_is_refused_before_anything_is_written(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    trips(spark, 1).write.format("hudi").options(**OPTIONS).mode("append").save(str(path))
    frame = spark.createDataFrame([("t2", "lima", True)], "id string, city string, fare boolean")
    with pytest.raises(SchemaError, match="fare"):
        frame.write.format("hudi").options(**OPTIONS).mode("append").save(str(path))
    assert HudiTable.open(str(path)).history().num_rows == 1


def test_save_without_path_says_how_to_give_one(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="path"):
        trips(spark, 1).write.format("hudi").options(**OPTIONS).mode("append").save()


def test_other_formats_are_written_as_ever(spark: SparkSession, tmp_path: Path) -> None:
    trips(spark, 1).write.mode("overwrite").format("parquet").save(str(tmp_path / "plain"))
    assert spark.read.parquet(str(tmp_path / "plain")).count() == 1


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_data_without_the_ordering_field_are_refused(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    options = {**OPTIONS, "hoodie.datasource.write.precombine.field": "fare", "pyhudi.engine": engine}
    trips(spark, 1).write.format("hudi").options(**options).mode("append").save(str(tmp_path))
    with pytest.raises(KeyFieldError, match="lack the column 'fare', an ordering field"):
        trips(spark, 1).drop("fare").write.format("hudi").options(**options).mode("append").save(str(tmp_path))


def test_few_rows_of_python_values_are_brought_to_the_driver(spark: SparkSession) -> None:
    few = collect_small(trips(spark, 1, 2), 1 << 20).rows
    assert few is not None
    assert few.num_rows == 2
    assert collect_small(trips(spark, *range(40)), 1 << 10).rows is None
