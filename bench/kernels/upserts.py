"""An upsert of a hundredth of a table (W2) by each index, against the floor: seconds, processor time, and the memory of a task.

    python -m bench.kernels.upserts --inputs <folder of the input files> --work <scratch folder> [--engine spark] [--indexes ...]

Each index has a table of its own, which is loaded once; floor and tables take turns. `--partitioned` spreads the rows over 12 partitions.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import pyhudi
from bench.contestants.floor import Contestant as Floor
from bench.contestants.spark_session import builder
from bench.data import ROWS, write_inputs
from pyhudi import HudiTable

GOALS = {"local": 1.5, "spark": 3.0}
_RECORDS = {"hoodie.metadata.global.record.level.index.enable": "true"}
INDEXES: Mapping[str, Mapping[str, str]] = {
    "chosen": {},
    "SIMPLE": {},
    "BLOOM": {},
    "GLOBAL_SIMPLE": {},
    "GLOBAL_BLOOM": {},
    "BUCKET": {"hoodie.bucket.index.num.buckets": "4"},
    "RECORD_INDEX": _RECORDS,
}
_TICKS = os.sysconf("SC_CLK_TCK")


class Upserts:
    """The table of one index."""

    def __init__(self, index: str, arguments: argparse.Namespace) -> None:
        self.inputs, self.path, self.engine = arguments.inputs, arguments.work / f"upserts-{index}", arguments.engine
        named = {} if index == "chosen" else {"hoodie.index.type": index}
        self.options = {**INDEXES[index], **named, "pyhudi.engine": self.engine}
        shutil.rmtree(self.path, ignore_errors=True)
        rows = pq.read_table(self.inputs / "load.parquet")
        table = HudiTable.create(str(self.path), rows.schema, name="l10", keys=("key",), partition_by=("part",) * arguments.partitioned)
        load = {name: value for name, value in self.options.items() if name != "pyhudi.engine"}
        table.bulk_insert(rows, options=load)

    def upsert(self, number: int) -> str:
        """Upsert one batch; return which index was asked."""
        source = self.inputs / f"batch-{number}.parquet"
        table = HudiTable.open(str(self.path))
        if self.engine == "spark":
            return str(table.upsert(self.session.read.parquet(str(source)), options=self.options).index)
        options = {name: value for name, value in self.options.items() if name != "pyhudi.engine"}
        return str(table.upsert(pq.read_table(source), options=options).index)

    @cached_property
    def session(self) -> SparkSession:
        return pyhudi.enable(builder("upserts")).getOrCreate()


def main() -> None:
    """Load, take turns, print medians and ratios."""
    arguments = _arguments()
    write_inputs(arguments.inputs, arguments.rows, arguments.rounds)
    floor = Floor(arguments.inputs, arguments.work)
    floor.prepare_load(0)
    floor.load(0)
    tables = {index: Upserts(index, arguments) for index in arguments.indexes}
    seconds: dict[str, list[float]] = defaultdict(list)
    processor: dict[str, list[float]] = defaultdict(list)
    for number in range(arguments.rounds):
        contestants: dict[str, Floor | Upserts] = {"floor": floor, **tables}
        for name, contestant in contestants.items():
            started, used = time.perf_counter(), _processor_seconds()
            contestant.upsert(number)
            seconds[name].append(time.perf_counter() - started)
            processor[name].append(_processor_seconds() - used)
    base, used = statistics.median(seconds["floor"]), statistics.median(processor["floor"])
    for name, all_seconds in seconds.items():
        took, work = statistics.median(all_seconds), statistics.median(processor[name])
        print(f"{name:14} {took:6.2f} s {took / base:5.2f} x floor; processor {work:6.2f} s {work / used:5.2f} x")
    print(f"goal {GOALS[arguments.engine]} x; largest Python process {largest_python_process() >> 20} MiB")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.upserts")
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engine", choices=list(GOALS), default="local")
    parser.add_argument("--indexes", nargs="*", choices=list(INDEXES), default=list(INDEXES))
    parser.add_argument("--partitioned", action="store_true")
    return parser.parse_args()


def _processor_seconds() -> float:
    """Return what this process and all below it have used so far, those of workers that have ended too."""
    return sum(sum(map(int, _stat(process)[11:15])) for process in _own_processes()) / _TICKS


def largest_python_process() -> int:
    """Return the most bytes that a worker of Spark, or without one this process (the table to load included), has held at once."""
    return largest_worker() or _most_bytes(os.getpid())


def largest_worker() -> int:
    """Return the most bytes that a worker of Spark has held at once, of those that are there now; 0 where there is none."""
    most = 0
    for process in _own_processes()[1:]:
        with contextlib.suppress(OSError, StopIteration):  # it may end now
            program = Path(f"/proc/{process}/cmdline").read_bytes().partition(b"\0")[0]
            if b"python" in program.rpartition(b"/")[2]:
                most = max(most, _most_bytes(process))
    return most


def _most_bytes(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def _own_processes() -> list[int]:
    """Return this process and those that come from it."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(folder.name)] = int(_stat(int(folder.name))[1])
    result = [os.getpid()]
    for process in result:
        result += [child for child, parent in parents.items() if parent == process]
    return result


def _stat(process: int) -> list[str]:
    """Return the numbers of `/proc/<process>/stat` behind the name, which may hold blanks."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()


if __name__ == "__main__":
    main()
