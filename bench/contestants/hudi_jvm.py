"""Apache Hudi's own Spark bundle with its defaults, run by Apache Hudi's Python (`PYHUDI_REFERENCE_PYTHON`, `PYHUDI_REFERENCE_JAR`)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from bench.contestants.spark_session import builder

OPTIONS = {
    "hoodie.table.name": "l10",
    "hoodie.datasource.write.recordkey.field": "key",
    "hoodie.datasource.write.partitionpath.field": "",
    "hoodie.compact.inline": "false",
}


class Contestant:
    """The same table by `df.write.format("hudi")` of Apache Hudi."""

    table_type, suffix = "COPY_ON_WRITE", ""

    def __init__(self, inputs: Path, work: Path) -> None:
        self.inputs, self.base = inputs, work / f"hudi-jvm{self.suffix}"
        settings = {
            "spark.jars": os.environ["PYHUDI_REFERENCE_JAR"],
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
            "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
            "spark.sql.warehouse.dir": str(work / "warehouse-jvm"),
        }
        session = builder("hudi")
        for name, value in settings.items():
            session = session.config(name, value)
        self.spark = session.getOrCreate()

    def prepare_load(self, _: int) -> None:
        """Start from nothing."""
        shutil.rmtree(self.base, ignore_errors=True)

    def load(self, _: int) -> None:
        """Bulk-insert the whole table."""
        self.write(self.inputs / "load.parquet", "bulk_insert", "overwrite")

    def upsert(self, number: int) -> None:
        """Upsert one batch."""
        self.write(self.inputs / f"batch-{number}.parquet", "upsert", "append")

    def write(self, source: Path, operation: str, mode: str) -> None:
        """Write one file's rows."""
        frame = self.spark.read.parquet(str(source))
        options = {**OPTIONS, "hoodie.datasource.write.operation": operation, "hoodie.datasource.write.table.type": self.table_type}
        frame.write.format("hudi").options(**options).mode(mode).save(str(self.base))

    def count(self, _: int) -> int:
        """Row count."""
        return self.spark.read.format("hudi").load(str(self.base)).count()

    def sums(self, _: int) -> list:
        """Sum of three columns."""
        return list(self.spark.read.format("hudi").load(str(self.base)).selectExpr("sum(a)", "sum(x)", "sum(y)").first())

    def scan(self, _: int) -> None:
        """Every row, every column, thrown away."""
        self.spark.read.format("hudi").load(str(self.base)).write.format("noop").mode("overwrite").save()

    def prepare_commit10(self, number: int) -> None:
        """A table that has had its first commits."""
        if number == 0:
            self.spark.sql("DROP TABLE IF EXISTS small PURGE")
            self.spark.sql("CREATE TABLE small (id BIGINT, name STRING, x DOUBLE) USING hudi TBLPROPERTIES (primaryKey = 'id')")
            self.insert(-20)

    def commit10(self, number: int) -> None:
        """SQL INSERT of ten rows."""
        self.insert(10 * number)

    def insert(self, start: int) -> None:
        """Insert ten rows."""
        self.spark.sql("INSERT INTO small VALUES " + ", ".join(f"({start + n}, 'name {n}', {n}.5)" for n in range(10)))
