"""Hash rings resized by Spark's tasks, by CALL, and after writes that Spark did."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import UnsupportedError, UsageError
from pyhudi.spark.engine.task_engine import SparkEngine

pytestmark = pytest.mark.spark

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64()})
RING = {"hoodie.index.type": "BUCKET", "hoodie.index.bucket.engine": "CONSISTENT_HASHING", "hoodie.bucket.index.num.buckets": "1"}
SPLIT = {"hoodie.bucket.index.max.num.buckets": "2", "hoodie.parquet.max.file.size": "1"}
STATED = ",".join(f"{name}={value}" for name, value in SPLIT.items())


@pytest.fixture
def table(tmp_path) -> HudiTable:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ")
    table.upsert(rows(0), options=RING)
    return table


def rows(value: int) -> list[dict[str, Any]]:
    return [{"id": number, "city": ("oslo", "rome")[number % 2], "value": value} for number in range(9)]


def test_tasks_run_on_spark(spark: SparkSession, table: HudiTable) -> None:
    (done,) = table.services.cluster(engine=SparkEngine(spark), options=SPLIT)
    assert (done.engine, done.splits, done.rows) == ("spark", 2, 9)
    assert table.to_arrow().sort_by("id").to_pylist() == rows(0)
    assert spark.read.format("hudi").load(table.storage.uri).count() == 9


def test_call_plans_runs_and_shows(spark: SparkSession, table: HudiTable) -> None:
    def call(text: str) -> list[tuple[Any, ...]]:
        return [tuple(row)[1:] for row in spark.sql(f"CALL {text}").collect()]

    index = f"path => '{table.storage.uri}'"
    assert call(f"run_clustering({index}, op => 'schedule', options => '{STATED}')") == [(2, "REQUESTED", "*")]
    assert call(f"show_clustering({index}, show_involved_partition => true)") == [(2, "REQUESTED", "oslo,rome")]
    assert call(f"run_clustering({index}, op => 'execute', show_involved_partition => true)") == [(2, "COMPLETED", "oslo,rome")]
    assert call(f"show_clustering({index})") == [(2, "COMPLETED", "*")]
    assert call(f"run_clustering({index}, options => '{STATED}')") == []
    assert table.to_arrow().sort_by("id").to_pylist() == rows(0)
    for wrong, kind in (("op => 'both'", UsageError), ("order => 'value'", UnsupportedError), ("instants => '1'", UsageError)):
        with pytest.raises(kind, match="run_clustering"):
            call(f"run_clustering({index}, {wrong})")


@pytest.mark.parametrize("engine", [pytest.param("local", marks=pytest.mark.slow), "spark"])
def test_frame_that_makes_it_due_is_followed_by_a_resizing(spark: SparkSession, table: HudiTable, engine: str) -> None:
    frame = spark.createDataFrame([tuple(row.values()) for row in rows(2)], "id long, city string, value long")
    inline = {"hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2"}
    options = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id", "pyhudi.engine": engine, **inline, **SPLIT}
    frame.write.format("hudi").mode("append").options(**options).save(table.storage.uri)
    assert [row["action"] for row in table.history().to_pylist()] == ["deltacommit", "deltacommit", "replacecommit"]
    assert table.to_arrow().sort_by("id").to_pylist() == rows(2)
