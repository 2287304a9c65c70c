"""Spark's own Parquet to Parquet: the floor of the Spark lane."""

from __future__ import annotations

from pathlib import Path

from bench.contestants.spark_session import builder


class Contestant:
    """Plain Parquet files, written and read by Spark."""

    def __init__(self, inputs: Path, work: Path) -> None:
        self.inputs, self.base = inputs, work / "spark-parquet"
        self.spark = builder("parquet").getOrCreate()

    def load(self, _: int) -> None:
        """Copy the input."""
        self.spark.read.parquet(str(self.inputs / "load.parquet")).write.mode("overwrite").parquet(str(self.base))

    def count(self, _: int) -> int:
        """Row count."""
        return self.spark.read.parquet(str(self.base)).count()

    def sums(self, _: int) -> list[float]:
        """Sum of three columns."""
        row = self.spark.read.parquet(str(self.base)).selectExpr("sum(a)", "sum(x)", "sum(y)").first()
        return list(row) if row else []

    def scan(self, _: int) -> None:
        """Every row, every column, thrown away."""
        self.spark.read.parquet(str(self.base)).write.format("noop").mode("overwrite").save()
