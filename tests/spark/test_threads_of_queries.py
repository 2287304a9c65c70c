"""Threads of one session ask at the same time, and each gets the rows of its own query."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from pyhudi import HudiTable
from pyhudi.spark.scan.directories import Directory, partition_values
from tests.unit.table.tables import SCHEMA, ride

pytestmark = pytest.mark.spark
THREADS = 4


def test_files_of_several_queries_are_not_mixed(spark: SparkSession) -> None:
    values = partition_values(spark, StructType([StructField("city", StringType())]).json())

    def named(thread: int) -> list[str]:
        listed = [Directory((f"{thread}-{number}",), ((f"/t/{thread}/{number}", thread, number),)) for number in range(20)]
        return [values.directories(listed).toString() for _ in range(20)]

    with ThreadPoolExecutor(THREADS) as pool:
        for thread, answers in enumerate(pool.map(named, range(THREADS))):
            assert set(answers) == {named(thread)[0]}, f"thread {thread}"


def test_queries_of_several_tables_give_their_rows(spark: SparkSession, tmp_path: Path) -> None:
    cities = [f"city {number}" for number in range(10)]
    for thread in range(THREADS):
        table = HudiTable.create(tmp_path / str(thread), SCHEMA, name="rides", keys=["id"], partition_by=["city"])
        table.upsert([ride(thread * 1000 + number, city) for number, city in enumerate(cities)])

    def read(thread: int) -> list[list[tuple[int, str]]]:
        text = f"SELECT id, city FROM hudi.`{tmp_path}/{thread}` WHERE value = 0 ORDER BY id"
        return [[(row.id, row.city) for row in spark.sql(text).collect()] for _ in range(4)]

    with ThreadPoolExecutor(THREADS) as pool:
        for thread, answers in enumerate(pool.map(read, range(THREADS))):
            expected = [(thread * 1000 + number, city) for number, city in enumerate(cities)]
            assert answers == [expected] * len(answers)
