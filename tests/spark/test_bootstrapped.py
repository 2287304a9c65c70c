"""Bootstrapped tables on Spark: one native scan of the source files, and the same rows as without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, TableExists, UsageError
from tests.bootstrapped import HIVE_STYLE, SELECTOR, all_amounts, amounts, bootstrap, rides, write_source
from tests.not_none import not_none


def load(spark: SparkSession, table: HudiTable, **options: str) -> DataFrame:
    return spark.read.format("hudi").options(**options).load(table.storage.uri)


def assert_read_alike(spark: SparkSession, table: HudiTable) -> None:
    read, expected = load(spark, table), table.to_arrow(meta_columns=True)
    assert read.columns == expected.column_names
    key = "_hoodie_record_key"
    assert [row.asDict() for row in read.orderBy(key).collect()] == expected.sort_by(key).to_pylist()
    assert read.count() == expected.num_rows


@pytest.mark.parametrize(("in_folders", "table_type"), [(True, "COPY_ON_WRITE"), (False, "MERGE_ON_READ")])
def test_spark_reads_what_the_local_engine_reads(spark: SparkSession, tmp_path: Path, in_folders: bool, table_type: str) -> None:
    source = write_source(tmp_path / "plain", hive_style=in_folders, city_in_files=not in_folders)
    table = bootstrap(tmp_path / "rides", source, HIVE_STYLE if in_folders else {}, table_type)
    table.upsert(rides([1, 70], "lima", 100.0, ts=1))
    table.delete(where="id = 'k45'")
    assert_read_alike(spark, table)
    read = load(spark, table)
    assert read.filter("amount > 45 AND city = 'rome'").count() == 14
    assert [row.id for row in read.filter("_hoodie_record_key = 'k7'").select("id").collect()] == ["k7"]
    assert read.filter("_hoodie_partition_path LIKE '%oslo'").select("amount").count() == 20
    assert read.filter("_hoodie_file_name LIKE '%00000000000001.parquet' AND amount < 3").count() in (0, 2)
    assert load(spark, table, **{"as.of.instant": "00000000000001"}).count() == 60


@pytest.mark.parametrize("selector", ["MetadataOnly", "FullRecord"])
def test_a_source_that_spark_has_written_with_its_defaults(spark: SparkSession, tmp_path: Path, selector: str) -> None:
    """Timestamps are INT96, and partitions have hive style, null among them."""
    assert spark.conf.get("spark.sql.parquet.outputTimestampType") == "INT96"
    rows = spark.sql(
        "SELECT id, timestamp '2026-01-02 03:04:05.000006' + make_interval(0, 0, 0, id) AS at,"
        " array(named_struct('at', current_timestamp())) AS l,"
        " CASE WHEN id % 3 = 0 THEN NULL ELSE date_add(date '2026-01-01', CAST(id % 3 AS INT)) END AS day FROM range(9)"
    ).persist()
    rows.write.partitionBy("day").parquet(str(tmp_path / "plain"))
    options = {**HIVE_STYLE, SELECTOR: f"{selector}BootstrapModeSelector"}
    table = HudiTable.bootstrap(tmp_path / "t", tmp_path / "plain", name="t", keys=["id"], partition_by=["day"], options=options)
    columns = ["id", "at", "l", "day"]

    def read() -> list[dict[str, object]]:
        return [row.asDict() for row in load(spark, table).select(columns).orderBy("id").collect()]

    assert read() == [row.asDict() for row in rows.select(columns).orderBy("id").collect()]
    assert load(spark, table).schema["at"].dataType == rows.schema["at"].dataType
    assert load(spark, table).filter("at < timestamp '2026-01-05'").count() == 3
    table.upsert(table.to_arrow(filter="id = 4"))
    assert read() == [row.asDict() for row in rows.select(columns).orderBy("id").collect()]
    rows.unpersist()


def test_the_plan_scans_the_source_files_without_a_shuffle(spark: SparkSession, tmp_path: Path) -> None:
    table = bootstrap(tmp_path / "rides", write_source(tmp_path / "plain"))
    read = load(spark, table).filter("amount > 45").select("amount", "_hoodie_record_key")
    plan = read._jdf.queryExecution().executedPlan().toString()
    assert "Exchange" not in plan
    assert "Join" not in plan
    assert "GreaterThan(amount,45.0)" in plan
    assert all("/plain/" in file for file in load(spark, table).inputFiles())


def test_changes_and_writes_from_spark(spark: SparkSession, tmp_path: Path) -> None:
    table = bootstrap(tmp_path / "rides", write_source(tmp_path / "plain"))
    incremental = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "0"}
    assert load(spark, table, **incremental).count() == 60
    rows = spark.createDataFrame([("k1", 7.0, 5, "lima"), ("k90", 8.0, 5, "oslo")], "id string, amount double, ts long, city string")
    rows.write.format("hudi").option("pyhudi.engine", "spark").mode("append").save(table.storage.uri)
    assert amounts(table) == {**all_amounts(), "k1": 7.0, "k90": 8.0}
    assert_read_alike(spark, table)
    assert load(spark, table, **incremental).count() == 61


def test_a_changed_source_is_named(spark: SparkSession, tmp_path: Path) -> None:
    source = write_source(tmp_path / "plain")
    table = bootstrap(tmp_path / "rides", source)
    (source / "rome" / "a.parquet").unlink()
    with pytest.raises(CorruptTableError, match=r"rome/a\.parquet.*is missing"):
        load(spark, table).collect()


def test_a_table_that_lost_its_property_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    table = bootstrap(tmp_path / "rides", write_source(tmp_path / "plain"))
    properties = tmp_path / "rides" / ".hoodie" / "hoodie.properties"
    remaining = [line for line in properties.read_text().splitlines() if not line.startswith("hoodie.bootstrap.")]
    properties.write_text("\n".join(remaining))
    with pytest.raises(CorruptTableError, match=r"holds only the meta columns"):
        load(spark, table).collect()
    assert not_none(table.to_arrow()).num_rows == 60


def test_the_operation_bootstrap_of_the_dataframe_writer(spark: SparkSession, tmp_path: Path) -> None:
    source, path = write_source(tmp_path / "plain"), tmp_path / "rides"
    options = {
        "hoodie.table.name": "rides",
        "hoodie.datasource.write.operation": "bootstrap",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.table.ordering.fields": "ts",
        "hoodie.bootstrap.base.path": str(source),
        "hoodie.bootstrap.mode.selector": "org.apache.hudi.client.bootstrap.selector.MetadataOnlyBootstrapModeSelector",
    }
    with pytest.raises(UsageError, match="write an empty one"):
        spark.range(1).write.format("hudi").options(**options).mode("overwrite").save(str(path))
    empty = spark.range(0).select()
    empty.write.format("hudi").options(**options).mode("overwrite").save(str(path))
    assert amounts(HudiTable.open(path)) == all_amounts()
    with pytest.raises(TableExists):
        empty.write.format("hudi").options(**options).mode("overwrite").save(str(path))
