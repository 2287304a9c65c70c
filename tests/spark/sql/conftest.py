"""A database of its own for each test, which is the current one while the test runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable

_NUMBERS = itertools.count(1)


class Sql:
    """Runs statements and hands back plain values."""

    def __init__(self, session: SparkSession, folder: Path, database: str) -> None:
        self.session = session
        self.folder = folder
        self.database = database

    def __call__(self, text: str, args: Any = None) -> list[tuple[Any, ...]]:
        frame = self.session.sql(text, args) if args else self.session.sql(text)
        return [tuple(row) for row in frame.collect()]

    def counts(self, text: str, args: Any = None) -> dict[str, int]:
        """What a writing statement answers, without the zeros."""
        (row,) = (self.session.sql(text, args) if args else self.session.sql(text)).collect()
        return {name: value for name, value in row.asDict().items() if value and name != "instant"}

    def table(self, name: str) -> HudiTable:
        return HudiTable.open(str(self.folder / name))

    def commits(self, name: str) -> int:
        result: int = self.table(name).history().num_rows
        return result


@pytest.fixture
def sql(spark: SparkSession, tmp_path: Path) -> Iterator[Sql]:
    database = f"sql_test_{next(_NUMBERS)}"
    folder = tmp_path / "db"
    spark.sql(f"CREATE DATABASE {database} LOCATION '{folder}'")
    spark.sql(f"USE {database}")
    yield Sql(spark, folder, database)
    spark.sql("USE default")
    for view in [table.name for table in spark.catalog.listTables() if table.isTemporary]:
        spark.catalog.dropTempView(view)
    spark.sql(f"DROP DATABASE {database} CASCADE")


@pytest.fixture(params=["cow", "mor"])
def people(sql: Sql, request: pytest.FixtureRequest) -> Sql:
    """A table of three people in two cities, of either type."""
    sql(
        "CREATE TABLE people (id INT, name STRING, age INT, city STRING) USING hudi PARTITIONED BY (city)"
        f" TBLPROPERTIES (primaryKey = 'id', type = '{request.param}')"
    )
    sql("INSERT INTO people VALUES (1, 'ann', 31, 'oslo'), (2, 'bob', 42, 'oslo'), (3, 'cid', 53, 'rome')")
    return sql
