"""Tables on S3 are options_given with the `fs.s3a.*` settings of the Spark session."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.storage.open_storage import open_storage
from pyhudi.storage.remote import cloud_client
from pyhudi.storage.remote.cloud_storage import CloudStorage
from tests.unit.storage.cloud_store import new_url, serve_from_memory

pytestmark = pytest.mark.spark


def test_frames_and_sql_open_tables_with_the_settings_of_the_session(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    serve_from_memory(monkeypatch)
    url = new_url()
    HudiTable.create(url, pa.schema({"id": pa.int64()}), name="t", keys=["id"])
    options_given: list[dict[str, str]] = []
    open_store = cloud_client.open_store

    def note(table: str, options: tuple[tuple[str, str], ...]) -> object:
        options_given.append(dict(options))
        return open_store(table, options)

    monkeypatch.setattr(cloud_client, "open_store", note)
    spark.conf.set("fs.s3a.access.key", "A")
    spark.conf.set("fs.s3a.secret.key", "S")
    try:
        spark.createDataFrame([(1,)], "id long").write.format("hudi").mode("append").save(url)
        assert spark.sql(f"CALL show_clustering(path => '{url}')").count() == 0
    finally:
        spark.conf.unset("fs.s3a.access.key")
        spark.conf.unset("fs.s3a.secret.key")
    assert options_given
    assert all(options == {"fs.s3a.access.key": "A", "fs.s3a.secret.key": "S"} for options in options_given), options_given
    assert open_storage(url) == CloudStorage(url), "settings that the session does not state any more are not used"
