"""Tables clustered and buckets resized by Spark's tasks, by CALL, and after writes that Spark did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from pyhudi.spark.engine.task_engine import SparkEngine

pytestmark = pytest.mark.spark

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64()})
CONSISTENT_HASHING = {
    "hoodie.index.type": "BUCKET",
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
    "hoodie.bucket.index.num.buckets": "1",
}
SPLIT = {"hoodie.bucket.index.max.num.buckets": "2", "hoodie.parquet.max.file.size": "1"}
STATED = ",".join(f"{name}={value}" for name, value in SPLIT.items())


@pytest.fixture
def table(tmp_path) -> HudiTable:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ")
    table.upsert(rows(0), options=CONSISTENT_HASHING)
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
    for wrong, kind in (("op => 'both'", UsageError), ("order_strategy => 'spiral'", UsageError), ("instants => '1'", UsageError)):
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


def test_rows_of_chosen_partitions_are_ordered_by_a_call(spark: SparkSession, tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "ordered", SCHEMA, name="ordered", keys=["id"], partition_by=["city"])
    for first in (0, 5):
        table.insert([row for row in rows(7) if row["id"] in range(first, first + 5)], {"hoodie.parquet.small.file.limit": "0"})
    before = table.to_arrow().sort_by("id")

    def call(text: str) -> list[tuple[object, ...]]:
        answer = spark.sql(f"CALL run_clustering(path => '{table.storage.uri}', show_involved_partition => true, {text})").collect()
        return [tuple(row)[1:] for row in answer]

    assert call("predicate => \"city = 'paris'\", order => 'id'") == []
    assert call("predicate => \"city = 'rome'\", order => 'VALUE,id', order_strategy => 'z-order'") == [(1, "COMPLETED", "rome")]
    assert call("selected_partitions => 'oslo', order => 'id'") == [(1, "COMPLETED", "oslo")]
    assert call("partition_regex_pattern => 'o.*', order => 'value,id', op => 'schedule'") == [(1, "REQUESTED", "oslo")]
    assert call("op => 'execute'") == [(1, "COMPLETED", "oslo")]
    assert table.to_arrow().sort_by("id").equals(before)
    with pytest.raises(UsageError, match="value"):
        call("predicate => 'value = 7'")


def test_tasks_of_spark_rewrite_the_groups_of_a_plan(spark: SparkSession, tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "tasks", SCHEMA, name="tasks", keys=["id"], partition_by=["city"])
    for value in range(2):
        table.insert(
            [{**row, "id": number + 1000 * value} for number, row in enumerate(rows(value))], {"hoodie.parquet.small.file.limit": "0"}
        )
    before = table.to_arrow().sort_by("id")
    (done,) = table.services.cluster(options={"hoodie.clustering.plan.strategy.sort.columns": "id"}, engine=SparkEngine(spark))
    assert (done.engine, done.files_written) == ("spark", 2)
    assert table.to_arrow().sort_by("id").equals(before)
    assert spark.read.format("hudi").load(table.storage.uri).count() == before.num_rows
