"""The settings of Hadoop that the session at work states: credentials and addresses of tables on S3, the address of the metastore."""

from __future__ import annotations

from typing import cast

from pyspark import SparkContext
from pyspark.sql import SparkSession

from pyhudi.spark.jvm import jvm
from pyhudi.storage.remote.hadoop_settings import Lookup

_SPARK_PREFIX = "spark.hadoop."


def s3a_settings() -> Lookup | None:
    """Return how the active session, or the first of this process, answers for settings of Hadoop; None where no session is running.

    Rules: `SessionState.newHadoopConf`: what `spark.hadoop.*` said when Spark started, and what the session has set since.
    """
    if SparkContext._active_spark_context is None:  # noqa: SLF001 - said nowhere else
        return None
    session = SparkSession.getActiveSession() or SparkSession._instantiatedSession  # noqa: SLF001 - said nowhere else
    if session is None:
        return None
    settings = jvm.jvm_session(session).sessionState().newHadoopConf()

    def lookup(name: str) -> str | None:
        return cast("str | None", settings.get(f"{_SPARK_PREFIX}{name}") or settings.get(name))

    return lookup
