"""Log compaction of a metadata table that is seldom compacted: what it adds to commits, and what it takes off a reader.

    python -m bench.kernels.log_compaction [--commits N] [--repetitions N]

Two tables, written alike with and without it, are read in turns by processes that know nothing of them yet.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.data import keys_of, rows_of
from pyhudi import HudiTable

_OPTIONS = {"hoodie.metadata.compact.max.delta.commits": "1000", "hoodie.metadata.record.index.enable": "true"}
_JOINED = {"hoodie.metadata.log.compaction.enable": "true"}
_ROWS, _STEP, _ASKED = 400, 40, 100


def main() -> int:
    """Write both tables, then read them in turns."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.log_compaction")
    parser.add_argument("--commits", type=int, default=60)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--read", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        print(read(arguments.read))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: str(Path(folder) / name) for name in ("without", "with")}
        for name, path in paths.items():
            options = _OPTIONS | (_JOINED if name == "with" else {})
            print(f"{name}: {write(path, arguments.commits, options) * 1000:.1f} ms of processor time a commit")
        spent: dict[str, list[float]] = {name: [] for name in paths}
        for _ in range(arguments.repetitions):
            for name, path in paths.items():
                command = [sys.executable, "-m", "bench.kernels.log_compaction", "--read", path]
                spent[name].append(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    for name, values in spent.items():
        print(f"{name}: {statistics.median(values) * 1000:.1f} ms of processor time a look-up of {_ASKED} keys in a table just opened")
    return 0


def write(path: str, commits: int, options: dict[str, str]) -> float:
    """Make a table of so many commits, and return the processor time of one of them in seconds."""
    table = HudiTable.create(path, rows_of(np.arange(1), seed=0).schema, name="joined", keys=["key"])
    started = time.process_time()
    for number in range(commits):
        table.upsert(rows_of(np.arange(number * _STEP, number * _STEP + _ROWS), seed=number), options)
    return (time.process_time() - started) / commits


def read(path: str) -> float:
    """Return the processor time of a look-up by the record index in seconds."""
    keys = ", ".join(repr(key) for key in keys_of(np.arange(0, _ASKED)).to_pylist())
    table = HudiTable.open(path)
    started = time.process_time()
    assert table.to_arrow(columns=["key"], filter=f"key IN ({keys})").num_rows == _ASKED
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
