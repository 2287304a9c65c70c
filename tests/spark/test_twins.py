"""Spark tasks, like the local engine, change only the record that stands of two with one key."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable

pytestmark = pytest.mark.spark

OPTIONS = {
    "hoodie.table.name": "t",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "p",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.compact.inline": "false",
    "hoodie.parquet.small.file.limit": "0",
    "pyhudi.engine": "spark",
}


def test_a_record_deleted_in_a_log_does_not_come_back_with_its_successor(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")

    def write(rows: list[tuple[int, str]], operation: str) -> None:
        frame = spark.createDataFrame([(key, value, "x") for key, value in rows], "id INT, v STRING, p STRING")
        frame.write.format("hudi").options(**OPTIONS, **{"hoodie.datasource.write.operation": operation}).mode("append").save(path)

    write([(1, "a"), (2, "a")], "upsert")
    write([(1, "")], "delete")
    write([(1, "b")], "insert")
    write([(1, "c"), (2, "c"), (3, "c")], "upsert")
    result = HudiTable.open(path).to_arrow().to_pylist()
    assert sorted((row["id"], row["v"]) for row in result) == [(1, "c"), (2, "c"), (3, "c")]
