"""Blocks in the form of the Python tab of Apache Hudi's quick start (0.13, 0.15, 1.0 and 1.1) and of its page about writing data.

Rows come from a generator in Python where the pages take one of the jar; what else differs is in docs/differences.md.
"""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, lit

from pyhudi.errors import OptionError

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PATHS = ("americas/united_states/san_francisco", "americas/brazil/sao_paulo", "asia/india/chennai")
COLUMNS = ["ts", "uuid", "rider", "driver", "fare", "city"]
RIDES = [
    (1695159649087, "u1", "rider-A", "driver-K", 19.10, "san_francisco"),
    (1695091554788, "u2", "rider-B", "driver-L", 27.70, "san_francisco"),
    (1695046462179, "u3", "rider-C", "driver-M", 33.90, "san_francisco"),
    (1695516137016, "u4", "rider-C", "driver-N", 34.15, "sao_paulo"),
]
KEYLESS = {"hoodie.table.name": "trips_table", "hoodie.datasource.write.partitionpath.field": "city"}


class Trips:
    """The table of the quick start of 0.13, with its options."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark, self.path = spark, path
        self.options: dict[str, str | int] = {
            "hoodie.table.name": "hudi_trips_cow",
            "hoodie.datasource.write.recordkey.field": "uuid",
            "hoodie.datasource.write.partitionpath.field": "partitionpath",
            "hoodie.datasource.write.table.name": "hudi_trips_cow",
            "hoodie.datasource.write.operation": "upsert",
            "hoodie.datasource.write.precombine.field": "ts",
            "hoodie.upsert.shuffle.parallelism": 2,
            "hoodie.insert.shuffle.parallelism": 2,
        }

    def rows(self, count: int, first: int = 0, rider: str = "rider-213", **more: object) -> DataFrame:
        lines = [
            json.dumps(
                {"uuid": f"u{number:03}", "ts": 1000 + number, "rider": rider, "driver": "driver-213", "fare": number * 10.0}
                | {"begin_lon": 0.5, "begin_lat": 0.25, "partitionpath": PATHS[number % len(PATHS)]}
                | more
            )
            for number in range(first, first + count)
        ]
        return self.spark.read.json(self.spark.sparkContext.parallelize(lines, 2))

    def write(self, rows: DataFrame, mode: str = "append", **options: str) -> None:
        stated = {f"hoodie.datasource.write.{name}": value for name, value in options.items()}
        rows.write.format("hudi").options(**{**self.options, **stated}).mode(mode).save(self.path)

    def read(self, **options: str) -> DataFrame:
        return self.spark.read.format("hudi").options(**{f"hoodie.datasource.{key}": text for key, text in options.items()}).load(self.path)

    def keys(self) -> list[str]:
        return sorted(row.uuid for row in self.read().collect())


@pytest.fixture
def trips(spark: SparkSession, tmp_path: Path) -> Trips:
    made = Trips(spark, f"file://{tmp_path}/hudi_trips_cow")
    made.write(made.rows(6), "overwrite")
    return made


def test_inserts_updates_and_queries_of_0_13(trips: Trips) -> None:
    trips.read().createOrReplaceTempView("hudi_trips_snapshot")
    spark = trips.spark
    assert spark.sql("select fare, begin_lon, begin_lat, ts from  hudi_trips_snapshot where fare > 20.0").count() == 3
    meta = "select _hoodie_commit_time, _hoodie_record_key, _hoodie_partition_path, rider, driver, fare from  hudi_trips_snapshot"
    assert {row._hoodie_partition_path for row in spark.sql(meta).collect()} == set(PATHS)
    trips.write(trips.rows(3, rider="rider-284"))
    trips.write(trips.rows(2, first=6))
    trips.read().createOrReplaceTempView("hudi_trips_snapshot")
    distinct = "select distinct(_hoodie_commit_time) as commitTime from  hudi_trips_snapshot order by commitTime"
    commits = [row[0] for row in spark.sql(distinct).limit(50).collect()]
    assert len(commits) == 3
    since = trips.read(**{"query.type": "incremental", "read.begin.instanttime": commits[-2]})
    assert {row.uuid for row in since.collect()} == {"u000", "u001", "u002", "u006", "u007"}  # by completion times, from version 8 on
    until = trips.read(**{"query.type": "incremental", "read.begin.instanttime": "000", "read.end.instanttime": commits[-1]})
    assert until.count() == 6
    for time in ("20210728141108", "2021-07-28 14:11:08.000", "2021-07-28"):
        assert spark.read.format("hudi").option("as.of.instant", time).load(trips.path).count() == 0


def test_streams_of_0_13(trips: Trips, tmp_path: Path) -> None:
    spark = trips.spark
    console = spark.readStream.format("hudi").load(trips.path).writeStream.format("console").start()
    console.processAllAvailable()
    console.stop()
    options = {**trips.options, "hoodie.table.name": "streaming", "hoodie.datasource.write.table.name": "streaming"}
    query = (
        spark.readStream.format("hudi")
        .load(trips.path)
        .writeStream.format("hudi")
        .options(**options)
        .outputMode("append")
        .option("path", f"file://{tmp_path}/streaming")
        .option("checkpointLocation", f"file://{tmp_path}/checkpoint")
        .trigger(once=True)
        .start()
    )
    query.awaitTermination()
    assert spark.read.format("hudi").load(f"file://{tmp_path}/streaming").count() == 6


def test_soft_and_hard_deletes_of_0_13(trips: Trips) -> None:
    meta = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name"]
    chosen = trips.read().orderBy("uuid").limit(2)
    nullify = [(field.name, field.dataType) for field in chosen.schema.fields if field.name not in [*meta, "ts", "uuid", "partitionpath"]]
    bare = reduce(lambda frame, name: frame.drop(name), meta, chosen)
    trips.write(reduce(lambda frame, column: frame.withColumn(column[0], lit(None).cast(column[1])), nullify, bare))
    assert sorted(row.uuid for row in trips.read().filter("rider is null").collect()) == ["u000", "u001"]
    assert trips.read().count() == 6
    located = [(row.uuid, row.partitionpath) for row in trips.read().orderBy("uuid").limit(2).collect()]
    deletes = trips.spark.sparkContext.parallelize(located).toDF(["uuid", "partitionpath"]).withColumn("ts", lit(0.0))
    trips.write(deletes, operation="delete")
    assert trips.keys() == ["u002", "u003", "u004", "u005"]


def test_overwrites_of_0_13_and_of_the_page_about_writing(trips: Trips) -> None:
    trips.write(trips.rows(6, first=10).filter(f"partitionpath = '{PATHS[0]}'"), operation="insert_overwrite")
    assert trips.keys() == ["u001", "u002", "u004", "u005", "u012", "u015"]
    trips.write(trips.rows(2, first=20), operation="insert_overwrite_table")
    assert trips.keys() == ["u020", "u021"]


def test_paths_with_patterns_and_the_older_name_of_the_format(trips: Trips) -> None:
    assert trips.spark.read.format("org.apache.hudi").load(trips.path + "/*/*/*/*").count() == 6


def test_deletes_by_a_column_and_by_a_payload_class(trips: Trips, tmp_path: Path) -> None:
    trips.path = f"file://{tmp_path}/marked"
    trips.write(trips.rows(3, _hoodie_is_deleted=False), "overwrite")
    trips.write(trips.rows(1, _hoodie_is_deleted=True))
    assert trips.keys() == ["u001", "u002"]
    for name in ("org.apache.hudi.EmptyHoodieRecordPayload", "org.apache.hudi.common.model.EmptyHoodieRecordPayload"):
        with pytest.raises(OptionError, match=r"leave the option out and set hoodie\.datasource\.write\.operation=delete"):
            trips.write(trips.read().filter("uuid = 'u001'"), **{"payload.class": name})
    trips.write(trips.read().filter("uuid = 'u001'"), operation="delete")
    assert trips.keys() == ["u002"]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_updates_and_deletes_without_a_key_since_0_14(spark: SparkSession, tmp_path: Path, table_type: str) -> None:
    path, options = f"file://{tmp_path}/trips_table", {**KEYLESS, "hoodie.datasource.write.table.type": table_type}
    spark.createDataFrame(RIDES).toDF(*COLUMNS).write.format("hudi").options(**options).mode("overwrite").save(path)
    updates = spark.read.format("hudi").load(path).filter("rider == 'rider-A'").withColumn("fare", col("fare") * 10)
    updates.write.format("hudi").options(**options).mode("append").save(path)
    deletes = spark.read.format("hudi").load(path).filter("rider == 'rider-B'")
    hard = {**KEYLESS, "hoodie.datasource.write.operation": "delete"}
    deletes.write.format("hudi").options(**hard).mode("append").save(path)
    rows = sorted((row.uuid, row.fare) for row in spark.read.format("hudi").load(path).collect())
    assert rows == [("u1", 191.0), ("u3", 33.9), ("u4", 34.15)]
    scaled = spark.read.format("hudi").load(path).limit(2).withColumn("fare", col("fare") * 100)
    with pytest.raises(OptionError, match=r"CustomMergeIntoConnector contradicts table trips_table.* Leave the option out\.$"):
        scaled.write.format("hudi").option("hoodie.datasource.write.payload.class", "com.payloads.CustomMergeIntoConnector").mode(
            "append"
        ).save(path)


def test_change_data_of_a_write_without_options(spark: SparkSession, tmp_path: Path) -> None:
    path = f"file://{tmp_path}/trips_table"
    inserts = spark.createDataFrame(RIDES).toDF(*COLUMNS)
    inserts.write.format("hudi").options(**KEYLESS).mode("overwrite").save(path)
    inserts.write.format("hudi").options(**KEYLESS, **{"hoodie.table.cdc.enabled": "true"}).mode("overwrite").save(path)
    updates = spark.read.format("hudi").load(path).filter("rider == 'rider-A' or rider == 'rider-B'").withColumn("fare", col("fare") * 10)
    updates.write.format("hudi").mode("append").save(path)
    for name in ("hoodie.datasource.query.incremental.format", "hoodie.datasource.query.incremental.type"):  # the second in 0.13.0
        options: dict[str, str | int] = {
            name: "cdc",
            "hoodie.datasource.query.type": "incremental",
            "hoodie.datasource.read.begin.instanttime": 0,
        }
        rows = spark.read.format("hudi").options(**options).load(path).collect()
        assert sorted(row.op for row in rows) == ["i", "i", "i", "i", "u", "u"]
        assert {json.loads(row.after)["fare"] for row in rows if row.op == "u"} == {191.0, 277.0}
