"""Reading a whole table without Spark against pyarrow's own scan of its files.

    python -m bench.kernels.scan --work <scratch folder> [--rows N] [--files N]

They take turns, ours with and without verifying the checksums of pages; printed are the best times of each and the ratio of the first
and the last, which is to stay below `GOAL`.
"""

from __future__ import annotations

import argparse
import functools
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from bench.data import load_batch
from pyhudi import HudiTable

GOAL = 1.1
COLUMNS: dict[str, list[str] | None] = {"every column": None, "three columns": ["a", "x", "y"], "one text": ["hex"]}


def make(base: Path, rows: int, files: int) -> HudiTable:
    """Return a table of so many base files."""
    shutil.rmtree(base, ignore_errors=True)
    data = load_batch(rows)
    table = HudiTable.create(str(base), data.schema, name="scan", keys=("key",))
    step = -(-rows // files)
    for start in range(0, rows, step):
        table.bulk_insert(data.slice(start, step))
    return table


def best(functions: Sequence[Callable[[], pa.Table]], rounds: int) -> list[float]:
    """Return the best time of each function in seconds; they take turns."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds):
        for function, result in zip(functions, times, strict=True):
            started = time.perf_counter()
            function()
            result.append(time.perf_counter() - started)
    return [min(result) for result in times]


def _scan(paths: Sequence[str], columns: list[str]) -> pa.Table:
    return ds.dataset(list(paths)).to_table(columns)


def main() -> int:
    """Run every comparison; the status is 1 when a ratio is above the goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    table = make(given.work / "scan", given.rows, given.files)
    paths = sorted(str(path) for path in (given.work / "scan").glob("*.parquet"))
    worst = 0.0
    for name, columns in COLUMNS.items():
        floor_scan = functools.partial(_scan, paths, columns or table.schema.names)
        unverified = functools.partial(table.to_arrow, columns, options={"pyhudi.read.verify.checksums": "false"})
        ours, without, floor = best([functools.partial(table.to_arrow, columns), unverified, floor_scan], given.rounds)
        print(f"{name}: {ours:.3f} s, {without:.3f} s without checksums, pyarrow {floor:.3f} s, ratio {ours / floor:.2f}", flush=True)
        worst = max(worst, ours / floor)
    return int(worst > GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
