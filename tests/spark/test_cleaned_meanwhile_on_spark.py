"""A write of Spark whose files are cleaned away before or while it looks its keys up is a conflict, and is repeated."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import WriteConflictError
from pyhudi.spark.index_join import key_join
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
