"""Spark's native scan of the very files of pyhudi's Spark table: the floor of its reads."""

from __future__ import annotations

from pathlib import Path

from bench.contestants.spark_session import builder


class Contestant:
    """Reads the newest base files that `pyhudi_spark` wrote, as raw Parquet."""

    def __init__(self, inputs: Path, work: Path) -> None:
        self.base = work / "pyhudi-spark"
        self.spark = builder("raw").getOrCreate()

    def newest(self) -> list[str]:
        """Paths of the newest file of each file group."""
        result: dict[str, Path] = {}
        for path in sorted(self.base.glob("*.parquet"), key=lambda p: p.stem.rsplit("_", 1)[-1]):
            result[path.name.split("_")[0]] = path
        return [str(path) for path in result.values()]

    def count(self, _: int) -> int:
        """Row count."""
        return self.spark.read.parquet(*self.newest()).count()

    def sums(self, _: int) -> list[float]:
        """Sum of three columns."""
        row = self.spark.read.parquet(*self.newest()).selectExpr("sum(a)", "sum(x)", "sum(y)").first()
        return list(row) if row else []

    def scan(self, _: int) -> None:
        """Every row, every column, thrown away."""
        self.spark.read.parquet(*self.newest()).write.format("noop").mode("overwrite").save()
