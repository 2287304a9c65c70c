"""`pyhudi.enable`: a Spark session whose SQL and DataFrames speak Hudi."""

from __future__ import annotations

from typing import TypeVar

from pyspark.sql import SparkSession

from pyhudi.spark import session
from pyhudi.sql.front_door import run

Target = TypeVar("Target", SparkSession, SparkSession.Builder)


def enable(target: Target) -> Target:
    """Make a session, or every session that a builder gives, speak Hudi, and return it; calling it twice is harmless.

    Raises:
        UnsupportedError: a Spark Connect session or builder.
        UsageError: neither session nor builder.

    Example:
        >>> import pyhudi  # doctest: +SKIP
        >>> from pyspark.sql import SparkSession  # doctest: +SKIP
        >>> spark = pyhudi.enable(SparkSession.builder.master("local[*]")).getOrCreate()  # doctest: +SKIP
        >>> spark.read.format("hudi").load("/data/trips").show()  # doctest: +SKIP
    """
    return session.enable(target, sql=run)
