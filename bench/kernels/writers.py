"""Commits a second of several processes that write to partitions of their own, compared with one process.

    python -m bench.kernels.writers --work <scratch folder> [--processes N] [--commits N] [--metadata]

A commit upserts ten rows, services off; the lock is the table's own on the local file system. That of a lock provider is held for 200 ms
at the beginning and at the end of each write (`hoodie.time.generator.max_expected_clock_skew_ms`), which bounds all writers together.
All runs make the same number of commits, since a write costs more the longer its timeline is. All processes of a run begin together; one
in the mode of a single writer is measured as well. Printed are the commits a second, how many cores the processes used, and the processor
time of a commit. Cores bound the sum: two of them give at most twice the commits of a process that is never idle.

Writers end when their input does: no process remains of a run that is killed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
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


def write(path: str, number: int, commits: int, options: Mapping[str, str]) -> None:
    """Make so many commits from a line of the input on, and print the processor time."""
    table = HudiTable.open(path)
    rows = [{"id": 100 * number + key, "city": f"c{number}", "value": key} for key in range(10)]
    table.upsert(rows, options=options)  # also brings the modules
    print("ready", flush=True)
    if not sys.stdin.readline():
        return
    threading.Thread(target=_end_with_input, daemon=True).start()
    before = time.process_time()
    for value in range(commits):
        table.upsert([{**row, "value": value} for row in rows], options=options)
    print(time.process_time() - before, flush=True)


def _end_with_input() -> None:
    """End the process when the one that has begun it has ended."""
    sys.stdin.read()
    os._exit(1)


def run(work: Path, processes: int, commits: int, *, several: bool, metadata: bool) -> str:
    """Return what so many processes reach on a new table."""
    path = work / "writers"
    shutil.rmtree(path, ignore_errors=True)
    HudiTable.create(path, SCHEMA, name="writers", keys=["id"], partition_by=["city"])
    command = [sys.executable, "-m", "bench.kernels.writers", "--work", str(work), "--commits", str(commits // processes)]
    flags = [*(["--several"] if several else []), *(["--metadata"] if metadata else [])]
    writers = [
        subprocess.Popen([*command, *flags, "--writer", str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(processes)
    ]
    for writer in writers:
        _answer(writer)
    began = time.monotonic()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    spent = sum(float(_answer(writer)) for writer in writers)
    seconds, made = time.monotonic() - began, commits // processes * processes
    for writer in writers:
        writer.communicate()
    rows = HudiTable.open(path).count()
    if rows != 10 * processes:
        raise RuntimeError(f"the table has {rows} rows")
    mode = "several writers" if several else "a single writer"
    cores = f"{spent / seconds:.2f} of {os.cpu_count()} cores, {spent / made * 1000:.1f} ms of processor time a commit"
    return f"{processes} process(es), mode of {mode}: {made / seconds:.1f} commits a second, {cores}"


def _answer(writer: subprocess.Popen[str]) -> str:
    assert writer.stdout is not None
    line = writer.stdout.readline()
    if not line:
        raise RuntimeError("a writer has failed")
    return line


def main() -> None:
    """Measure, or write as one of the processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--commits", type=int, default=600, help="of each run, by all its processes together")
    parser.add_argument("--metadata", action="store_true", help="with the metadata table")
    parser.add_argument("--several", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--writer", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.writer is not None:
        options = options_of(several=arguments.several, metadata=arguments.metadata)
        write(str(arguments.work / "writers"), arguments.writer, arguments.commits, options)
        return
    for processes, several in ((1, False), (1, True), (arguments.processes, True)):
        print(run(arguments.work, processes, arguments.commits, several=several, metadata=arguments.metadata), flush=True)


if __name__ == "__main__":
    main()
