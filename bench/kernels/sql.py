"""Statements on a warm session (W6, W10-SQL, W11, W11b): small writes, routing, incremental reads, merges that change nothing or little.

    python -m bench.kernels.sql --work <scratch folder> [--rows N]

Prints medians in milliseconds and ratios; a goal missed ends with status 1.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

import pyhudi

REPEATS = 15
#: Java compiles what ran some thousand times: a session that has run a kind of statement five times is warm.
WARM_UPS = 5
MERGE = "MERGE INTO {} t USING source s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"


class Report:
    """Lines with goals, and whether one was missed."""

    def __init__(self) -> None:
        self.missed = False

    def add(self, name: str, value: float, goal: float, unit: str = "ms") -> None:
        self.missed |= value > goal
        print(f"{name:<50} {value:10.2f} {unit:<3} goal {goal:g}{'' if value <= goal else '  MISSED'}", flush=True)


def median_ms(run: Callable[[int], object], repeats: int = REPEATS, warm_ups: int = WARM_UPS) -> float:
    """Return the median of some runs after those that warm up."""
    seconds = []
    for number in range(repeats + warm_ups):
        started = time.perf_counter()
        run(number)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[warm_ups:]) * 1000


def medians_in_turn(*runs: Callable[[], object]) -> list[float]:
    """Return the median milliseconds of each run, taken in turn, so that a machine that grows slower is so for all."""
    rounds = [[median_ms(lambda _, run=run: run(), 1, 0) for run in runs] for _ in range(REPEATS + WARM_UPS)]
    return [statistics.median(column) for column in zip(*rounds[WARM_UPS:], strict=True)]


def small_writes(spark: SparkSession, report: Report) -> None:
    """INSERT and MERGE of ten rows."""
    spark.sql("CREATE TABLE small (id INT, name STRING, ts BIGINT) USING hudi TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts')")

    def insert(number: int) -> object:
        values = ", ".join(f"({number * 10 + row}, 'n', {number})" for row in range(10))
        return spark.sql(f"INSERT INTO small VALUES {values}").collect()

    report.add("INSERT of ten rows", median_ms(insert), 200)

    def merge(number: int) -> object:
        values = ", ".join(f"({row}, 'm{number}', {100 + number})" for row in range(10))
        spark.sql(f"CREATE OR REPLACE TEMP VIEW source AS SELECT * FROM VALUES {values} AS v(id, name, ts)")
        return spark.sql(MERGE.format("small")).collect()

    report.add("MERGE of ten rows", median_ms(merge), 350)
    report.add("UPDATE of one row", median_ms(lambda n: spark.sql(f"UPDATE small SET name = 'u{n}' WHERE id = 3").collect()), 350)


def routing(spark: SparkSession, report: Report) -> None:
    """What a statement that does not touch Hudi pays for the front door."""
    plain = SparkSession.sql.__wrapped__
    text = "SELECT id FROM range(10) WHERE id > 3"
    with_door = median_ms(lambda _: spark.sql(text), 60)
    without = median_ms(lambda _: plain(spark, text), 60)
    report.add("routing of a plain statement, added", with_door - without, 5)


def incremental(spark: SparkSession, report: Report, rows: int, folder: Path, table_type: str) -> None:
    """The last two of twenty commits, against the files they wrote and against a scan of all."""
    name = f"history_{table_type}"
    columns = "(id BIGINT, name STRING, value DOUBLE, part INT)"
    properties = f"TBLPROPERTIES (primaryKey = 'id', type = '{table_type}')"
    spark.sql(f"CREATE TABLE {name} {columns} USING hudi PARTITIONED BY (part) {properties}")
    for number in range(20):
        spark.sql(f"INSERT INTO {name} SELECT id + {number * rows}, concat('n', id), id * 0.5, {number % 5} FROM range({rows})")
    table = pyhudi.HudiTable.open(folder / name)
    done = sorted(table.history().to_pylist(), key=lambda row: row["completed"])
    since, first = done[-3]["completed"], done[-2]["requested"]
    files = [str(file) for row in done[-2:] for file in (folder / name).rglob(f"*_{row['requested']}.parquet")]
    changes = f"SELECT sum(value), count(name) FROM hudi_table_changes('{name}', 'latest_state', '{since}')"
    scan = f"SELECT sum(value), count(name) FROM {name} WHERE _hoodie_commit_time >= '{first}'"
    assert spark.sql(changes).collect() == spark.sql(scan).collect()
    floor = median_ms(lambda _: spark.read.parquet(*files).selectExpr("sum(value)", "count(name)").collect())
    taken, whole = medians_in_turn(lambda: spark.sql(changes).collect(), lambda: spark.sql(scan).collect())
    report.add(f"incremental of {table_type}, two of twenty commits : their files", taken / floor, 2, "x")
    report.add(f"incremental of {table_type} : full scan with filter", taken / whole, 1, "x")


def merges(spark: SparkSession, report: Report, rows: int, folder: Path) -> None:
    """The same merge again, and three of a hundred columns on merge-on-read."""
    columns = ", ".join(f"id * {number} AS c{number}" for number in range(100))
    properties = "TBLPROPERTIES (primaryKey = 'id', type = 'mor', hoodie.compact.inline = 'false')"
    definition = ", ".join(f"c{number} BIGINT NOT NULL" for number in range(100))
    spark.sql(f"CREATE TABLE wide (id BIGINT, {definition}) USING hudi {properties}")
    spark.sql(f"INSERT INTO wide SELECT id, {columns} FROM range({rows})")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW source AS SELECT id, {columns} FROM range({rows // 10})")
    before = data_bytes(folder / "wide")
    spark.sql(MERGE.format("wide")).collect()
    report.add("the same rows merged again, bytes written", data_bytes(folder / "wide") - before, 0, "B")
    changed = "c1 + 1 AS c1, c2 + 1 AS c2, c3 + 1 AS c3"
    spark.sql(f"CREATE OR REPLACE TEMP VIEW source AS SELECT id, {changed} FROM wide WHERE id % 10 = 0")
    setting = "c1 = s.c1, c2 = s.c2, c3 = s.c3"
    spark.sql(f"MERGE INTO wide t USING source s ON t.id = s.id WHEN MATCHED THEN UPDATE SET {setting}").collect()
    written = data_bytes(folder / "wide") - before
    spark.sql("SELECT _hoodie_record_key, id, c1, c2, c3 FROM wide WHERE id % 10 = 0").coalesce(1).write.parquet(str(folder / "three"))
    report.add(
        "3 of 100 columns updated, bytes : theirs", written / sum(f.stat().st_size for f in (folder / "three").glob("*.parquet")), 1.3, "x"
    )


def data_bytes(table: Path) -> int:
    """Return how many bytes a table's data files have."""
    return sum(file.stat().st_size for file in table.rglob("*") if file.is_file() and ".hoodie" not in file.relative_to(table).parts[0])


def main() -> int:
    """Measure on a session of two cores."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.sql")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=50_000)
    arguments = parser.parse_args()
    folder = arguments.work / "sql-warehouse"
    shutil.rmtree(folder, ignore_errors=True)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.sql.warehouse.dir", str(folder)).config("spark.driver.host", "127.0.0.1")
    spark = pyhudi.enable(builder.config("spark.ui.showConsoleProgress", "false")).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    report = Report()
    small_writes(spark, report)
    routing(spark, report)
    for table_type in ("cow", "mor"):
        incremental(spark, report, arguments.rows, folder, table_type)
    merges(spark, report, arguments.rows, folder)
    spark.stop()
    return int(report.missed)


if __name__ == "__main__":
    sys.exit(main())
