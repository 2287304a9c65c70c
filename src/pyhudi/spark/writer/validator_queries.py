"""Queries of pre-commit validators, run by the Spark session on temporary views."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from pyhudi.table.validation.query_runner import QueryRunner


def session_runner() -> QueryRunner | None:
    """Return what runs queries in the active session; None without one.

    Rows are brought to Spark once, for all queries on them.
    """
    session = SparkSession.getActiveSession()
    if session is None:
        return None

    frames: dict[str, tuple[pa.Table, DataFrame]] = {}

    def run(query: str, tables: dict[str, pa.Table]) -> list[tuple[Any, ...]]:
        for name, rows in tables.items():
            if name not in frames or frames[name][0] is not rows:
                frames[name] = rows, session.createDataFrame(rows)
            frames[name][1].createOrReplaceTempView(name)
        try:
            return [tuple(row) for row in session.sql(query).collect()]
        finally:
            for name in tables:
                session.catalog.dropTempView(name)

    return run
