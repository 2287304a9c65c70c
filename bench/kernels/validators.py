"""What SQL validators of a write cost, against reading what their queries name and running these.

    python -m bench.kernels.validators [--rows N] [--no-spark]

A write of one row into a partition of many is validated by two queries over one of its sixteen columns, before and after it. Processor
time is compared, of this process and of Spark's JVM. More than 1.25 times that of the queries ends with status 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from bench.kernels.widened_reads import spark_clock
from pyhudi import HudiTable

GOAL = 1.25
REPETITIONS = 7
OTHERS = 14
KEY = "hoodie.precommit.validators"
QUERIES = ("SELECT count(*) FROM <TABLE_NAME> WHERE fare IS NULL", "SELECT min(fare) FROM <TABLE_NAME>")
#: A file of its own for the row, and no services: what is left is the validation.
PLAIN = {"hoodie.parquet.small.file.limit": "0", "hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
VALIDATED = PLAIN | {
    KEY: "org.apache.hudi.client.validator.SqlQueryEqualityPreCommitValidator",
    f"{KEY}.equality.sql.queries": ";".join(QUERIES),
}
_keys = count(-1, -1)


def main() -> int:
    """Measure, print ratios."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.validators")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--no-spark", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = make(Path(folder, "t"), arguments.rows)
        ratios = {"DuckDB": ratio(table, lambda: by_duckdb(table), time.process_time)}
        if not arguments.no_spark:
            with spark_clock() as (session, spent):

                def by_spark() -> None:
                    rows = session.createDataFrame(table.to_arrow(columns=["fare"]))
                    rows.createOrReplaceTempView("rows")
                    for query in QUERIES:
                        session.sql(query.replace("<TABLE_NAME>", "rows")).collect()

                ratios["Spark"] = ratio(table, by_spark, lambda: time.process_time() + spent())
    for engine, value in ratios.items():
        print(f"{engine:8} {value:.2f}")
    return 0 if max(ratios.values()) <= GOAL else 1


def make(path: Path, rows: int) -> HudiTable:
    """Return a table of so many rows in one partition."""
    names = [f"other{number}" for number in range(OTHERS)]
    schema = pa.schema({"id": pa.int64(), "fare": pa.float64(), **dict.fromkeys(names, pa.string())})
    table = HudiTable.create(path, schema, name="t", keys=["id"])
    generator = np.random.default_rng(7)
    others = {name: pa.array(generator.integers(0, 1 << 30, rows)).cast(pa.string()) for name in names}
    table.bulk_insert(pa.table({"id": np.arange(rows), "fare": generator.normal(size=rows), **others}, schema=schema))
    return table


def by_duckdb(table: HudiTable) -> None:
    """Read the column, run the queries."""
    rows = table.to_arrow(columns=["fare"])
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        for query in QUERIES:
            connection.sql(query.replace("<TABLE_NAME>", "rows")).fetchall()


def ratio(table: HudiTable, queries: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return how the cost of validation compares with that of the queries before and after a write."""

    def write(options: dict[str, str]) -> Callable[[], object]:
        return lambda: table.insert([{"id": next(_keys), "fare": 1.0}], options | {"hoodie.write.set.null.for.missing.columns": "true"})

    plain, validated = write(PLAIN), write(VALIDATED)
    times: dict[str, list[float]] = {"plain": [], "validated": [], "queries": []}
    for _ in range(REPETITIONS):
        for name, work in (("plain", plain), ("validated", validated), ("queries", lambda: (queries(), queries()))):
            started = clock()
            work()
            times[name].append(clock() - started)
    medians = {name: statistics.median(spent[1:]) for name, spent in times.items()}
    print(", ".join(f"{name} {spent:.3f} s" for name, spent in medians.items()))
    return (medians["validated"] - medians["plain"]) / medians["queries"]


if __name__ == "__main__":
    sys.exit(main())
