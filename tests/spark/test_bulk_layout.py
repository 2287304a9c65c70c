"""Bulk inserts by Spark tasks in the layout that options ask for: number of files, order of rows in them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable, register_partitioner

pytestmark = pytest.mark.spark

MODE, TASKS = "hoodie.bulkinsert.sort.mode", "hoodie.bulkinsert.shuffle.parallelism"
OPTIONS = {
    "hoodie.table.name": "trips",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.operation": "bulk_insert",
    "hoodie.metadata.enable": "false",
    "pyhudi.engine": "spark",
}


@pytest.mark.parametrize(
    ("options", "files", "is_sorted"),
    [
        ({TASKS: "1"}, 2, False),
        ({MODE: "PARTITION_PATH_REPARTITION", TASKS: "4"}, 2, False),
        ({MODE: "PARTITION_SORT", TASKS: "1"}, 2, True),
        ({MODE: "GLOBAL_SORT", TASKS: "2"}, None, True),
        ({"hoodie.bulkinsert.user.defined.partitioner.sort.columns": "id", TASKS: "1"}, 2, True),
    ],
)
def test_layout_bounds_the_files_and_orders_their_rows(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], files: int | None, is_sorted: bool
) -> None:
    frame = spark.range(0, 200, 1, 4).selectExpr("id * 77 % 200 AS id", "IF(id % 2 = 0, 'oslo', 'rome') AS city")
    frame.write.format("hudi").options(**OPTIONS, **options).mode("append").save(str(tmp_path / "t"))
    assert sorted(row["id"] for row in HudiTable.open(tmp_path / "t").to_arrow().to_pylist()) == list(range(200))
    written = [pq.read_table(file, columns=["id"])["id"].to_pylist() for file in (tmp_path / "t").glob("*/*.parquet")]
    assert files in (None, len(written))
    assert all(keys == sorted(keys) for keys in written) is is_sorted


class ByThird:
    """Each third of the ids in a task of its own."""

    sort_columns = ("id",)

    def tasks_of(self, rows: pa.RecordBatch, tasks: int) -> list[int]:
        """Spread by id."""
        return [key * tasks // 200 for key in rows.column("id").to_pylist()]


def test_tasks_hold_the_rows_that_a_partitioner_of_the_user_says(spark: SparkSession, tmp_path: Path) -> None:
    register_partitioner("com.example.ByThird", ByThird())
    frame = spark.range(0, 200, 1, 4).selectExpr("id * 77 % 200 AS id", "'oslo' AS city")
    options = {"hoodie.bulkinsert.user.defined.partitioner.class": "com.example.ByThird", TASKS: "3"}
    frame.write.format("hudi").options(**OPTIONS, **options).mode("append").save(str(tmp_path / "t"))
    written = [pq.read_table(file, columns=["id"])["id"].to_pylist() for file in (tmp_path / "t").glob("*/*.parquet")]
    assert sorted(written) == [list(range(67)), list(range(67, 134)), list(range(134, 200))]
