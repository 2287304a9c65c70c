"""A Spark session of its own that writes and reads tables on S3 by DataFrames, SQL and a stream, and prints counts and sums as JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import pyhudi
from pyhudi.storage.open_storage import open_storage

TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")


#: Executors that are processes, as on a cluster: they have the driver's session settings, and pyhudi's tasks run in them.
CLUSTER = {
    "spark.master": "local-cluster[2,1,1024]",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "pyhudi.engine": "spark",
}


def main(folder: str, url: str, settings: str, executors: str = "threads") -> None:
    """Use tables below a URL, with settings of Hadoop that are given as JSON, and executors that are threads or processes."""
    jars = ",".join(str(path) for path in Path(os.environ["PYHUDI_S3A"]).glob("*.jar"))
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.warehouse.dir", folder)
    for name, value in CLUSTER.items() if executors == "processes" else ():
        builder = builder.config(name, value)
    for name, value in json.loads(settings).items():
        builder = builder.config(f"spark.hadoop.{name}", value)
    spark = pyhudi.enable(builder.config("spark.jars", jars)).getOrCreate()
    answers: dict[str, Any] = {table_type: _use(spark, f"{url}/{table_type.lower()}", table_type, folder) for table_type in TYPES}
    answers["bootstrapped"] = _bootstrapped(spark, url)
    sys.stdout.write("\n" + json.dumps(answers))


def _use(spark: SparkSession, url: str, table_type: str, folder: str) -> dict[str, Any]:
    options = {
        "hoodie.table.name": table_type.lower(),
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.partitionpath.field": "city",
        "hoodie.datasource.write.table.type": table_type,
    }
    rows = spark.range(20).selectExpr("id", "id * 2 AS fare", "if(id % 2 = 0, 'oslo', 'rome') AS city")
    rows.write.format("hudi").options(**options).save(url)
    rows.where("id < 4").selectExpr("id", "-1L AS fare", "city").write.format("hudi").options(**options).mode("append").save(url)
    answers = {"frame": _sums(spark.read.format("hudi").load(url))}
    spark.sql(f"CREATE TABLE {table_type} USING hudi LOCATION '{url}'")
    source = "SELECT 5L AS id, 55L AS fare, 'rome' AS city UNION ALL SELECT 100L, 7L, 'oslo'"
    spark.sql(f"MERGE INTO {table_type} t USING ({source}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
    spark.sql(f"DELETE FROM {table_type} WHERE id = 6")
    answers["sql"] = _sums(spark.table(table_type))
    changed = spark.read.format("hudi").option("hoodie.datasource.query.type", "incremental")
    answers["changes"] = _sums(changed.option("hoodie.datasource.read.begin.instanttime", "0").load(url))
    reading = spark.readStream.format("hudi").load(url).writeStream.format("memory").queryName(f"rows_{table_type}")
    reading.option("checkpointLocation", f"{folder}/{table_type}").trigger(availableNow=True).start().awaitTermination()
    answers["stream"] = _sums(spark.table(f"rows_{table_type}"))
    return answers


def _bootstrapped(spark: SparkSession, url: str) -> list[int]:
    """Return what a table holds whose rows are in another bucket, which no table of this session is in."""
    scheme, _, rest = url.partition("://")
    source = open_storage(f"{scheme}://source/{rest}")
    with source.open_output("rows.parquet") as sink:
        pq.write_table(pa.table({"id": [1, 2], "fare": [10, 20]}), sink)
    pyhudi.HudiTable.bootstrap(f"{url}/bootstrapped", source.uri, name="bootstrapped", keys=["id"])
    return _sums(spark.read.format("hudi").load(f"{url}/bootstrapped"))


def _sums(frame: Any) -> list[int]:
    return list(frame.selectExpr("count(*)", "sum(fare)").collect()[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
