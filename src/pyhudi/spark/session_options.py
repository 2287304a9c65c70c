"""The `hoodie.*` settings of a Spark session, as `SET hoodie.x = y` and `spark.hoodie.x` state them."""

from __future__ import annotations

from pyspark.sql import SparkSession

from pyhudi.spark import jvm

_PREFIX = "hoodie."
_SPARK_PREFIX = "spark.hoodie."


def session_options(session: SparkSession) -> dict[str, str]:
    """Return the session's `hoodie.*` settings in one round trip; `spark.hoodie.x` loses to `hoodie.x`."""
    found = jvm.entries_of(jvm.jvm_session(session).conf().getAll())
    spark = {key.removeprefix("spark."): value for key, value in found.items() if key.startswith(_SPARK_PREFIX)}
    return {**spark, **{key: value for key, value in found.items() if key.startswith(_PREFIX)}}
