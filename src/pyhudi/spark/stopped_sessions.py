"""Sessions that were stopped, from whose context PySpark would take attributes of None."""

from __future__ import annotations

from pyspark.sql import SparkSession

from pyhudi.errors import UsageError


def is_running(session: SparkSession) -> bool:
    """Tell whether a session has not been stopped."""
    return session.sparkContext._jsc is not None  # noqa: SLF001 - said nowhere else


def check_running(session: SparkSession) -> None:
    """Refuse a stopped session.

    Raises:
        UsageError: it was stopped.
    """
    if not is_running(session):
        raise UsageError("This Spark session was stopped: get another one by pyhudi.enable(SparkSession.builder).getOrCreate().")
