"""Clustering of 400 small files into four (W8): as bytes, encoded again, sorted, by a curve; beside floors and Apache Hudi.

    python -m bench.kernels.clusterings --work <scratch folder> [--rows N] [--files N] [--rounds N] [--hudi]

The floors copy the bytes of the files, and read, sort and write them with pyarrow; each file is synced, as those of a table are. All take
turns on fresh links to the same files; printed are medians of processor time and elapsed time. With `--hudi` Apache Hudi, run by
`PYHUDI_REFERENCE_PYTHON` with `PYHUDI_REFERENCE_JAR`, clusters copies of the same table in the same run, elapsed time without its start.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.data import write_inputs
from bench.process import ROOT
from pyhudi import HudiTable

GOAL_COPY, GOAL_SORT, GOAL_HUDI = 1.3, 1.5, 0.2
OUTPUTS = 4
PLAN = "hoodie.clustering.plan.strategy."
QUIET = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
COPY = {f"{PLAN}class": "org.apache.hudi.client.clustering.plan.strategy.SparkStreamCopyClusteringPlanStrategy"}
SORT = {f"{PLAN}sort.columns": "x"}
Z_ORDER = {f"{PLAN}sort.columns": "a,x", "hoodie.layout.optimize.strategy": "z-order"}


def main() -> None:
    """Print each contestant's medians, and ratios to the floors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--hudi", action="store_true")
    arguments = parser.parse_args()
    table, group = small_files(arguments.work, arguments.rows, arguments.files)
    run = arguments.work / "run"
    bounds = {**QUIET, f"{PLAN}max.bytes.per.group": str(group)}
    steps: dict[str, Callable[[], None]] = {
        "copy of the bytes": lambda: copy_bytes(table, run),
        "stream copy": lambda: cluster(run, bounds | COPY),
        "encoded again": lambda: cluster(run, bounds),
        "pyarrow reads, sorts, writes": lambda: sort_with_arrow(table, run),
        "sorted by one column": lambda: cluster(run, bounds | SORT),
        "z-order of two columns": lambda: cluster(run, bounds | Z_ORDER),
    }
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in steps}
    for _ in range(arguments.rounds):
        for name, step in steps.items():
            linked_copy(table, run)
            began, used = time.perf_counter(), time.process_time()
            step()
            spent[name].append((time.process_time() - used, time.perf_counter() - began))
            print(f"{name}: {spent[name][-1][0]:.2f} s, {spent[name][-1][1]:.2f} s elapsed", flush=True)
    medians = {name: tuple(statistics.median(column) for column in zip(*times, strict=True)) for name, times in spent.items()}
    for name, (used, elapsed) in medians.items():
        print(f"{name:30} {used:7.2f} s of processor time, {elapsed:7.2f} s elapsed", flush=True)
    for name, floor, goal in (
        ("stream copy", "copy of the bytes", GOAL_COPY),
        ("sorted by one column", "pyarrow reads, sorts, writes", GOAL_SORT),
        ("z-order of two columns", "pyarrow reads, sorts, writes", GOAL_SORT),
    ):
        ratios = [mine / least for mine, least in zip(medians[name], medians[floor], strict=True)]
        print(f"{name} to its floor: {ratios[0]:.2f} x of processor time, {ratios[1]:.2f} x elapsed (goal {goal})")
    if arguments.hudi:
        beside_hudi(table, run, bounds, {name: elapsed for name, (_, elapsed) in medians.items()})


def small_files(work: Path, rows: int, files: int) -> tuple[Path, int]:
    """Make a table of so many files, once, and return its folder and the bytes of a fourth of it."""
    path = work / f"files-{rows}-{files}"
    if not path.exists():
        write_inputs(work / "inputs", rows, 1)
        data = pq.read_table(work / "inputs" / "load.parquet")
        size = {"pyhudi.parquet.max.file.rows": str(-(-rows // files)), "hoodie.parquet.small.file.limit": "0"}
        HudiTable.create(path, data.schema, name="l10", keys=["key"]).bulk_insert(data, options={**QUIET, **size})
    return path, sum(file.stat().st_size for file in path.glob("*.parquet")) // OUTPUTS + 1


def linked_copy(table: Path, run: Path) -> None:
    """Copy a table; its data files, which are never changed, are links."""
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(
        table, run, copy_function=lambda one, other: os.link(one, other) if one.endswith(".parquet") else shutil.copy(one, other)
    )


def cluster(run: Path, options: Mapping[str, str]) -> None:
    """Cluster a table."""
    HudiTable.open(run).services.cluster(options=options)


def copy_bytes(table: Path, run: Path) -> None:
    """Append files to four others."""
    for number, some in enumerate(parts_of(table)):
        with (run / f"copy-{number}").open("wb") as output:
            for file in some:
                output.write(file.read_bytes())
            output.flush()
            os.fsync(output.fileno())


def sort_with_arrow(table: Path, run: Path) -> None:
    """Write the rows of each fourth of the files in their order."""
    for number, some in enumerate(parts_of(table)):
        rows = pa.concat_tables(pq.read_table(file, page_checksum_verification=True) for file in some).sort_by("x")
        with (run / f"sorted-{number}").open("wb") as output:
            pq.write_table(rows, output, compression="zstd", compression_level=1, write_page_checksum=True)
            os.fsync(output.fileno())


def parts_of(table: Path) -> list[list[Path]]:
    """Return the data files in four parts."""
    files = sorted(table.glob("*.parquet"))
    size = -(-len(files) // OUTPUTS)
    return [files[first : first + size] for first in range(0, len(files), size)]


def beside_hudi(table: Path, run: Path, bounds: Mapping[str, str], ours: Mapping[str, float]) -> None:
    """Let Apache Hudi cluster copies of the table, in one process that has clustered before."""
    command = [os.environ["PYHUDI_REFERENCE_PYTHON"], "-m", "bench.kernels.hudi_clusterings"]
    steps: dict[str, Mapping[str, str]] = {
        "warm-up": SORT,
        "stream copy": COPY,
        "encoded again": {},
        "sorted by one column": SORT,
        "z-order of two columns": Z_ORDER,
    }
    for number in range(len(steps)):
        linked_copy(table, run.with_name(f"hudi-{number}"))
    tables = [(str(run.with_name(f"hudi-{number}")), {**bounds, **options}) for number, options in enumerate(steps.values())]
    done = subprocess.run([*command, json.dumps(tables)], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    times = [float(line) for line in done.stdout.split()[-len(steps) :]]
    for name, seconds in list(zip(steps, times, strict=True))[1:]:
        print(f"Apache Hudi, {name}: {seconds:.2f} s elapsed; pyhudi takes {ours[name] / seconds:.3f} of it (goal {GOAL_HUDI})", flush=True)


if __name__ == "__main__":
    main()
