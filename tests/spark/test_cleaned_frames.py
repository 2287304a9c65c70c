"""DataFrames that were planned before a clean deleted their files, or before a file was lost."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, UsageError

pytestmark = pytest.mark.spark
ONE_VERSION = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> HudiTable:
    schema = pa.schema({"id": pa.int64(), "city": pa.string()})
    made = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"], partition_by=["city"], table_type=request.param)
    made.insert(pa.table({"id": [1], "city": ["oslo"]}))
    return made


def test_frame_of_a_state_that_was_cleaned_says_so(spark: SparkSession, table: HudiTable) -> None:
    frame = spark.read.format("hudi").load(table.storage.uri)
    assert [row["id"] for row in frame.collect()] == [1]
    compacted = {"hoodie.compact.inline": "true", "hoodie.compact.inline.max.delta.commits": "1"}
    table.upsert(pa.table({"id": [1], "city": ["oslo"]}), options=compacted)
    (clean,) = table.services.clean(options=ONE_VERSION)
    with pytest.raises(UsageError, match=rf"oslo/.* was deleted by clean {clean.instant} .*read the table again"):
        frame.collect()
    assert [row["id"] for row in spark.read.format("hudi").load(table.storage.uri).collect()] == [1]


def test_frame_of_a_file_that_was_lost_says_so(spark: SparkSession, table: HudiTable) -> None:
    frame = spark.read.format("hudi").load(table.storage.uri)
    assert [row["id"] for row in frame.collect()] == [1]
    for path in (one.path for one in table.storage.list("oslo") if one.path.endswith(".parquet")):
        table.storage.delete(path)
    with pytest.raises(CorruptTableError, match=r"oslo/.*\.parquet of table .* is missing, and no clean"):
        frame.collect()
