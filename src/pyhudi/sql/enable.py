"""`pyhudi.enable`: a Spark session, or the builder of one, learns to speak Hudi."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pyspark.sql import SparkSession

from pyhudi.spark import session
from pyhudi.spark.catalog import catalog_functions
from pyhudi.spark.enabled_sessions import is_enabled
from pyhudi.sql import dispatch

Target = TypeVar("Target", SparkSession, SparkSession.Builder)


def enable(target: Target) -> Target:
    """Make a session, or every session that a builder gives, speak Hudi; harmless when done before.

    Args:
        target: A `SparkSession`, or a `SparkSession.builder`.

    Returns:
        What was given.

    Raises:
        UnsupportedError: the session is, or the builder would give, a Spark Connect client.
        UsageError: `target` is neither session nor builder.

    Example:
        >>> spark = pyhudi.enable(SparkSession.builder.master("local[*]")).getOrCreate()
        >>> _ = spark.sql(f"CREATE TABLE t (id INT) USING hudi TBLPROPERTIES (primaryKey = 'id') LOCATION '{folder}/t'")
        >>> _ = spark.sql("INSERT INTO t VALUES (1), (2)")
        >>> spark.table("t").count()
        2
        >>> _ = spark.sql("DROP TABLE t")
    """
    catalog_functions.install(is_enabled)
    return session.enable(target, dispatch.run)


def start_enabled(builder: SparkSession.Builder, original: Callable[[], SparkSession]) -> SparkSession:
    """Return what a builder gives by its method `original`, enabled; a Spark Connect client as it is."""
    if session.asks_for_connect(builder):
        return original()
    catalog_functions.install(is_enabled)
    return session.start_enabled(builder, original, dispatch.run)


def disable(target: Target) -> Target:
    """Undo `enable`: the session is as if pyhudi were not there; harmless when it was not enabled, and `enable` works again afterwards.

    As soon as no enabled session is left, PySpark's classes have their own methods again. Names of Hudi tables are refused in the session
    by an error that says so. Stop streams that read or write Hudi tables before.

    Args:
        target: A `SparkSession`, or a `SparkSession.builder` whose later sessions stay disabled.

    Returns:
        What was given.

    Raises:
        UnsupportedError: the session is a Spark Connect client.
        UsageError: `target` is neither session nor builder.

    Example:
        >>> pyhudi.disable(spark).sql("SELECT 1").first()
        Row(1=1)
        >>> spark = pyhudi.enable(spark)
    """
    return session.disable(target)
