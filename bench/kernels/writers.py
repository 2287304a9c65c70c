"""Commits a second of several processes that write to partitions of their own, compared with one process.

    python -m bench.kernels.writers --work <scratch folder> [--processes N] [--seconds S] [--metadata]

A commit upserts ten rows, services off; the lock is the table's own on the local file system. That of a lock provider is held for 200 ms
at the beginning and at the end of each write (`hoodie.time.generator.max_expected_clock_skew_ms`), which bounds all writers together.
All processes of a run begin together; one in the mode of a single writer is measured as well. Printed are the commits a second, how many
cores the processes used, and the processor time of a commit. Cores bound the sum: two of them give at most twice the commits of a process
that is never idle.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64()})
SERVICES_OFF = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
OPTIMISTIC = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.clean.failed.writes.policy": "LAZY",
}


def options_of(*, several: bool, metadata: bool) -> dict[str, str]:
    """Return the options of the writes, in either mode."""
    return {**SERVICES_OFF, "hoodie.metadata.enable": str(metadata).lower(), **(OPTIMISTIC if several else {})}


def write(path: str, number: int, seconds: float, options: Mapping[str, str]) -> None:
    """Commit for so many seconds from a line of the input on, and print the number of commits and the processor time."""
    table = HudiTable.open(path)
    rows = [{"id": 100 * number + key, "city": f"c{number}", "value": key} for key in range(10)]
    table.upsert(rows, options=options)  # also brings the modules
    print("ready", flush=True)
    sys.stdin.readline()
    commits, ends, before = 0, time.monotonic() + seconds, time.process_time()
    while time.monotonic() < ends:
        table.upsert([{**row, "value": commits} for row in rows], options=options)
        commits += 1
    print(commits, time.process_time() - before)


def run(work: Path, processes: int, seconds: float, *, several: bool, metadata: bool) -> str:
    """Return what so many processes reach on a new table."""
    path = work / "writers"
    shutil.rmtree(path, ignore_errors=True)
    HudiTable.create(path, SCHEMA, name="writers", keys=["id"], partition_by=["city"])
    command = [sys.executable, "-m", "bench.kernels.writers", "--work", str(work), "--seconds", str(seconds)]
    flags = [*(["--several"] if several else []), *(["--metadata"] if metadata else [])]
    writers = [
        subprocess.Popen([*command, *flags, "--writer", str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(processes)
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    counts = [writer.communicate()[0].split() for writer in writers]
    commits, spent = sum(int(count) for count, _ in counts), sum(float(used) for _, used in counts)
    rows = HudiTable.open(path).count()
    if rows != 10 * processes:
        raise RuntimeError(f"the table has {rows} rows")
    mode = "several writers" if several else "a single writer"
    cores = f"{spent / seconds:.2f} of {os.cpu_count()} cores, {spent / commits * 1000:.0f} ms of processor time a commit"
    return f"{processes} process(es), mode of {mode}: {commits / seconds:.1f} commits a second, {cores}"


def main() -> None:
    """Measure, or write as one of the processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--metadata", action="store_true", help="with the metadata table")
    parser.add_argument("--several", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--writer", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.writer is not None:
        options = options_of(several=arguments.several, metadata=arguments.metadata)
        write(str(arguments.work / "writers"), arguments.writer, arguments.seconds, options)
        return
    for processes, several in ((1, False), (1, True), (arguments.processes, True)):
        print(run(arguments.work, processes, arguments.seconds, several=several, metadata=arguments.metadata), flush=True)


if __name__ == "__main__":
    main()
