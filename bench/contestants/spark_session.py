"""The session of the Spark contestants: two cores, no UI, the same settings for each."""

from __future__ import annotations

from pyspark.sql import SparkSession


def builder(name: str) -> SparkSession.Builder:
    """Return the builder all Spark contestants share."""
    return (
        SparkSession.builder.master("local[2]")
        .appName(name)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.parquet.compression.codec", "zstd")
        .config("spark.log.level", "ERROR")
    )
