"""Small changes of the large table `L10` by SQL: processor time of Python and of the JVM, and elapsed time.

    python -m bench.kernels.sql_changes --inputs <folder> --work <scratch folder> [--rows N] [--rounds N] [--lane NAME ...]

MERGE of ten rows and of 1 %, and INSERT of ten: the statements of `bench.contestants.small_changes`, on a warm session. Each line has the
medians of a lane. The goals are of elapsed time, which only counts on a machine at rest: no status depends on them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from bench.contestants import pyhudi_changes, pyhudi_changes_mor
from bench.contestants.small_changes import COLUMNS
from bench.data import ROWS, write_inputs

WARM_UPS: Final = 3
_TICKS: Final = os.sysconf("SC_CLK_TCK")


class _Lane:
    """A table of its own in the warehouse that all lanes share."""

    def prepare_load(self, _: int) -> None:
        """Start from an empty table."""
        self.spark.sql(f"CREATE TABLE {self.table} ({COLUMNS}) {self.clauses}")  # type: ignore[attr-defined]


class CopyOnWrite(_Lane, pyhudi_changes.Contestant):
    """The table of the lanes of copy-on-write."""

    table = "l10_cow"


class MergeOnRead(_Lane, pyhudi_changes_mor.Contestant):
    """The table of the lanes of merge-on-read."""

    table = "l10_mor"


class MergeOnReadIndexed(_Lane, pyhudi_changes_mor.Contestant):
    """The same with a record index, which MERGE finds its rows by."""

    table = "l10_mor_index"
    clauses = (
        "USING hudi TBLPROPERTIES (primaryKey = 'key', type = 'mor', hoodie.compact.inline = 'false',"
        " hoodie.metadata.record.index.enable = 'true', hoodie.index.type = 'RECORD_INDEX')"
    )


TABLES: Final[Mapping[str, type[pyhudi_changes.Contestant]]] = {"cow": CopyOnWrite, "mor": MergeOnRead, "mor-index": MergeOnReadIndexed}
#: Statement, table, and the goal in seconds (issue 19).
LANES: Final[Mapping[str, tuple[str, str, float]]] = {
    "merge10-mor": ("merge10", "mor", 0.4),
    "merge10-mor-index": ("merge10", "mor-index", 0.3),
    "merge1pct-mor": ("merge1pct", "mor", 1.2),
    "merge10-cow": ("merge10", "cow", 1.5),
    "insert10-cow": ("insert10", "cow", 0.2),
}


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds: of the processor in this process and in the JVM, and elapsed."""

    python: float
    jvm: float
    elapsed: float

    @staticmethod
    def now(spark: SparkSession) -> Spent:
        """Return what was spent up to now."""
        return Spent(time.process_time(), _processor_seconds(spark.sparkContext._gateway.proc.pid), time.perf_counter())  # noqa: SLF001 - nothing else knows the process

    def since(self, before: Spent) -> Spent:
        """Return what was spent since then."""
        return Spent(self.python - before.python, self.jvm - before.jvm, self.elapsed - before.elapsed)


def _processor_seconds(process: int) -> float:
    """Return the processor time of a process; Linux tells it in `/proc`."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def main() -> None:
    """Load the tables, run the lanes in turn, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lane", action="append", choices=[*LANES])
    arguments = parser.parse_args()
    rounds = arguments.rounds + WARM_UPS
    write_inputs(arguments.inputs, arguments.rows, rounds)
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    lanes = {name: LANES[name] for name in arguments.lane or LANES}
    tables = {name: TABLES[name](arguments.inputs, arguments.work) for name in dict.fromkeys(table for _, table, _ in lanes.values())}
    for table in tables.values():
        table.prepare_load(0)
        table.load(0)
    spent: dict[str, list[Spent]] = {name: [] for name in lanes}
    for number in range(rounds):
        for name, (statement, table_name, _) in lanes.items():
            spent[name].append(measure(tables[table_name], statement, number))
    for name, (_, _, goal) in lanes.items():
        print(line(name, spent[name][WARM_UPS:], goal), flush=True)


def measure(table: pyhudi_changes.Contestant, statement: str, number: int) -> Spent:
    """Return what one statement takes; preparing it is not counted."""
    getattr(table, f"prepare_{statement}")(number)
    before = Spent.now(table.spark)
    getattr(table, statement)(number)
    return Spent.now(table.spark).since(before)


def line(name: str, rounds: list[Spent], goal: float) -> str:
    """Return one line: medians, and the goal."""
    python, jvm, elapsed = (statistics.median(getattr(one, kind) for one in rounds) for kind in ("python", "jvm", "elapsed"))
    return f"{name:<14} Python {python:5.2f} s, JVM {jvm:5.2f} s, elapsed {elapsed:5.2f} s (goal {goal})"


if __name__ == "__main__":
    main()
