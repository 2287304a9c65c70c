"""Apache Iceberg on Spark, format version 3, merge-on-read: small changes of a large table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from bench.contestants.small_changes import SmallChanges


class Contestant(SmallChanges):
    """An Iceberg table whose MERGE writes deletion vectors."""

    table = "ice.db.l10"
    clauses = (
        "USING iceberg TBLPROPERTIES ('format-version' = '3', 'write.merge.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read',"
        " 'write.delete.mode' = 'merge-on-read', 'write.distribution-mode' = 'none')"
    )
    settings: ClassVar[Mapping[str, str]] = {
        "spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": "{warehouse}",
    }
