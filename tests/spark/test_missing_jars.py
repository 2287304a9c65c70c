"""A table in a storage for which Spark has no jar: the storage is named, not the table called damaged."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, StorageError
from tests.unit.storage.cloud_store import serve_from_memory

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_jar_that_is_missing_is_named(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    serve_from_memory(monkeypatch)  # to Python, so that only Spark lacks them
    path = f"{scheme}://bucket/t"
    HudiTable.create(path, pa.schema({"id": pa.int64()}), name="t", keys=["id"])
    HudiTable.open(path).upsert([{"id": 1}])
    for read in (lambda: spark.read.format("hudi").load(path).collect(), lambda: spark.sql(f"SELECT * FROM hudi.`{path}`").collect()):
        with pytest.raises(StorageError, match=r"says nothing about the table.*org.apache.hadoop:hadoop-aws:3\.") as caught:
            read()
        assert not isinstance(caught.value, CorruptTableError)
