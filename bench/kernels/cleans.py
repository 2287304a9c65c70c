"""Planning cleans of a large table, and deleting what they plan.

    python -m bench.kernels.cleans --work <scratch folder> [--files N] [--partitions N]

The table has so many files in so many partitions, half of them older file slices of the others. Printed are the seconds of a full plan, of
an incremental one (a clean was recorded, and commits have touched ten partitions since), and of the clean itself beside deletes of as many
files alone. The status is 1 when a plan takes longer than its goal.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from bench.kernels.restores import SCHEMA, deletes
from pyhudi import HudiTable

GOAL_FULL, GOAL_INCREMENTAL = 5.0, 1.0
TOUCHED = 10
#: Nothing is cleaned or archived but when it is measured.
WRITTEN_WITH = {
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.parquet.small.file.limit": "0",
}
RETAINED = {"hoodie.clean.commits.retained": "1"}
FULL = {**RETAINED, "hoodie.clean.incremental.enabled": "false"}
_Answer = TypeVar("_Answer")


def main() -> int:
    """Make the table and print the seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--partitions", type=int, default=1_000)
    arguments = parser.parse_args()
    path, groups = arguments.work / "cleans", arguments.files // 2 // arguments.partitions
    shutil.rmtree(path, ignore_errors=True)
    table = HudiTable.create(path, SCHEMA, name="cleans", keys=["id"], partition_by=["part"])
    for number in range(groups):
        table.insert(rows(number, arguments.partitions, arguments.partitions), options=WRITTEN_WITH)
    for number in range(groups):
        table.upsert(rows(number, arguments.partitions, arguments.partitions), options=WRITTEN_WITH)
    full, seconds = timed(lambda: HudiTable.open(path).services.clean(options=FULL, dry_run=True))
    files = full[0].total_files
    print(f"full plan of {arguments.files} files, {files} to delete: {seconds:.3f} s (goal {GOAL_FULL})", flush=True)
    slow = seconds > GOAL_FULL
    _, seconds = timed(lambda: HudiTable.open(path).services.clean(options=RETAINED))
    print(f"clean of {files} files: {seconds:.3f} s", flush=True)
    names = tuple(f"{number % arguments.partitions:05}/{number}.parquet" for number in range(files))
    print(f"as many deletes alone: {deletes(path, names):.3f} s", flush=True)
    for _ in range(2):
        table.upsert(rows(0, TOUCHED, arguments.partitions), options=WRITTEN_WITH)
    some, seconds = timed(lambda: HudiTable.open(path).services.clean(options=RETAINED, dry_run=True))
    print(f"incremental plan, {some[0].total_files} to delete: {seconds:.3f} s (goal {GOAL_INCREMENTAL})")
    return int(slow or seconds > GOAL_INCREMENTAL)


def rows(number: int, count: int, partitions: int) -> pa.Table:
    """Return one row for each of the first partitions."""
    ids = range(number * partitions, number * partitions + count)
    return pa.table({"id": ids, "part": [f"p{one % partitions:05}" for one in ids], "value": [0.5] * count}, schema=SCHEMA)


def timed(action: Callable[[], _Answer]) -> tuple[_Answer, float]:
    """Return what an action returns, and its seconds."""
    began = time.perf_counter()
    answer = action()
    return answer, time.perf_counter() - began


if __name__ == "__main__":
    raise SystemExit(main())
