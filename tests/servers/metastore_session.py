"""A Spark session on a Hive metastore that reads synchronised tables by name, before and after `pyhudi.enable`; prints JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import pyhudi

#: The rows of the Spark example of Apache Hudi's page about Hive sync.
GUIDE_ROWS = [
    ("row_1", "2021/01/01", 0, "bob", "v_0", "toBeDel0", 0, 1000000),
    ("row_2", "2021/01/01", 0, "john", "v_0", "toBeDel0", 0, 1000000),
    ("row_3", "2021/01/02", 0, "tom", "v_0", "toBeDel0", 0, 1000000),
]
GUIDE_COLUMNS = (
    "rowId STRING, partitionId STRING, preComb LONG, name STRING, versionId STRING, toBeDeletedStr STRING, intToLong INT, longToInt LONG"
)


def guide(spark: SparkSession, metastore: str, path: Path) -> list[list[str]]:
    """Write the table of the page as the page does, and read it by its name."""
    (
        spark.createDataFrame(GUIDE_ROWS, GUIDE_COLUMNS)
        .write.format("hudi")
        .option("hoodie.upsert.shuffle.parallelism", "2")
        .option("hoodie.datasource.write.precombine.field", "preComb")
        .option("hoodie.datasource.write.recordkey.field", "rowId")
        .option("hoodie.datasource.write.partitionpath.field", "partitionId")
        .option("hoodie.database.name", "rides")
        .option("hoodie.table.name", "hudi_cow")
        .option("hoodie.datasource.write.table.type", "COPY_ON_WRITE")
        .option("hoodie.datasource.write.operation", "upsert")
        .option("hoodie.index.type", "SIMPLE")
        .option("hoodie.datasource.write.hive_style_partitioning", "true")
        .option("hoodie.datasource.meta.sync.enable", "true")
        .option("hoodie.datasource.hive_sync.mode", "hms")
        .option("hoodie.datasource.hive_sync.metastore.uris", metastore)
        .option("hoodie.datasource.hive_sync.database", "rides")
        .mode("overwrite")
        .save(str(path))
    )
    return [list(row) for row in spark.sql("SELECT rowId, name, partitionId FROM rides.hudi_cow ORDER BY rowId").collect()]


def main(metastore: str, folder: Path) -> None:
    """Read the tables of the database `rides`, and write one whose options do not say where the metastore is."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").enableHiveSupport()
    settings = {"spark.hadoop.hive.metastore.uris": metastore, "spark.sql.warehouse.dir": str(folder / "warehouse")}
    spark = builder.config(map=settings).getOrCreate()  # type: ignore[arg-type]
    answers: dict[str, object] = {}
    try:
        spark.sql("SELECT * FROM rides.cow").collect()
    except Exception as error:  # noqa: BLE001 - whatever it is, the test looks at it
        answers["without"] = str(error)
    pyhudi.enable(spark)
    for name in ("cow", "mor", "mor_rt", "mor_ro", "plain_rides"):
        answers[name] = sorted(list(row) for row in spark.sql(f"SELECT id, fare, city FROM rides.{name}").collect())
    sync = {"hoodie.datasource.hive_sync.enable": "true", "hoodie.datasource.hive_sync.database": "rides"}
    rows = spark.createDataFrame([(7, 7.0, "lima")], "id long, fare double, city string")
    rows.write.format("hudi").options(**sync).mode("append").save(str(folder / "cow"))
    answers["written"] = [list(row) for row in spark.sql("SELECT id, fare, city FROM rides.cow WHERE city = 'lima'").collect()]
    answers["hudi_cow"] = guide(spark, metastore, folder / "hudi_cow")
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
