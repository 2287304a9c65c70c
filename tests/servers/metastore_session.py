"""A Spark session on a Hive metastore that reads synchronised tables by name, before and after `pyhudi.enable`; prints JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import pyhudi


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
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
