"""Delta Lake on Spark, deletion vectors: small changes of a large table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bench.contestants.small_changes import SmallChanges


class Contestant(SmallChanges):
    """A Delta table whose MERGE writes deletion vectors."""

    table = "l10"
    clauses = "USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
    settings: ClassVar[Mapping[str, str]] = {
        "spark.jars.packages": "io.delta:delta-spark_4.1_2.13:4.3.0",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
