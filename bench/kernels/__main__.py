"""The kernels alone against the floor: load a table, then upsert a batch into it. Without commits, plans or engines.

    python -m bench.kernels --inputs <folder for the input files> --work <scratch folder> [--rows N]

Floor and kernels take turns, two threads each; a ratio above the goal ends with status 1.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.contestants.floor import Contestant as Floor
from bench.data import ROWS, write_inputs
from pyhudi.kernels.base_file.base_file import RecordContext, WriterSettings
from pyhudi.kernels.keys.key_probe import find_keys
from pyhudi.kernels.tasks.write_task import TaskResult, WriteTask, run_write_task
from pyhudi.schema.avro_arrow import arrow_to_avro, with_meta_fields
from pyhudi.schema.evolve import evolve
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.storage.local_storage import LocalStorage

GOALS = {"load": 1.5, "upsert": 2.0}


class Kernels:
    """Two file groups of a table that is not partitioned, written by the kernels."""

    def __init__(self, inputs: Path, work: Path) -> None:
        self.inputs, self.base = inputs, work / "kernels"
        self.pool = ThreadPoolExecutor(2)
        self.rows = pq.read_table(inputs / "load.parquet")
        schema = evolve(None, self.rows.schema)
        self.context = RecordContext("l10", schema, with_meta_fields(arrow_to_avro(schema, "l10")))
        self.storage = LocalStorage(str(self.base))
        self.files: list[BaseFile] = []
        self.instant = 20260101000000000

    def prepare_load(self, _: int) -> None:
        """Start from nothing."""
        shutil.rmtree(self.base, ignore_errors=True)
        self.files = []

    def load(self, _: int) -> None:
        """Write the whole table."""
        half = len(self.rows) // 2
        self._run([(self.rows.slice(0, half), None), (self.rows.slice(half), None)])

    def upsert(self, number: int) -> None:
        """Find the batch's keys, rewrite both files."""
        batch = pq.read_table(self.inputs / f"batch-{number}.parquet")
        keys = batch.column("key").combine_chunks()
        first, second = self.files
        known = pc.is_valid(find_keys(self.storage, second, keys))
        self._run([(batch.filter(pc.invert(known)), first), (batch.filter(known), second)])

    def _run(self, parts: list[tuple[pa.Table, BaseFile | None]]) -> None:
        self.instant += 1
        self.files = list(self.pool.map(self._write, range(len(parts)), *zip(*parts, strict=True)))

    def _write(self, number: int, rows: pa.Table, base: BaseFile | None) -> BaseFile:
        task = WriteTask(str(self.instant), "", f"group{number}-0", f"{number}-0-0", base)
        keyed = rows.append_column(RECORD_KEY, rows.column("key"))
        return _base_file(run_write_task(self.storage, self.context, WriterSettings(), task, keyed))


def main() -> int:
    """Measure, print the medians and their ratio."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels")
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    write_inputs(arguments.inputs, arguments.rows, arguments.repetitions)
    contestants = {"floor": Floor(arguments.inputs, arguments.work), "kernels": Kernels(arguments.inputs, arguments.work)}
    seconds: dict[tuple[str, str], list[float]] = {}
    for number in range(arguments.repetitions):
        for work in GOALS:
            for name, contestant in contestants.items():
                if work == "load":
                    contestant.prepare_load(number)
                seconds.setdefault((work, name), []).append(_timed(getattr(contestant, work), number))
    return _report(seconds)


def _report(seconds: dict[tuple[str, str], list[float]]) -> int:
    missed = 0
    for work, goal in GOALS.items():
        floor, ours = (statistics.median(seconds[work, name]) for name in ("floor", "kernels"))
        spread = ", ".join(f"{name} {min(seconds[work, name]):.2f}-{max(seconds[work, name]):.2f} s" for name in ("floor", "kernels"))
        print(f"{work}: {ours / floor:.2f} x floor (goal {goal}); {spread}")
        missed += ours / floor > goal
    return 1 if missed else 0


def _timed(work: Callable[[int], object], number: int) -> float:
    started = time.perf_counter()
    work(number)
    return time.perf_counter() - started


def _base_file(result: TaskResult) -> BaseFile:
    name = parse_base_file_name(result.file)
    assert name is not None
    return BaseFile("", name, result.stat.file_size_in_bytes)


if __name__ == "__main__":
    sys.exit(main())
