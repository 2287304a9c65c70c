"""What a Python user waits for: a row by its key from DuckDB and polars, a scan on all cores, a merge against an upsert, `pyhudi show`.

    python -m bench.kernels.hands --work <scratch folder> [--rows N] [--rounds N]

The table of eight files is made once and kept. What is compared takes turns in one run; printed are the best elapsed times, their ratio
against the goal, and the ratio of processor times, which says more on a machine that others load (but for the scan).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

import pyhudi.read.snapshot.prefetch as prefetch
from bench.data import keys_of, load_batch, rows_of
from pyhudi import HudiTable

GOALS: Final = {"DuckDB by key": 2.0, "polars by key": 2.0, "scan on all cores": 0.6, "merge": 1.2, "pyhudi show (s)": 0.5}
_FILES: Final = 8
_MERGED: Final = 100  # one row of so many is merged

Best = tuple[float, float]


def make(path: Path, rows: int) -> HudiTable:
    """Return a table of eight files, which is made when it is not there."""
    if not (path / ".hoodie").exists():
        data = load_batch(rows)
        table = HudiTable.create(path, data.schema, name="hands", keys=["key"])
        for start in range(0, rows, -(-rows // _FILES)):
            table.bulk_insert(data.slice(start, -(-rows // _FILES)))
    return HudiTable.open(path)


def best(functions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Best]:
    """Return the best elapsed and processor seconds of each function; they take turns."""
    times: dict[str, list[Best]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            used, started = time.process_time(), time.perf_counter()
            function()
            times[name].append((time.perf_counter() - started, time.process_time() - used))
    return {name: (min(one[0] for one in all_times), min(one[1] for one in all_times)) for name, all_times in times.items()}


def by_key(table: HudiTable, rows: int, rounds: int) -> dict[str, Best]:
    """One row by its key: `filter=`, a query of DuckDB, and a predicate of polars."""
    key = keys_of(np.array([rows // 3])).to_pylist()[0]

    def of_duckdb() -> object:
        scan = table.scan()  # noqa: F841 - DuckDB finds it by its name
        return duckdb.sql(f"SELECT * FROM scan WHERE key = '{key}'").fetchall()

    return best(
        {
            "filter=": lambda: table.to_arrow(filter=f"key = '{key}'"),
            "DuckDB by key": of_duckdb,
            "polars by key": lambda: table.scan().to_polars().filter(pl.col("key") == key).collect(),
        },
        rounds,
    )


def scans(table: HudiTable, rounds: int) -> dict[str, Best]:
    """All rows, with one thread and with all."""
    threads, cores = prefetch.THREADS, pa.cpu_count()

    def with_threads(readers: int, count: int) -> object:
        prefetch.THREADS = readers  # type: ignore[misc]
        pa.set_cpu_count(count)
        return table.to_arrow()

    result = best({"one thread": lambda: with_threads(1, 1), "scan on all cores": lambda: with_threads(threads, cores)}, rounds)
    with_threads(threads, cores)
    return result


def changes(path: Path, rows: int, rounds: int) -> dict[str, Best]:
    """An upsert and a merge of a hundredth of the rows, each into a copy of the table; each round has other values."""
    ids = np.arange(0, rows, _MERGED)
    batches = {name: iter([rows_of(ids, seed=2 + number) for number in range(rounds)]) for name in ("upsert", "merge")}
    tables = {}
    for name in batches:
        copy = path.with_name(f"{path.name}-{name}")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(path, copy)
        tables[name] = HudiTable.open(copy)
    return best(
        {
            "upsert": lambda: tables["upsert"].upsert(next(batches["upsert"])),
            "merge": lambda: tables["merge"].merge(next(batches["merge"])).when_matched_update().when_not_matched_insert().execute(),
        },
        rounds,
    )


def show(path: Path, rounds: int) -> Best:
    """`pyhudi show` from the prompt; its processor time is that of another process and not counted."""
    command = [sys.executable, "-m", "pyhudi", "show", str(path)]
    return best({"show": lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)}, rounds)["show"]


def main() -> int:
    """Measure, print, and return 1 when a ratio of elapsed times is above its goal."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.hands", description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    path = given.work / f"hands-{given.rows}"
    table = make(path, given.rows)
    missed = 0
    for measured in (by_key(table, given.rows, given.rounds), scans(table, given.rounds), changes(path, given.rows, given.rounds)):
        (base, against), *others = measured.items()
        for name, seconds in others:
            ratio, processor = seconds[0] / against[0], seconds[1] / against[1]
            print(f"{name}: {seconds[0]:.3f} s, {base} {against[0]:.3f} s, ratio {ratio:.2f}, of processor time {processor:.2f}", end=" ")
            print(f"(goal {GOALS[name]})", flush=True)
            missed += ratio > GOALS[name]
    seconds, _ = show(path, given.rounds)
    print(f"pyhudi show: {seconds:.3f} s (goal {GOALS['pyhudi show (s)']})")
    return int(missed > 0 or seconds > GOALS["pyhudi show (s)"])


if __name__ == "__main__":
    raise SystemExit(main())
