"""Savepoint and restore of a table of many files: half of them are there at the savepoint, the other half is rolled back.

    python -m bench.kernels.restores --work <scratch folder> [--files N] [--partitions N]

The deletes alone are measured beside it: as many files, deleted by the storage one after another. The status is 1 when the savepoint, or
the restore less these deletes, takes more processor time than its goal.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.kernels.linked_files import LinkedTable, deletes, timed
from pyhudi import HudiTable

GOAL = 2.0


def main() -> int:
    """Make the table and print the seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=1_000)
    parser.add_argument("--metadata-table", choices=["true", "false"], default="true")
    arguments = parser.parse_args()
    path, half = arguments.work / "restores", arguments.files // arguments.partitions // 2
    linked = LinkedTable(path, arguments.partitions, arguments.metadata_table)
    for _ in range(half):
        linked.commit(1, same_groups=False)
    saved, seconds, saving = timed(HudiTable.open(path).services.savepoint)
    print(f"savepoint of {saved.files} files: {seconds:.3f} s, {saving:.3f} s of processor time (goal {GOAL})", flush=True)
    for _ in range(half):
        linked.commit(1, same_groups=False)
    planned, seconds, used = timed(lambda: HudiTable.open(path).services.restore(to=saved.instant, dry_run=True))
    print(f"dry run of a restore that deletes {len(planned.files)} files: {seconds:.3f} s, {used:.3f} s", flush=True)
    done, seconds, used = timed(lambda: HudiTable.open(path).services.restore(to=saved.instant))
    alone, alone_used = deletes(linked.table, len(done.files), arguments.partitions)
    print(f"restore, metadata table {done.metadata_table}: {seconds:.3f} s, {used:.3f} s of processor time")
    print(f"as many deletes alone: {alone:.3f} s, {alone_used:.3f}; the rest is {used - alone_used:.3f} (goal {GOAL})")
    return int(saving > GOAL or used - alone_used > GOAL)


if __name__ == "__main__":
    raise SystemExit(main())
