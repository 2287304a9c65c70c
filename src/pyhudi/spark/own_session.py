"""A Spark session of this process's own, for commands that run their tasks on Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from pyhudi.spark.enabled_sessions import run_workers_here
from pyhudi.spark.engine.task_engine import SparkEngine


def session_engine() -> SparkEngine:
    """Return the engine of the process's Spark session, which is started if there is none; Spark's own configuration says where."""
    session = SparkSession.builder.appName("pyhudi").getOrCreate()
    run_workers_here(session)
    return SparkEngine(session)
