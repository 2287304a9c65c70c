"""Floats that Spark or the reader of its scans turns into doubles: each is the double that Spark reads from the text of the float."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it
from pyspark.sql.types import DoubleType, FloatType, StructType

from pyhudi.spark.jvm import java_code, jvm
from pyhudi.spark.jvm.column_expressions import Expressions, column_of
from pyhudi.spark.scan.float_sql import double_of_text, exact_double, with_powers
from tests.unit.schema.test_promoted_rows import EDGES, RANGE

pytestmark = pytest.mark.spark

# All floats take half an hour of a core: in parts, so that a run that is stopped says how far it came.
PARTS = 16


def floats_of(spark: SparkSession, bits: DataFrame) -> DataFrame:
    """The floats `x` that have the bits of a column `id`, and the same below zero."""
    make = Expressions(spark)
    number = jvm.sql_parser(spark).parseExpression("CAST(id AS INT)")
    made = make.invoke_static("java.lang.Float", "intBitsToFloat", [number], make.java_type(FloatType()))
    return bits.select(F.explode(F.array(column_of(spark, made), -column_of(spark, made))).alias("x"))


def by_sql(spark: SparkSession, floats: DataFrame) -> DataFrame:
    """The floats `x` with their doubles `d` by the expression of a projection."""
    needed: list[str] = []
    sql = exact_double("x", needed)
    return with_powers(spark, floats, needed).select("x", F.expr(sql).alias("d"))


def by_reader(spark: SparkSession, floats: DataFrame) -> DataFrame:
    """The same by the method that the format of widened files calls for each float."""
    java_code.file_format(spark, StructType(), has_skeletons=False)
    make = Expressions(spark)
    number = jvm.sql_parser(spark).parseExpression("x")
    double = make.invoke_static("hudi.Widening", "exact", [number], make.java_type(DoubleType()))
    return floats.select("x", column_of(spark, double).alias("d"))


Doubles = Callable[[SparkSession, DataFrame], DataFrame]
WAYS = [by_sql, by_reader]


def others(spark: SparkSession, floats: DataFrame, way: Doubles) -> DataFrame:
    """The floats whose double is another than that of their text, zeros of another sign included."""
    doubles = way(spark, floats).select("x", "d", F.expr(double_of_text("x")).alias("t"))
    return doubles.where("NOT (d <=> t) OR CAST(d AS STRING) <> CAST(t AS STRING)")


@pytest.mark.parametrize("way", WAYS)
def test_floats_of_all_sizes_become_the_doubles_of_their_text(spark: SparkSession, way: Doubles) -> None:
    random = np.random.default_rng(7)
    near = [int(np.float32(edge).view(np.uint32)) + step for edge in EDGES for step in range(-40, 40)]
    special = np.array([0.0, np.inf, np.nan, 1e-45, 3.4e38, 0.1, 16777216.0], np.float32).view(np.uint32)
    bits = np.concatenate([near, special, random.integers(0, 1 << 31, 20_000), random.integers(RANGE[0], RANGE[1], 20_000)])
    frame = floats_of(spark, spark.createDataFrame([(int(one),) for one in bits], "id long"))
    assert frame.count() == 2 * len(bits)
    assert others(spark, frame, way).take(5) == []


def test_a_filter_on_the_double_takes_the_same_rows(spark: SparkSession) -> None:
    needed: list[str] = []
    sql = exact_double("x", needed)
    frame = spark.sql("SELECT CAST(id / 10 AS FLOAT) AS x FROM range(50) UNION ALL SELECT NULL")
    doubles = with_powers(spark, frame, needed).select(F.expr(sql).alias("d"))
    assert sorted(row["d"] for row in doubles.where("d = 0.1D OR d > 4.75D").collect()) == [0.1, 4.8, 4.9]
    assert doubles.where("d IS NULL").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("part", range(PARTS))
def test_all_floats_become_the_doubles_of_their_text_on_spark(spark: SparkSession, part: int, way: Doubles) -> None:
    first, end = RANGE
    bounds = [first + (end - first) * number // PARTS for number in (part, part + 1)]
    assert others(spark, floats_of(spark, spark.range(*bounds)), way).take(5) == []
