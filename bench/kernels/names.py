"""Queries of a Hudi table by its name, which a rule of the analyzer resolves, against the same by path, and of its Parquet files.

    python -m bench.kernels.names --work <scratch folder> [--rows N]

The ways are taken in turn, in one session, so that a machine that grows slower is so for all. A query by name asks the rule; by path,
Python makes the plan before Spark sees it. A session that was never enabled reads the Parquet files, too: what the rule costs queries of no
Hudi table. Prints medians and least times in milliseconds, and their ratios; a goal missed ends with status 1.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

import pyhudi

_REPEATS, _WARM_UPS, _MOST = 60, 15, 1.25
_QUERY = "SELECT count(*), sum(value) FROM {} WHERE id > 10"


def main() -> int:
    """Measure on a session of two cores."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.names")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000)
    arguments = parser.parse_args()
    folder = arguments.work / "names-warehouse"
    shutil.rmtree(folder, ignore_errors=True)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.sql.warehouse.dir", str(folder)).config("spark.driver.host", "127.0.0.1")
    plain = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    plain.sparkContext.setLogLevel("OFF")
    plain.range(arguments.rows).selectExpr("id", "id * 0.5 AS value").write.parquet(str(folder / "plain"))
    without_rule = plain.newSession()
    _view(without_rule, folder)
    without_rule.sql(_QUERY.format("files")).collect()  # its analyzer is made before there is a rule
    spark = pyhudi.enable(plain)
    _view(spark, folder)
    spark.sql("CREATE TABLE t (id BIGINT, value DOUBLE) USING hudi TBLPROPERTIES (primaryKey = 'id')")
    spark.sql(f"INSERT INTO t SELECT id, id * 0.5 FROM range({arguments.rows})")
    path = str(folder / "t")
    ways: dict[str, Callable[[], object]] = {
        "Parquet files, session without the rule": lambda: without_rule.sql(_QUERY.format("files")).collect(),
        "Parquet files": lambda: spark.sql(_QUERY.format("files")).collect(),
        "Hudi by path": lambda: _by_path(spark, path),
        "Hudi by name": lambda: spark.sql(_QUERY.format("t")).collect(),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(_REPEATS + _WARM_UPS):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            if turn >= _WARM_UPS:
                taken[name].append((time.perf_counter() - started) * 1000)
    spark.stop()
    for name, values in taken.items():
        print(f"{name:<42} median {statistics.median(values):8.2f} ms, least {min(values):8.2f} ms")
    names = list(ways)
    return int(any([_ratio(taken, names[1], names[0]), _ratio(taken, names[3], names[2])]))


def _view(session: SparkSession, folder: Path) -> None:
    session.read.parquet(str(folder / "plain")).createOrReplaceTempView("files")


def _by_path(spark: SparkSession, path: str) -> object:
    frame = spark.read.format("hudi").load(path)
    return frame.where("id > 10").selectExpr("count(*)", "sum(value)").collect()


def _ratio(taken: dict[str, list[float]], way: str, other: str) -> bool:
    """Print the ratio of two ways, and tell whether it is above the goal."""
    median = statistics.median(taken[way]) / statistics.median(taken[other])
    least = min(taken[way]) / min(taken[other])
    print(f"{way} : {other}  median {median:.2f}, least {least:.2f}, goal {_MOST}{'  MISSED' if least > _MOST else ''}")
    return least > _MOST


if __name__ == "__main__":
    raise SystemExit(main())
