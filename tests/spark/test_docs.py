"""What the pages show with Spark runs, and prints what they show."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.docs.pages import SERVER_PAGES, blocks, pages, run

WITH_SPARK = [page for page in pages() if page.name not in SERVER_PAGES and any(block.needs_spark for block in blocks(page))]


@pytest.mark.spark
@pytest.mark.parametrize("page", WITH_SPARK, ids=lambda page: page.stem)
def test_page_runs_on_spark(page: Path, tmp_path: Path, spark: SparkSession) -> None:
    try:
        run(page, tmp_path, spark)
    finally:
        for table in spark.catalog.listTables():
            spark.sql(f"DROP {'VIEW' if table.isTemporary else 'TABLE'} IF EXISTS {table.name}")
