"""What Spark finds under the name `hudi` in a session that pyhudi was not enabled for: an error that says what to do.

Spark looks for packages whose names begin with `pyspark_` when no class in its JVM has the name of a data source. So this is asked neither
where Apache Hudi is in the JVM, nor where `pyhudi.enable` was called. Design: docs/design/0031-tables-inside-the-jvm.md.
"""

from __future__ import annotations

from typing import NoReturn

from pyspark.errors import PySparkRuntimeError
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType


class DefaultSource(DataSource):
    """The data source `hudi` of a session that does not speak Hudi."""

    @classmethod
    def name(cls) -> str:
        """The format's name in `spark.read.format(...)`."""
        return "hudi"

    def schema(self) -> NoReturn:
        """Refuse: the session does not speak Hudi."""
        _refuse()

    def reader(self, schema: StructType) -> NoReturn:  # noqa: ARG002
        """Refuse: the session does not speak Hudi."""
        _refuse()

    def writer(self, schema: StructType, overwrite: bool) -> NoReturn:  # noqa: ARG002
        """Refuse: the session does not speak Hudi."""
        _refuse()

    def streamReader(self, schema: StructType) -> NoReturn:  # noqa: ARG002, N802 - Spark's name
        """Refuse: the session does not speak Hudi."""
        _refuse()

    def streamWriter(self, schema: StructType, overwrite: bool) -> NoReturn:  # noqa: ARG002, N802
        """Refuse: the session does not speak Hudi."""
        _refuse()


def _refuse() -> NoReturn:
    raise PySparkRuntimeError(
        "This Spark session does not speak Hudi yet: call pyhudi.enable(spark), or start it with"
        " pyhudi.enable(SparkSession.builder).getOrCreate()."
    )
