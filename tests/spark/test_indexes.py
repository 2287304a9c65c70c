"""Indexes on Spark: buckets are reached by a hash of the key, records that began in logs are found, as by the local engine."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.fsview import committed_sizes
from pyhudi.index import resolve_index
from pyhudi.index.bucket_numbers import bucket_of
from pyhudi.kernels.arrays.bucket_hash import list_hashes

pytestmark = pytest.mark.spark

SCHEMA = pa.schema({"id": pa.string(), "city": pa.string(), "value": pa.int64()})
SPARK = {"pyhudi.engine": "spark", "hoodie.compact.inline": "false", "hoodie.metadata.enable": "false"}
BUCKET = {**SPARK, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "3"}
CONSISTENT_HASHING = {**BUCKET, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}


def rows(spark: SparkSession, first: int, end: int, value: int):
    numbers = range(first, end)
    columns = {"id": [f"ké{n}" for n in numbers], "city": ["lima" if n % 3 else None for n in numbers], "value": [value] * len(numbers)}
    return spark.createDataFrame(pa.table(columns, schema=SCHEMA))


def values(table: HudiTable) -> dict[str, int]:
    table_rows = table.to_arrow()
    assert table_rows.num_rows == len(set(table_rows["id"].to_pylist()))
    return dict(zip(table_rows["id"].to_pylist(), table_rows["value"].to_pylist(), strict=True))


@pytest.mark.parametrize(
    ("options", "kind"), [pytest.param(BUCKET, "COPY_ON_WRITE", marks=pytest.mark.slow), (CONSISTENT_HASHING, "MERGE_ON_READ")]
)
def test_spark_tasks_and_the_local_engine_meet_in_the_buckets(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], kind: str
) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type=kind)
    table.bulk_insert(rows(spark, 0, 20, 1), options=options)
    table.upsert(rows(spark, 10, 40, 2).toArrow(), options={name: text for name, text in options.items() if name != "pyhudi.engine"})
    result = table.upsert(rows(spark, 30, 50, 3), options=options)
    table.delete(rows(spark, 48, 60, 0), options=options)
    assert (result.index, result.engine) == ("BUCKET", "spark")
    assert values(table) == {f"ké{n}": 1 if n < 10 else 2 if n < 30 else 3 for n in range(48)}
    stored = table.to_arrow(meta_columns=True)
    groups = {
        (path, name.partition("_")[0])
        for path, name in zip(stored["_hoodie_partition_path"].to_pylist(), stored["_hoodie_file_name"].to_pylist(), strict=True)
    }
    assert len(groups) <= 6
    if options is BUCKET:
        numbers = (list_hashes(stored["_hoodie_record_key"].combine_chunks(), ["id"]) % 3).tolist()
        assert [bucket_of(name) for name in stored["_hoodie_file_name"].to_pylist()] == numbers


def test_records_that_only_logs_hold_are_updated_where_they_are(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committed_sizes, "stated_files", lambda *_: {})  # other writers begin file groups by logs; here base files go
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ")
    table.upsert(rows(spark, 0, 6, 1), options=SPARK)
    table.upsert(rows(spark, 0, 6, 2), options=SPARK)
    for base in table.inspect.files().filter(pa.compute.field("kind") == "base")["path"].to_pylist():
        table.storage.delete(base)
    result = table.upsert(rows(spark, 3, 9, 3), options=SPARK)
    assert values(table) == {f"ké{n}": 2 if n < 3 else 3 for n in range(9)}
    assert result.index == "SIMPLE"


@pytest.mark.slow
def test_record_index_that_nobody_named_is_asked_in_spark_tasks_where_it_costs_less_than_a_join(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}
    in_tasks = {**records, "pyhudi.engine": "spark"}
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])
    table.upsert(rows(spark, 0, 6, 1).toArrow(), options=records)
    upserted = table.upsert(rows(spark, 3, 9, 2), options=in_tasks)
    assert (upserted.index, upserted.engine) == ("RECORD_LEVEL_INDEX", "spark")
    assert "ask its file groups" in upserted.index_reason
    monkeypatch.setattr(resolve_index, "_lookup_pays", lambda _keys, _size: False)  # as for many rows
    joined = table.upsert(rows(spark, 8, 10, 3), options=in_tasks)
    assert (joined.index, joined.engine) == ("SIMPLE", "spark")
    assert "join" in joined.index_reason
    assert values(table) == {f"ké{n}": 1 if n < 3 else 2 if n < 8 else 3 for n in range(10)}
