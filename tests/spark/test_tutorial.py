"""The walks of the tutorial print what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi.examples import table_lifecycle as walks
from scripts.write_tutorial import TARGET, section

pytestmark = pytest.mark.spark


def test_walks_print_what_the_tutorial_shows(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        walks.show(spark, tmp_path)
    finally:
        for table in ("purchase", "purchase_mor", "purchase_summary", "purchase_updates", "rides"):
            spark.sql(f"DROP TABLE IF EXISTS {table}")
    assert section("walks", capsys.readouterr().out) in TARGET.read_text(encoding="utf-8"), "run `make tutorial`"
