"""Savepoint and restore of a table of many files: half of them are there at the savepoint, the other half is rolled back.

    python -m bench.kernels.restores --work <scratch folder> [--files N] [--partitions N]

The deletes alone are measured beside it: as many files of the same size, deleted by the storage one after another.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable

SCHEMA = pa.schema({"id": pa.int64(), "part": pa.string(), "value": pa.float64()})
OPTIONS = {"hoodie.parquet.small.file.limit": "0"}


def main() -> None:
    """Make the table and print the seconds of each step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=1_000)
    parser.add_argument("--metadata-table", choices=["true", "false"], default="true")
    arguments = parser.parse_args()
    path = arguments.work / "restores"
    shutil.rmtree(path, ignore_errors=True)
    table = HudiTable.create(path, SCHEMA, name="restores", keys=["id"], partition_by=["part"])
    commits = arguments.files // arguments.partitions
    for number in range(commits):
        write(table, number, arguments.partitions, arguments.metadata_table)
        if number == commits // 2 - 1:
            saved, seconds = timed(HudiTable.open(path).services.savepoint)
            print(f"savepoint of {saved.files} files: {seconds:.3f} s")
    planned, seconds = timed(lambda: HudiTable.open(path).services.restore(to=saved.instant, dry_run=True))
    print(f"dry run of a restore that deletes {len(planned.files)} files: {seconds:.3f} s")
    done, seconds = timed(lambda: HudiTable.open(path).services.restore(to=saved.instant))
    print(f"restore, metadata table {done.metadata_table}: {seconds:.3f} s")
    print(f"as many deletes alone: {deletes(path, done.files):.3f} s")


def write(table: HudiTable, number: int, partitions: int, metadata_table: str) -> None:
    """Add a file to each partition."""
    ids = range(number * partitions, (number + 1) * partitions)
    rows = pa.table({"id": ids, "part": [f"p{one % partitions:05}" for one in ids], "value": [0.5] * partitions}, schema=SCHEMA)
    table.insert(rows, options={**OPTIONS, "hoodie.metadata.enable": metadata_table})


def deletes(path: Path, files: tuple[str, ...]) -> float:
    """Return the seconds that deleting as many files takes."""
    storage = HudiTable.open(path).storage
    for file in files:
        storage.create(f"deleted/{file}", b"0" * 4096)
    return timed(lambda: [storage.delete(f"deleted/{file}") for file in files])[1]


def timed(action):  # type: ignore[no-untyped-def]
    """Return what an action returns, and its seconds."""
    started = time.perf_counter()
    return action(), time.perf_counter() - started


if __name__ == "__main__":
    main()
