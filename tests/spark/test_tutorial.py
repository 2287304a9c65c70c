"""The life of a table in the tutorial prints what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pyhudi.examples import table_lifecycle
from scripts.write_tutorial import TARGET, section

pytestmark = pytest.mark.spark


def test_the_life_of_a_table_prints_what_the_tutorial_shows(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        table_lifecycle.show(spark, tmp_path)
    finally:
        for table in ("purchase", "purchase_mor", "purchase_summary", "purchase_updates", "rides"):
            spark.sql(f"DROP TABLE IF EXISTS {table}")
    assert section("table_lifecycle", capsys.readouterr().out) in TARGET.read_text(encoding="utf-8"), "run `make tutorial`"
