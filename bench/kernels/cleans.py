"""Planning cleans of a large table, and deleting what they plan.

    python -m bench.kernels.cleans --work <scratch folder> [--files N] [--partitions N] [--commits N]

The table has so many files in so many partitions, from commits each of which gives all file groups a new slice. Printed are seconds and
processor time of a full plan, of the clean itself beside deletes of as many files alone, of an incremental plan after commits that touched
ten partitions, and of one after commits that touched all of them, beside a full one. The status is 1 when a plan misses its goal.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from bench.kernels.linked_files import LinkedTable, deletes, timed
from pyhudi import HudiTable
from pyhudi.cache import LruCache
from pyhudi.service.cleaning import clean_plan, touched_partitions

GOAL_FULL, GOAL_INCREMENTAL = 5.0, 1.0
TOUCHED = 10
LATER = 4
RETAINED = {"hoodie.clean.commits.retained": "1"}
FULL = {**RETAINED, "hoodie.clean.incremental.enabled": "false"}


def main() -> int:
    """Make the table and print the seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--partitions", type=int, default=1_000)
    parser.add_argument("--commits", type=int, default=10)
    arguments = parser.parse_args()
    path, in_commit = arguments.work / "cleans", arguments.files // arguments.partitions // arguments.commits
    linked = LinkedTable(path, arguments.partitions)
    for _ in range(arguments.commits):
        linked.commit(in_commit)
    full = plan(path, FULL, f"full plan of {arguments.files} files", GOAL_FULL)
    files, seconds, used = timed(lambda: HudiTable.open(path).services.clean(options=RETAINED)[0].total_files)
    print(f"clean of {files} files: {seconds:.3f} s, {used:.3f} s of processor time", flush=True)
    alone, alone_used = deletes(linked.table, files, arguments.partitions)
    print(f"as many deletes alone: {alone:.3f} s, {alone_used:.3f}; ratio {seconds / alone:.2f} and {used / alone_used:.2f}", flush=True)
    for _ in range(2):
        linked.commit(in_commit, partitions=TOUCHED)
    some = plan(path, RETAINED, f"incremental plan, {TOUCHED} partitions touched", GOAL_INCREMENTAL)
    for _ in range(LATER):
        linked.commit(in_commit)
    again = plan(path, FULL, "full plan, after commits to all partitions")
    most = plan(path, RETAINED, "incremental plan, all partitions touched")
    print(f"ratio of the incremental plan to the full one: {most / again:.2f} of processor time (goal 1)")
    return int(full > GOAL_FULL or some > GOAL_INCREMENTAL)


def plan(path: Path, options: Mapping[str, str], what: str, goal: float | None = None) -> float:
    """Plan a clean as another process would, print what it takes, and return the processor time."""
    clean_plan._SEARCHED = LruCache(1024)  # type: ignore[misc]  # noqa: SLF001
    touched_partitions._TOUCHED = LruCache(4096)  # noqa: SLF001
    planned, seconds, used = timed(lambda: HudiTable.open(path).services.clean(options=options, dry_run=True))
    files = planned[0].total_files if planned else 0
    print(f"{what}, {files} to delete: {seconds:.3f} s, {used:.3f} s of processor time{f' (goal {goal} s)' if goal else ''}", flush=True)
    return used


if __name__ == "__main__":
    raise SystemExit(main())
