"""On Spark, too, a table whose timeline is missing is damaged: by name, by path, in SQL, read and written."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.int64())])
DOORS: dict[str, Callable[[SparkSession, str], Any]] = {
    "path": lambda spark, path: spark.read.format("hudi").load(path).collect(),
    "name": lambda spark, _: spark.table("lost").collect(),
    "sql": lambda spark, _: spark.sql("SELECT * FROM lost").collect(),
    "insert": lambda spark, _: spark.sql("INSERT INTO lost VALUES (2, 2)"),
    "delete": lambda spark, _: spark.sql("DELETE FROM lost WHERE id = 1"),
    "save": lambda spark, path: spark.createDataFrame([(2, 2)], "id long, v long").write.format("hudi").mode("append").save(path),
}


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path):
    folder = tmp_path / "lost"
    table = HudiTable.create(str(folder), SCHEMA, name="lost", keys=["id"])
    table.upsert([{"id": 1, "v": 1}])
    spark.sql(f"CREATE TABLE lost USING hudi LOCATION '{folder}'")
    shutil.rmtree(folder / ".hoodie" / "timeline")
    yield str(folder)
    spark.sql("DROP TABLE lost")


@pytest.mark.parametrize("door", DOORS)
def test_table_without_its_timeline_is_damaged(spark: SparkSession, path: str, door: str) -> None:
    with pytest.raises(CorruptTableError, match="shows no instant"):
        DOORS[door](spark, path)
