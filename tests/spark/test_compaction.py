"""Compaction whose tasks Spark runs, and compaction after writes that Spark did."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.spark.engine.task_engine import SparkEngine

pytestmark = pytest.mark.spark

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64()})
OFF = {"hoodie.compact.inline": "false"}


@pytest.fixture
def table(tmp_path) -> HudiTable:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ")
    for value in (0, 1):
        table.upsert(rows(value), options=OFF)
    return table


def rows(value: int) -> list[dict[str, Any]]:
    return [{"id": number, "city": ("oslo", "rome", "bern")[number % 3], "value": value} for number in range(9)]


def test_tasks_run_on_spark(spark: SparkSession, table: HudiTable) -> None:
    (done,) = table.services.compact(engine=SparkEngine(spark))
    assert (done.engine, done.files_written, done.rows) == ("spark", 3, 9)
    assert table.to_arrow(mode="read_optimized").sort_by("id").to_pylist() == rows(1)
    assert table.history().to_pylist()[-1]["engine"] == "spark"


def test_log_compaction_runs_on_spark(spark: SparkSession, table: HudiTable) -> None:
    table.upsert(rows(2), options=OFF)
    (done,) = table.services.log_compact(engine=SparkEngine(spark), options={"hoodie.log.compaction.blocks.threshold": "2"})
    assert (done.engine, done.files_written) == ("spark", 3)
    assert table.to_arrow().sort_by("id").to_pylist() == rows(2)


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_frame_that_makes_it_due_is_followed_by_a_compaction(spark: SparkSession, table: HudiTable, engine: str) -> None:
    frame = spark.createDataFrame([tuple(row.values()) for row in rows(2)], "id long, city string, value long")
    writer = frame.write.format("hudi").mode("append").option("hoodie.table.name", "t").option("pyhudi.engine", engine)
    writer.option("hoodie.compact.inline.max.delta.commits", "3").option("hoodie.datasource.write.recordkey.field", "id").save(
        table.storage.uri
    )
    assert [row["action"] for row in table.history().to_pylist()] == ["deltacommit"] * 3 + ["commit"]
    assert table.to_arrow(mode="read_optimized").sort_by("id").to_pylist() == rows(2)
