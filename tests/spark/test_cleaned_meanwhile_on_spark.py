"""A write of Spark whose files are cleaned away before or while it looks its keys up is a conflict, and is repeated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi import HudiTable
from pyhudi.errors import WriteConflictError
from pyhudi.spark.index_join import bucket_join, key_join, key_search
from tests.spark.test_optimistic import MODE, RETRIES, TABLE, check_sound
from tests.spark.test_optimistic import path as path  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.spark

OCC = {MODE: "optimistic_concurrency_control"}
COMPACTED = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
ONE_VERSION = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}


def rewrite(path: str) -> None:
    """Rewrite all files of the table, and clean up."""
    table = HudiTable.open(path)
    table.upsert(pa.table({"id": [0, 1], "city": ["oslo", "rome"], "ts": [7, 7], "n": [7, 7]}), options=OCC | COMPACTED)
    table.services.clean(options=OCC | ONE_VERSION)


BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2", "hoodie.bucket.index.hash.field": "id"}


def test_files_of_buckets_that_are_cleaned_meanwhile_are_a_conflict(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index reads no file: the first one that is missing is that which a task merges with."""
    path = str(tmp_path / "t")
    rows = spark.range(20).selectExpr("id", "IF(id % 2 = 0, 'oslo', 'rome') AS city", "0L AS ts", "0L AS n")
    rows.write.format("hudi").options(**TABLE, **BUCKETS).save(path)
    bucket_labels, times = bucket_join.bucket_labels, iter(range(2))

    def interrupted(*args: Any, **named: Any) -> Any:
        labels = bucket_labels(*args, **named)
        if next(times, None) is not None:
            HudiTable.open(path).update({"n": "7"}, options=OCC)
            HudiTable.open(path).services.clean(options=OCC | ONE_VERSION)
        return labels

    monkeypatch.setattr(key_search, "bucket_labels", interrupted)
    new = rows.filter("id BETWEEN 4 AND 7").withColumn("ts", F.lit(9)).withColumn("n", F.lit(9))
    writer = new.write.format("hudi").options(**TABLE, **OCC, **BUCKETS, **{"pyhudi.engine": "spark"}).mode("append")
    with pytest.raises(WriteConflictError, match="was cleaned by"):
        writer.save(path)
    writer.option(RETRIES, "3").save(path)
    ids = [(row["id"], row["n"]) for row in HudiTable.open(path).to_arrow().to_pylist()]
    assert sorted(ids) == [(number, 9 if 4 <= number < 8 else 7) for number in range(20)]
    check_sound(path)


@pytest.mark.parametrize("when", ["before", "while"])
def test_files_that_are_cleaned_meanwhile_are_a_conflict(
    spark: SparkSession, path: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored_keys, times = key_join._stored_keys, iter(range(2))

    def interrupted(*args: Any) -> Any:
        is_first = next(times, None) is not None
        if is_first and when == "before":
            rewrite(path)
        keys = stored_keys(*args)
        if is_first and when == "while":
            rewrite(path)
        return keys

    monkeypatch.setattr(key_join, "_stored_keys", interrupted)
    rows = spark.range(4, 8).selectExpr("id", "IF(id % 2 = 0, 'oslo', 'rome') AS city", "9L AS ts", "9L AS n")
    writer = rows.write.format("hudi").options(**TABLE, **OCC, **{"pyhudi.engine": "spark", "hoodie.index.type": "SIMPLE"}).mode("append")
    with pytest.raises(WriteConflictError, match="was cleaned by"):
        writer.save(path)
    writer.option(RETRIES, "3").save(path)  # which meets a clean again in its first attempt
    ids = {row["id"]: row["n"] for row in HudiTable.open(path).to_arrow().to_pylist()}
    assert ids == {number: 7 if number < 2 else 9 if 4 <= number < 8 else 0 for number in range(20)}
    check_sound(path)
