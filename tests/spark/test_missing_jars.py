"""A table in a storage for which Spark has no jar: the storage is named, not the table called damaged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError, StorageError

fsspec = pytest.importorskip("fsspec")
local = pytest.importorskip("fsspec.implementations.local")

pytestmark = pytest.mark.spark


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Serves `s3://` and `s3a://` to Python from a local folder, so that only Spark lacks them."""
    registry = pytest.importorskip("fsspec.registry")

    class Folder(local.LocalFileSystem):  # type: ignore[name-defined, misc]
        cachable = False

        def __init__(self, **options: Any) -> None:
            super().__init__(auto_mkdir=True)

        @classmethod
        def _strip_protocol(cls, path: str) -> str:
            return path if path.startswith(str(tmp_path)) else f"{tmp_path}/{path.partition('://')[2].lstrip('/')}"

    monkeypatch.setattr(registry, "_registry", {**registry._registry, "s3": Folder, "s3a": Folder})
    monkeypatch.setattr(registry, "registry", registry._registry)
    return tmp_path


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_jar_that_is_missing_is_named(spark: SparkSession, bucket: Path, scheme: str) -> None:
    path, options = f"{scheme}://bucket/t", {"pyhudi.lock.file": str(bucket / "lock")}
    HudiTable.create(path, pa.schema({"id": pa.int64()}), name="t", keys=["id"], storage_options=options)
    HudiTable.open(path, options).upsert([{"id": 1}])
    for read in (lambda: spark.read.format("hudi").load(path).collect(), lambda: spark.sql(f"SELECT * FROM hudi.`{path}`").collect()):
        with pytest.raises(StorageError, match=r"says nothing about the table.*org.apache.hadoop:hadoop-aws:3\.") as caught:
            read()
        assert not isinstance(caught.value, CorruptTableError)
