"""Scripts in the shapes in which they are published (quick starts, guides, posts), unchanged but for the session: their rows are right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.functions import col, current_date, lit

pytestmark = [pytest.mark.spark, pytest.mark.slow]

W = "hoodie.datasource.write."
ORDERS = [(1, "lima", 10.0, 100), (2, "oslo", 20.0, 100), (3, "lima", 30.0, 100)]
COLUMNS = "id int, city string, amount double, ts long"


def orders(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    return spark.createDataFrame(list(rows or ORDERS), COLUMNS)


def options(**more: str) -> dict[str, str]:
    """The dictionary that nearly every script has; `_` stands for a dot, and `__` for an underscore."""
    return {
        "hoodie.table.name": "orders",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.datasource.write.table.name": "orders",
        "hoodie.upsert.shuffle.parallelism": "2",
        "hoodie.insert.shuffle.parallelism": "2",
        **{"hoodie." + key.replace("__", "#").replace("_", ".").replace("#", "_"): value for key, value in more.items()},
    }


def save(frame: DataFrame, path: str, mode: str = "append", **more: str) -> None:
    frame.write.format("hudi").options(**options(**more)).mode(mode).save(path)


def amounts(frame: DataFrame) -> dict[int, float]:
    return {row["id"]: row["amount"] for row in frame.select("id", "amount").collect()}


def load(spark: SparkSession, path: str, **more: str) -> DataFrame:
    return spark.read.format("hudi").options(**more).load(path)


def commits(spark: SparkSession, path: str) -> list[str]:
    rows = load(spark, path).select("_hoodie_commit_time").distinct().orderBy("_hoodie_commit_time").collect()
    return [row[0] for row in rows]


def upsert(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite", datasource_write_operation="upsert")
    save(orders(spark, (1, "lima", 11.0, 200), (2, "oslo", 0.0, 50), (4, "oslo", 40.0, 200)), path)
    assert amounts(load(spark, path)) == {1: 11.0, 2: 20.0, 3: 30.0, 4: 40.0}
    assert load(spark, path + "/*").count() == 4


def org_apache_hudi(spark: SparkSession, path: str) -> None:
    orders(spark).write.format("org.apache.hudi").options(**options()).mode("overwrite").save(path)
    assert spark.read.format("org.apache.hudi").load(path).where("city = 'lima'").count() == 2


def soft_delete(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite")
    keep = {"id", "ts", "city"}
    snapshot = load(spark, path)
    meta = [name for name in snapshot.columns if name.startswith("_hoodie")]
    removed = snapshot.where("id = 2").drop(*meta)
    for name, kind in removed.dtypes:
        if name not in keep:
            removed = removed.withColumn(name, lit(None).cast(kind))
    save(removed, path)
    assert amounts(load(spark, path)) == {1: 10.0, 2: None, 3: 30.0}


def hard_delete(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite")
    save(load(spark, path).where("amount > 15").select("id", "city").withColumn("ts", lit(0)), path, datasource_write_operation="delete")
    assert amounts(load(spark, path)) == {1: 10.0}


def delete_marker_column(spark: SparkSession, path: str) -> None:
    save(orders(spark).withColumn("_hoodie_is_deleted", lit(False)), path, "overwrite")
    save(orders(spark, (1, "lima", 10.0, 300)).withColumn("_hoodie_is_deleted", lit(True)), path)
    assert sorted(amounts(load(spark, path))) == [2, 3]


def insert_overwrite(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite")
    save(orders(spark, (9, "lima", 90.0, 1)), path, datasource_write_operation="insert_overwrite")
    assert amounts(load(spark, path)) == {2: 20.0, 9: 90.0}


def insert_overwrite_table(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite")
    save(orders(spark, (9, "lima", 90.0, 1)), path, datasource_write_operation="insert_overwrite_table")
    assert amounts(load(spark, path)) == {9: 90.0}


def delete_partition(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite")
    removed = {"datasource_write_operation": "delete_partition", "datasource_write_partitions_to_delete": "lima"}
    save(orders(spark).limit(0), path, **removed)
    assert amounts(load(spark, path)) == {2: 20.0}


def bulk_insert(spark: SparkSession, path: str) -> None:
    bulk = {"datasource_write_operation": "bulk_insert", "bulkinsert_shuffle_parallelism": "2", "bulkinsert_sort_mode": "GLOBAL_SORT"}
    save(orders(spark), path, "overwrite", **bulk, datasource_write_row_writer_enable="true", parquet_compression_codec="snappy")
    assert amounts(load(spark, path)) == {1: 10.0, 2: 20.0, 3: 30.0}


def insert_drops_duplicates(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite")
    save(
        orders(spark, (1, "lima", 99.0, 9), (4, "lima", 40.0, 9)),
        path,
        datasource_write_operation="insert",
        datasource_write_insert_drop_duplicates="true",
    )
    assert amounts(load(spark, path)) == {1: 10.0, 2: 20.0, 3: 30.0, 4: 40.0}


def incremental(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite")
    save(orders(spark, (1, "lima", 11.0, 200)), path)
    begin = commits(spark, path)[0]
    read = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": begin}
    # The first commit was completed after the instant that its rows name: Apache Hudi returns it as well.
    assert amounts(load(spark, path, **read)) == {1: 11.0, 2: 20.0, 3: 30.0}
    load(spark, path, **read | {"hoodie.datasource.read.begin.instanttime": "000"}).createOrReplaceTempView("orders_incremental")
    assert [tuple(row) for row in spark.sql("select count(*) from orders_incremental where amount > 10").collect()] == [(3,)]


def incremental_of_version_6(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite", write_table_version="6")
    first = commits(spark, path)[-1]
    save(orders(spark, (4, "lima", 40.0, 200)), path)
    read = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": "000"}
    assert sorted(amounts(load(spark, path, **read, **{"hoodie.datasource.read.end.instanttime": first}))) == [1, 2, 3]
    after = read | {"hoodie.datasource.read.begin.instanttime": first}
    assert amounts(load(spark, path, **after)) == {4: 40.0}


def change_data(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite", table_cdc_enabled="true")
    save(orders(spark, (1, "lima", 11.0, 200), (4, "oslo", 40.0, 200)), path, table_cdc_enabled="true")
    begin = commits(spark, path)[0]
    read = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.query.incremental.format": "cdc"}
    read["hoodie.datasource.read.begin.instanttime"] = begin
    # The instant of a commit means that commit, as in Apache Hudi; by the option all other times are requested times, too.
    assert sorted(row["op"] for row in load(spark, path, **read).select("op").collect()) == ["i", "u"]
    read["hoodie.datasource.read.incr.table.version"] = "6"
    rows = load(spark, path, **read).select("op", "before", "after").collect()
    assert sorted(row["op"] for row in rows) == ["i", "u"]
    assert all((row["before"] == "null") == (row["op"] == "i") and '"amount"' in row["after"] for row in rows)


def time_travel(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite")
    first = commits(spark, path)[0]
    save(orders(spark, (1, "lima", 11.0, 200)), path)
    assert amounts(spark.read.format("hudi").option("as.of.instant", first).load(path))[1] == 10.0
    dashed = f"{first[:4]}-{first[4:6]}-{first[6:8]} {first[8:10]}:{first[10:12]}:{first[12:14]}.{first[14:]}"
    assert amounts(load(spark, path, **{"as.of.instant": dashed}))[1] == 10.0
    assert amounts(load(spark, path))[1] == 11.0


def merge_on_read(spark: SparkSession, path: str) -> None:
    mor = {"datasource_write_table_type": "MERGE_ON_READ", "compact_inline": "true", "compact_inline_max_delta_commits": "3"}
    save(orders(spark), path, "overwrite", **mor)
    save(orders(spark, (1, "lima", 11.0, 200)), path, **mor)
    assert amounts(load(spark, path))[1] == 11.0
    assert amounts(load(spark, path, **{"hoodie.datasource.query.type": "read_optimized"}))[1] == 10.0
    save(orders(spark, (1, "lima", 12.0, 300)), path, **mor)
    assert amounts(load(spark, path, **{"hoodie.datasource.query.type": "read_optimized"}))[1] == 12.0


def inline_clustering(spark: SparkSession, path: str) -> None:
    clustering = {
        "clustering_inline": "true",
        "clustering_inline_max_commits": "2",
        "clustering_plan_strategy_target_file_max_bytes": "1073741824",
        "clustering_plan_strategy_small_file_limit": "629145600",
        "clustering_plan_strategy_sort_columns": "amount",
        "parquet_small_file_limit": "0",
        "datasource_write_operation": "insert",
    }
    save(orders(spark), path, "overwrite", **clustering)
    save(orders(spark, (5, "lima", 5.0, 1)), path, **clustering)
    lima = load(spark, path).where("city = 'lima'")
    assert lima.select("_hoodie_file_name").distinct().count() == 1
    assert amounts(lima) == {1: 10.0, 3: 30.0, 5: 5.0}


def several_keys(spark: SparkSession, path: str) -> None:
    keys = {"datasource_write_recordkey_field": "id,ts", "datasource_write_partitionpath_field": "city,amount"}
    complex_keys = {"datasource_write_keygenerator_class": "org.apache.hudi.keygen.ComplexKeyGenerator"}
    save(orders(spark), path, "overwrite", **keys, **complex_keys, datasource_write_hive__style__partitioning="true")
    row = load(spark, path).where("id = 1").select("_hoodie_record_key", "_hoodie_partition_path").first()
    assert row == Row(_hoodie_record_key="id:1,ts:100", _hoodie_partition_path="city=lima/amount=10.0")


def timestamp_keys(spark: SparkSession, path: str) -> None:
    save(
        orders(spark, (1, "lima", 1.0, 1704067200000)),
        path,
        "overwrite",
        datasource_write_partitionpath_field="ts",
        datasource_write_keygenerator_class="org.apache.hudi.keygen.TimestampBasedKeyGenerator",
        keygen_timebased_timestamp_type="EPOCHMILLISECONDS",
        keygen_timebased_output_dateformat="yyyy/MM/dd",
        keygen_timebased_timezone="UTC",
    )
    assert load(spark, path).select("_hoodie_partition_path").first() == Row("2024/01/01")


def no_partitions(spark: SparkSession, path: str) -> None:
    plain = {
        "datasource_write_partitionpath_field": "",
        "datasource_write_keygenerator_class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
    }
    save(orders(spark), path, "overwrite", **plain)
    assert load(spark, path).select("_hoodie_partition_path").distinct().first() == Row("")


def without_keys(spark: SparkSession, path: str) -> None:
    orders(spark).write.format("hudi").option("hoodie.table.name", "orders").partitionBy("city").mode("overwrite").save(path)
    orders(spark, (1, "lima", 11.0, 2)).write.format("hudi").option("hoodie.table.name", "orders").mode("append").save(path)
    assert load(spark, path).count() == 4


def global_index(spark: SparkSession, path: str) -> None:
    moving = {"index_type": "GLOBAL_BLOOM", "bloom_index_update_partition_path": "true"}
    save(orders(spark), path, "overwrite", **moving)
    save(orders(spark, (1, "oslo", 11.0, 200)), path, **moving)
    assert [row["city"] for row in load(spark, path).where("id = 1").collect()] == ["oslo"]


def record_index(spark: SparkSession, path: str) -> None:
    indexed = {"metadata_enable": "true", "metadata_record_index_enable": "true", "index_type": "RECORD_INDEX"}
    save(orders(spark), path, "overwrite", **indexed)
    save(orders(spark, (3, "lima", 33.0, 200)), path, **indexed)
    assert amounts(load(spark, path, **{"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}).where("id = 3")) == {
        3: 33.0
    }


def bucket_index(spark: SparkSession, path: str) -> None:
    buckets = {"index_type": "BUCKET", "bucket_index_num_buckets": "4", "bucket_index_hash_field": "id"}
    save(orders(spark), path, "overwrite", **buckets)
    save(orders(spark, (3, "lima", 33.0, 200)), path, **buckets)
    assert amounts(load(spark, path))[3] == 33.0


def new_column(spark: SparkSession, path: str) -> None:
    save(orders(spark), path, "overwrite")
    save(
        orders(spark, (4, "oslo", 40.0, 200)).withColumn("day", current_date()),
        path,
        datasource_write_schema_allow_auto_evolution_column_drop="true",
    )
    assert load(spark, path).where(col("day").isNotNull()).count() == 1


def services_and_retention(spark: SparkSession, path: str) -> None:
    retained = {"clean_automatic": "true", "cleaner_policy": "KEEP_LATEST_COMMITS", "cleaner_commits_retained": "1"}
    archived = {"keep_min_commits": "3", "keep_max_commits": "4"}
    for number in range(6):
        save(orders(spark, (1, "lima", float(number), number)), path, "append" if number else "overwrite", **retained, **archived)
    assert amounts(load(spark, path)) == {1: 5.0}


def streaming(spark: SparkSession, path: str) -> None:
    source, target = path + "_source", path + "_target"
    save(orders(spark), source, "overwrite")
    query = (
        spark.readStream.format("hudi")
        .load(source)
        .drop("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name")
        .writeStream.format("hudi")
        .options(**options())
        .outputMode("append")
        .option("path", target)
        .option("checkpointLocation", path + "_checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert amounts(load(spark, target)) == {1: 10.0, 2: 20.0, 3: 30.0}


def each_batch(spark: SparkSession, path: str) -> None:
    source = path + "_source"
    save(orders(spark), source, "overwrite")

    def write(batch: DataFrame, number: int) -> None:
        save(batch.drop(*[name for name in batch.columns if name.startswith("_hoodie")]).dropDuplicates(["id"]), path)

    stream = spark.readStream.format("hudi").load(source).writeStream.foreachBatch(write)
    stream.option("checkpointLocation", path + "_checkpoint").trigger(once=True).start().awaitTermination()
    assert amounts(load(spark, path)) == {1: 10.0, 2: 20.0, 3: 30.0}


SCRIPTS: list[Callable[[SparkSession, str], None]] = [
    upsert, org_apache_hudi, soft_delete, hard_delete, delete_marker_column, insert_overwrite, insert_overwrite_table,
    delete_partition, bulk_insert, insert_drops_duplicates, incremental, incremental_of_version_6, change_data, time_travel, merge_on_read,
    inline_clustering, several_keys, timestamp_keys, no_partitions, without_keys, global_index, record_index, bucket_index, new_column,
    services_and_retention, streaming, each_batch,
]  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_the_script_runs_and_its_rows_are_right(script: Callable[[SparkSession, str], None], spark: SparkSession, tmp_path: Path) -> None:
    script(spark, str(tmp_path / "orders"))
