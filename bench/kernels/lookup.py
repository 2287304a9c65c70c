"""Finding rows (W9): one key, many keys, a range and a secondary value in a table of some hundred file groups, and what is opened for it.

    python -m bench.kernels.lookup --work <scratch folder> [--rows N] [--files N]

The table is made once and kept; making its record index and its secondary index is timed. Medians above the goals end with status 1.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bench.data import ROWS, keys_of, rows_of
from pyhudi import HudiTable

GOALS = {"one key": 0.020, "build record index": 10.0}
_KEYS_ASKED = 100
_MANY = 1_000


def main() -> int:
    """Make the table when it is not there, then measure."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.lookup")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--files", type=int, default=400)
    arguments = parser.parse_args()
    path = arguments.work / f"lookup-{arguments.rows}-{arguments.files}"
    seconds = {} if (path / "made").exists() else make(path, arguments.rows, arguments.files)
    seconds |= measure(HudiTable.open(path / "table"), arguments.rows)
    for name, took in seconds.items():
        print(f"{name}: {took:.4f} s" + (f" (goal {GOALS[name]})" if name in GOALS else ""))
    return int(any(seconds.get(name, 0) > goal for name, goal in GOALS.items()))


def make(path: Path, rows: int, files: int) -> dict[str, float]:
    """Write the files, rows in the order of `b`, so that keys lie anywhere; return what building the indexes took, in seconds."""
    data = rows_of(np.arange(rows), seed=1).sort_by("b")
    table = HudiTable.create(path / "table", data.schema, name="lookup", keys=["key"])
    per_file = -(-rows // files)
    for start in range(0, rows, per_file):
        table.bulk_insert(data.slice(start, per_file), {"hoodie.metadata.enable": "false"})
    table.services.index(rebuild=True)
    built = {"build record index": _timed(lambda: table.services.index("record_index", "key"))}
    built["build secondary index"] = _timed(lambda: table.services.index("of_a", "a"))
    (path / "made").touch()
    return built


def measure(table: HudiTable, rows: int) -> dict[str, float]:
    """Return the median seconds of each question; each is asked of a table just opened, as a user's script does."""
    random = np.random.default_rng(7)
    keys = keys_of(random.integers(0, rows, _MANY)).to_pylist()
    some = table.to_arrow(columns=["a", "b"], filter=f"key = '{keys[0]}'").to_pylist()[0]
    questions = {
        "one key": [f"key = '{key}'" for key in keys[:_KEYS_ASKED]],
        "1,000 keys": [f"key in ({', '.join(repr(key) for key in keys)})"] * 3,
        "range of a clustered column": [f"b >= {some['b']} and b < {some['b'] + 2**50}"] * 10,
        "value of a secondary index": [f"a = {some['a']}"] * 10,
    }
    result = {}
    for name, filters in questions.items():
        used = time.process_time()
        result[name] = statistics.median(_timed(functools.partial(table.to_arrow, filter=text)) for text in filters)
        print(f"{name}: {(time.process_time() - used) / len(filters):.4f} s of all cores, the mean")
        plan = table.inspect.plan(filters[0])
        print(f"{name}: {sum(plan.column('read').to_pylist())} of {plan.num_rows} files are read")
    return result


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
