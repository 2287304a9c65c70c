"""Rows that the plan holds as values come without a job, and equal to those that Spark's Arrow road brings."""

from __future__ import annotations

import pytest

from pyhudi.spark.input.local_rows import local_rows

pytestmark = pytest.mark.spark


def brought(frame):
    return local_rows(frame, frame._jdf.queryExecution().optimizedPlan())


@pytest.mark.parametrize(
    "values",
    [
        "(1, 'a', 1.5D), (2, NULL, 2.5D)",
        "(12.34BD, DATE'2026-01-02', X'0102', true, 1.5F, 7L), (NULL, NULL, NULL, NULL, NULL, NULL)",
        "(DATE'0001-01-01', 'ünïcode 🦊', NULL)",
    ],
)
def test_values_are_equal_to_sparks_arrow(spark, values):
    frame = spark.sql(f"SELECT * FROM VALUES {values}")
    assert brought(frame).equals(frame.toArrow())


def test_no_values_keep_their_types(spark):
    frame = spark.sql("SELECT * FROM VALUES (1, 'a') AS t(i, s) WHERE i > 1")
    assert brought(frame).equals(frame.toArrow())


@pytest.mark.parametrize(
    "query", ["SELECT id FROM range(3)", "SELECT TIMESTAMP'2026-01-01 00:00:00' AS t FROM VALUES (1)", "SELECT array(1) FROM VALUES (1)"]
)
def test_other_plans_and_types_take_sparks_road(spark, query):
    assert brought(spark.sql(query)) is None
