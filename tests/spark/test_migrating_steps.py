"""The steps of the page about migrating that need Spark, on a table that Apache Hudi wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.docs.test_migrating_page import run_step
from tests.tables import unpack

pytestmark = pytest.mark.spark


def test_script_goes_on_with_a_table_of_apache_hudi(spark: SparkSession, tmp_path: Path) -> None:
    path = str(unpack("apache_hudi/all_types_v9", tmp_path))
    session = run_step("From Apache Hudi on the JVM", {}, number=1)["spark"]
    before = session.read.format("hudi").load(path)
    count, (row, *_) = before.count(), before.collect()
    options = {"hoodie.datasource.write.operation": "delete", "hoodie.table.name": "all_types_v9"}
    stated = session.read.format("hudi").load(path).where(f"_hoodie_record_key = '{row._hoodie_record_key}'")
    stated.drop(*[name for name in before.columns if name.startswith("_hoodie")]).write.format("hudi").options(**options).mode(
        "append"
    ).save(path)
    keys = {one._hoodie_record_key for one in session.read.format("hudi").load(path).collect()}
    assert len(keys) == count - 1
    assert row._hoodie_record_key not in keys
