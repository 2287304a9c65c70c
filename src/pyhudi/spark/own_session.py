"""A Spark session of this process's own, for commands that run their tasks on Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from pyhudi.spark.enabled_sessions import use_for_workers
from pyhudi.spark.engine.task_engine import SparkEngine


def session_engine(master: str | None = None, memory: str | None = None) -> SparkEngine:
    """Return the engine of the process's Spark session, which is started if there is none.

    Args:
        master: of a session that is started; None is what Spark's own configuration says.
        memory: of its driver and executors, as `4g`; None the same.
    """
    builder = SparkSession.builder.appName("pyhudi")
    if master is not None:
        builder = builder.master(master)
    if memory is not None:
        builder = builder.config("spark.driver.memory", memory).config("spark.executor.memory", memory)
    session = builder.getOrCreate()
    use_for_workers(session)
    return SparkEngine(session)
