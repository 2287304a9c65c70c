"""Queries of pre-commit validators, run by the Spark session on temporary views."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from pyhudi.table.validation.query_runner import QueryRunner


def session_runner() -> QueryRunner | None:
    """Return what runs queries in the active session; None without one."""
    session = SparkSession.getActiveSession()
    if session is None:
        return None

    def run(query: str, tables: dict[str, pa.Table]) -> list[tuple[Any, ...]]:
        for name, rows in tables.items():
            session.createDataFrame(rows).createOrReplaceTempView(name)
        try:
            return [tuple(row) for row in session.sql(query).collect()]
        finally:
            for name in tables:
                session.catalog.dropTempView(name)

    return run
