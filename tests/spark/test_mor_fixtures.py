"""Merge-on-read tables written by Apache Hudi, merged on Spark: equal to what Apache Hudi read, and to the local reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from tests.tables import WITH_LOGS

pytestmark = pytest.mark.spark

FixtureTable = Callable[[str], Path]


def rows(table: pa.Table, columns: list[str]) -> list[str]:
    return sorted(map(repr, table.select(columns).to_pylist()))


@pytest.mark.parametrize("name", WITH_LOGS)
def test_snapshot_is_that_of_the_local_reader(spark: SparkSession, name: str, fixture_table: FixtureTable) -> None:
    path = fixture_table(name)
    frame = spark.read.format("hudi").load(str(path))
    local = HudiTable.open(path).to_arrow(meta_columns=True)
    result = frame.toArrow()
    compared = [column for column in result.column_names if not is_text_of_path(path, column)]
    assert rows(result, compared) == rows(local, compared)
    assert frame.count() == local.num_rows


@pytest.mark.parametrize("name", [name for name in WITH_LOGS if name.startswith("apache_hudi/")])
def test_columns_are_those_that_apache_hudi_shows(spark: SparkSession, name: str, fixture_table: FixtureTable) -> None:
    path = fixture_table(name)
    expected = pq.read_schema(path.parent / f"{path.name}.expected.parquet")
    assert spark.read.format("hudi").load(str(path)).columns == expected.names


def is_text_of_path(path: Path, column: str) -> bool:
    """Partition columns of timestamp-based key generators show the text of the path on Spark, the file's value locally."""
    config = HudiTable.open(path).config
    return config.key_generator.family.value == "TIMESTAMP" and column in config.partition_fields


def test_block_of_version_6_counts_only_while_its_instant_does(spark: SparkSession, fixture_table: FixtureTable) -> None:
    path = fixture_table("apache_hudi/merge_on_read_avro_blocks_v6")
    before = spark.read.format("hudi").load(str(path)).toArrow()
    max((path / ".hoodie").glob("*.deltacommit")).unlink()  # the instant is inflight again; its log file stays as it was
    after = spark.read.format("hudi").load(str(path)).toArrow()
    assert rows(after, after.column_names) == rows(HudiTable.open(path).to_arrow(meta_columns=True), after.column_names)
    assert rows(after, after.column_names) != rows(before, before.column_names)
