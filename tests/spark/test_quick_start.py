"""Statements in the form of the Python and SQL quick starts of Apache Hudi, as a reader types them."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.java_gateway import java_import
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, lit

from pyhudi.errors import UnsupportedError

pytestmark = pytest.mark.spark

COLUMNS = ["ts", "uuid", "rider", "driver", "fare", "city"]
RIDES = [
    (1695159649087, "334e26e9-8355-45cc-97c6-c31daf0df330", "rider-A", "driver-K", 19.10, "san_francisco"),
    (1695091554788, "e96c4396-3fad-413a-a942-4cb36106d721", "rider-C", "driver-M", 27.70, "san_francisco"),
    (1695046462179, "9909a8b1-2d15-4d3d-8ec9-efc48c536a00", "rider-D", "driver-L", 33.90, "san_francisco"),
    (1695516137016, "e3cf430c-889d-4015-bc98-59bdce1e530c", "rider-F", "driver-P", 34.15, "sao_paulo"),
    (1695115999911, "c8abbe79-8d89-47ea-b4ce-4d224bae5bfa", "rider-J", "driver-T", 17.85, "chennai"),
]


def fares(spark: SparkSession, path: str, **options: str) -> dict[str, float]:
    rows = spark.read.format("hudi").options(**{name.replace("__", "."): value for name, value in options.items()}).load(path)
    return {row.rider: row.fare for row in rows.collect()}


def test_python_quick_start(spark: SparkSession, tmp_path: Path) -> None:
    table_name, base_path = "trips_table", f"file://{tmp_path}/trips_table"
    inserts = spark.createDataFrame(RIDES).toDF(*COLUMNS)
    hudi_options = {
        "hoodie.table.name": table_name,
        "hoodie.datasource.write.partitionpath.field": "city",
    }
    inserts.write.format("hudi").options(**hudi_options).mode("overwrite").save(base_path)

    spark.read.format("hudi").load(base_path).createOrReplaceTempView(table_name)
    assert spark.sql("SELECT uuid, fare, ts, rider, driver, city FROM trips_table WHERE fare > 20.0").count() == 3
    meta = "SELECT _hoodie_commit_time, _hoodie_record_key, _hoodie_partition_path, rider, driver, fare FROM trips_table"
    assert {row._hoodie_partition_path for row in spark.sql(meta).collect()} == {"san_francisco", "sao_paulo", "chennai"}

    keyed = {
        **hudi_options,
        "hoodie.datasource.write.recordkey.field": "uuid",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.table.name": table_name,
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.upsert.shuffle.parallelism": "2",
        "hoodie.insert.shuffle.parallelism": "2",
        "hoodie.table.cdc.enabled": "true",
    }
    inserts.write.format("hudi").options(**keyed).mode("overwrite").save(base_path)  # the same path with a record key and change data
    updates = spark.read.format("hudi").load(base_path).filter("rider == 'rider-D'").withColumn("fare", col("fare") * 10)
    updates.write.format("hudi").options(**keyed).mode("append").save(base_path)
    assert fares(spark, base_path)["rider-D"] == 339.0

    deletes = spark.read.format("hudi").load(base_path).filter("rider == 'rider-F'").drop("_hoodie_commit_time")
    hard = {**keyed, "hoodie.datasource.write.operation": "delete"}
    deletes.select(*COLUMNS).write.format("hudi").options(**hard).mode("append").save(base_path)
    assert set(fares(spark, base_path)) == {"rider-A", "rider-C", "rider-D", "rider-J"}

    soft = (
        spark.read.format("hudi")
        .load(base_path)
        .filter("rider == 'rider-J'")
        .select(*COLUMNS)
        .withColumn("driver", lit(None).cast("string"))
    )
    soft.write.format("hudi").options(**keyed).mode("append").save(base_path)

    loaded = spark.read.format("hudi").load(base_path)
    loaded.createOrReplaceTempView("hudi_trips_snapshot")
    commits = sorted({row._hoodie_commit_time for row in loaded.select("_hoodie_commit_time").distinct().collect()})
    assert fares(spark, base_path, as__of__instant=commits[0])["rider-D"] == 33.9
    assert fares(spark, base_path, as__of__instant="2021-07-28") == {}
    assert fares(spark, base_path, as__of__instant="2021-07-28 14:11:08.200") == {}
    incremental = {
        "hoodie.datasource.query.type": "incremental",
        "hoodie.datasource.read.begin.instanttime": commits[0],
    }
    changed = spark.read.format("hudi").options(**incremental).load(base_path)
    changed.createOrReplaceTempView("trips_incremental")
    assert {row.rider for row in spark.sql("SELECT rider FROM trips_incremental").collect()} >= {"rider-D", "rider-J"}
    images = {**incremental, "hoodie.datasource.query.incremental.format": "cdc", "hoodie.datasource.read.begin.instanttime": "0"}
    assert {row.op for row in spark.read.format("hudi").options(**images).load(base_path).collect()} == {"i", "u", "d"}

    replacing = {**keyed, "hoodie.datasource.write.operation": "insert_overwrite"}
    inserts.limit(1).write.format("hudi").options(**replacing).mode("append").save(base_path)
    assert set(fares(spark, base_path)) == {"rider-A", "rider-J"}


def test_sql_quick_start(spark: SparkSession) -> None:
    spark.sql("DROP TABLE IF EXISTS hudi_table PURGE")
    spark.sql(
        """CREATE TABLE hudi_table (ts BIGINT, uuid STRING, rider STRING, driver STRING, fare DOUBLE, city STRING)
        USING HUDI PARTITIONED BY (city) TBLPROPERTIES (primaryKey = 'uuid', 'hoodie.table.cdc.enabled' = 'true')"""
    )
    values = ", ".join(str(row) for row in RIDES)
    spark.sql(f"INSERT INTO hudi_table VALUES {values}")
    assert spark.sql("SELECT ts, fare, rider, driver, city FROM hudi_table WHERE fare > 20.0").count() == 3
    spark.sql("UPDATE hudi_table SET fare = 25.0 WHERE rider = 'rider-D'")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW fare_adjustment AS SELECT * FROM hudi_table WHERE rider = 'rider-A'")
    spark.sql(
        """MERGE INTO hudi_table AS target USING fare_adjustment AS source ON target.uuid = source.uuid
        WHEN MATCHED THEN UPDATE SET target.fare = target.fare + 1 WHEN NOT MATCHED THEN INSERT *"""
    )
    spark.sql("DELETE FROM hudi_table WHERE uuid = 'e3cf430c-889d-4015-bc98-59bdce1e530c'")
    rows = {row.rider: row.fare for row in spark.sql("SELECT rider, fare FROM hudi_table").collect()}
    assert {rider: round(fare, 2) for rider, fare in rows.items()} == {"rider-A": 20.1, "rider-C": 27.7, "rider-D": 25.0, "rider-J": 17.85}
    assert spark.sql("SELECT * FROM hudi_table TIMESTAMP AS OF '2021-07-28'").count() == 0
    assert spark.sql("SELECT * FROM hudi_table_changes('hudi_table', 'latest_state', 'earliest')").count() == 4
    assert {row.op for row in spark.sql("SELECT * FROM hudi_table_changes('hudi_table', 'cdc', 'earliest')").collect()} == {"i", "u", "d"}
    spark.sql("DROP TABLE hudi_table PURGE")


def test_quick_start_classes_that_are_imported_into_the_namespace_of_the_jvm(spark: SparkSession) -> None:
    view = spark.sparkContext._jvm
    java_import(view, "org.apache.hudi.QuickstartUtils.*")
    java_import(view, "org.apache.hudi.QuickstartUtils")
    java_import(view, "java.util.ArrayDeque")
    assert len(view.QuickstartUtils.convertToStringList(view.DataGenerator().generateInserts(3))) == 3  # type: ignore[union-attr]
    assert view.ArrayDeque().size() == 0  # type: ignore[union-attr]


def test_quick_start_of_the_releases_up_to_0_13(spark: SparkSession, tmp_path: Path) -> None:
    """Its rows come from a Java class of the jar."""
    utils = spark.sparkContext._jvm.org.apache.hudi.QuickstartUtils  # type: ignore[union-attr]
    table_name, base_path, generator = "hudi_trips_cow", f"file://{tmp_path}/hudi_trips_cow", utils.DataGenerator()
    options = {
        "hoodie.table.name": table_name,
        "hoodie.datasource.write.recordkey.field": "uuid",
        "hoodie.datasource.write.partitionpath.field": "partitionpath",
        "hoodie.datasource.write.table.name": table_name,
        "hoodie.datasource.write.operation": "upsert",
        "hoodie.datasource.write.precombine.field": "ts",
        **utils.getQuickstartWriteConfigs(),
    }
    inserts = utils.convertToStringList(generator.generateInserts(10))
    frame = spark.read.json(spark.sparkContext.parallelize(inserts, 2))
    frame.write.format("hudi").options(**options).mode("overwrite").save(base_path)
    assert set(fares(spark, base_path)) == {"rider-213"}
    updates = utils.convertToStringList(generator.generateUpdates(10))
    frame = spark.read.json(spark.sparkContext.parallelize(updates, 2))
    frame.write.format("hudi").options(**options).mode("append").save(base_path)
    rows = spark.read.format("hudi").load(base_path)
    assert rows.count() == generator.getNumExistingKeys() == 10
    deletes = [(row.uuid, row.partitionpath) for row in rows.select("uuid", "partitionpath").limit(2).collect()]
    deleted = spark.sparkContext.parallelize(deletes).toDF(["uuid", "partitionpath"]).withColumn("ts", lit(0.0))
    deleted.write.format("hudi").options(**{**options, "hoodie.datasource.write.operation": "delete"}).mode("append").save(base_path)
    assert spark.read.format("hudi").load(base_path).count() == 8


def test_other_java_classes_of_hudi_are_refused_by_name(spark: SparkSession) -> None:
    jvm = spark.sparkContext._jvm
    with pytest.raises(UnsupportedError, match=r"org\.apache\.hudi\.HoodieDataSourceHelpers is a class of Apache Hudi's jar"):
        jvm.org.apache.hudi.HoodieDataSourceHelpers.latestCommit("fs", "path")  # type: ignore[union-attr]
    with pytest.raises(UnsupportedError, match=r"HoodieTableMetaClient"):
        jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder()  # type: ignore[union-attr]
    assert jvm.java.lang.Math.abs(-1) == 1  # type: ignore[union-attr]
