"""A write by the local engine and the same write by Spark's tasks give the same table."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.slow_cases import slow_cases

pytestmark = pytest.mark.spark

OPERATIONS = ("upsert", "insert", "bulk_insert", "delete", "insert_overwrite", "insert_overwrite_table")
SCHEMA = pa.schema({"id": pa.string(), "city": pa.string(), "seen": pa.int64(), "fare": pa.float64()})
SHAPES = {
    "plain": {"recordkey": "id", "partitionpath": "", "ordering": ""},
    "partitioned": {"recordkey": "id", "partitionpath": "city", "ordering": "seen"},
    "complex": {"recordkey": "id,city", "partitionpath": "city", "ordering": "seen"},
    "merge_on_read": {"recordkey": "id", "partitionpath": "city", "ordering": "seen", "type": "MERGE_ON_READ"},
    "version_6": {"recordkey": "id", "partitionpath": "city", "ordering": "seen", "type": "MERGE_ON_READ", "version": "6"},
}
#: Their keys and paths are compared in `test_key_generators`, too.
LONG = {"plain", "complex", "partitioned", "version_6"}

rows = st.fixed_dictionaries(
    {
        "id": st.integers(0, 12).map(str),
        "city": st.sampled_from(["lima", "são paulo", "a b", None]),
        "seen": st.integers(0, 5),
        "fare": st.one_of(st.none(), st.floats(-10, 10, allow_nan=False)),
    }
)
# Rows with one key and one ordering value have no first and last in Spark, so a batch holds each key once.
batches = st.lists(rows, min_size=1, max_size=12, unique_by=lambda row: (row["id"], row["city"]))
writes = st.lists(st.tuples(st.sampled_from(OPERATIONS), batches), min_size=2, max_size=4)
numbers = itertools.count()
# A step costs a second on Spark: shrinking would take longer than reading the example.
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
# A delete by key brings no ordering value.
FOUND_ONCE = [
    ("upsert", [{"id": "0", "city": city, "seen": 0, "fare": None} for city in ("lima", None)]),
    ("delete", [{"id": "0", "city": "lima", "seen": 0, "fare": None}]),
]
#: Rows of a merge-on-read table that are in logs: some late, some deleted, some new.
INTO_LOGS = [
    ("insert", [{"id": str(n), "city": "lima", "seen": 2, "fare": 1.0} for n in range(6)]),
    ("upsert", [{"id": str(n), "city": "lima", "seen": n, "fare": 2.0} for n in range(4)]),
    ("delete", [{"id": "3", "city": "lima", "seen": 0, "fare": None}]),
    ("upsert", [{"id": str(n), "city": "lima", "seen": 1, "fare": 3.0} for n in range(2, 8)]),
]


Steps = list[tuple[str, list[dict[str, object]]]]


def compare(spark: SparkSession, folder: Path, shape: str, steps: Steps) -> None:
    result = []
    for engine in ("local", "spark"):
        path = str(folder / str(next(numbers)))
        for operation, batch in steps:
            write(spark, path, shape, operation, batch, engine)
        result.append(content(path))
    assert result[0] == result[1]


@pytest.mark.parametrize("shape", slow_cases(SHAPES, LONG))
def test_local_engine_and_spark_tasks_give_the_same_rows(spark: SparkSession, tmp_path: Path, shape: str) -> None:
    compare(spark, tmp_path, shape, FOUND_ONCE)  # type: ignore[arg-type]
    compare(spark, tmp_path, shape, INTO_LOGS)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=10, deadline=None, phases=NO_SHRINKING, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=writes)
def test_any_writes_give_the_same_rows(spark: SparkSession, tmp_path: Path, shape: str, steps: Steps) -> None:
    compare(spark, tmp_path, shape, steps)


PARTIAL = {
    "recordkey": "id",
    "partitionpath": "city",
    "ordering": "seen",
    "payload": "org.apache.hudi.common.model.PartialUpdateAvroPayload",
}


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_spark_tasks_fill_rows_from_each_other_and_from_what_is_stored(
    spark: SparkSession, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SHAPES, "partial", {**PARTIAL, "type": kind})
    stored = [("a", 3, 0.5), ("b", 3, 0.5), ("c", 3, None), ("d", 3, 0.5)]
    changes = [("a", 5, None), ("b", 5, None), ("b", 4, 2.5), ("c", 1, 9.5), ("e", 1, 1.5), ("e", 2, None)]
    for batch in (stored, changes):
        rows = [{"id": key, "city": "lima", "seen": time, "fare": fare} for key, time, fare in batch]
        write(spark, str(tmp_path / "t"), "partial", "upsert", rows, "spark")
    result = [(row[2], row[4], row[5]) for row in content(str(tmp_path / "t"))]
    assert result == [("a", 5, 0.5), ("b", 5, 2.5), ("c", 3, 9.5), ("d", 3, 0.5), ("e", 2, 1.5)]


def test_engine_is_recorded_in_the_commit_and_follows_the_size_of_the_plan(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    write(spark, path, "plain", "upsert", [{"id": "1", "city": "lima", "seen": 1, "fare": 1.0}], "auto")
    large = spark.range(20000).selectExpr("cast(id as string) id", "'lima' city", "id seen", "0.5D fare")
    save(large, path, "plain", "upsert", {"pyhudi.engine.local.max.bytes": "1000"})
    history = HudiTable.open(path).history()
    assert history["engine"].to_pylist() == ["local", "spark"]
    assert history["inserted"].to_pylist() == [1, 19999]


def write(spark: SparkSession, path: str, shape: str, operation: str, batch: list[dict[str, Any]], engine: str) -> None:
    frame = spark.createDataFrame(pa.Table.from_pylist(batch, SCHEMA))
    if operation == "delete":
        frame = frame.select("id", "city")
    save(frame, path, shape, operation, {"pyhudi.engine": engine})


def save(frame, path: str, shape: str, operation: str, options: dict[str, str]) -> None:
    if operation == "delete" and not (Path(path) / ".hoodie").exists():
        return
    fields = SHAPES[shape]
    writer = frame.write.format("hudi").mode("append").options(**options)
    writer = writer.option("hoodie.table.name", "agree").option("hoodie.datasource.write.operation", operation)
    writer = writer.option("hoodie.datasource.write.recordkey.field", fields["recordkey"])
    writer = writer.option("hoodie.datasource.write.partitionpath.field", fields["partitionpath"])
    if fields["ordering"]:
        writer = writer.option("hoodie.table.ordering.fields", fields["ordering"])
    writer = writer.option("hoodie.datasource.write.table.type", fields.get("type", "COPY_ON_WRITE"))
    writer = writer.option("hoodie.write.table.version", fields.get("version", "9"))
    if "payload" in fields:
        writer = writer.option("hoodie.datasource.write.payload.class", fields["payload"])
    writer.save(path)


def content(path: str) -> list[tuple[Any, ...]]:
    """Rows with key and partition path; the other meta columns say which task wrote, not what."""
    if not (Path(path) / ".hoodie").exists():
        return []
    columns = ["_hoodie_record_key", "_hoodie_partition_path", *SCHEMA.names]
    result = HudiTable.open(path).to_arrow(columns=columns).to_pylist()
    return sorted((tuple(row.values()) for row in result), key=repr)
