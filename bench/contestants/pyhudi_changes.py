"""pyhudi on Spark, copy-on-write: small changes of a large table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pyspark.sql import SparkSession

import pyhudi
from bench.contestants.small_changes import SmallChanges


class Contestant(SmallChanges):
    """A Hudi table with the key as its primary key, default options."""

    table = "l10"
    clauses = "USING hudi TBLPROPERTIES (primaryKey = 'key', type = 'cow')"
    settings: ClassVar[Mapping[str, str]] = {"spark.sql.catalogImplementation": "in-memory"}

    def start(self, session: SparkSession.Builder) -> SparkSession:
        """Enable pyhudi."""
        return pyhudi.enable(session).getOrCreate()
