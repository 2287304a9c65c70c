"""Many small commits (W10): ten rows each, metadata table on; what one takes, and whether the thousandth takes longer than the first.

    python -m bench.kernels.commits --work <scratch folder> [--commits N]

A median above the goal, or a slope above it, ends with status 1. The slope compares the medians of the first and the last fifth. Beside the
times stands the processor time of this process, which tells more where other programs are at work.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable

GOAL_SECONDS, GOAL_SLOPE = 0.030, 0.10
_SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.float64(), "at": pa.timestamp("us", "UTC")})


def main() -> int:
    """Write, and print medians in milliseconds."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.commits")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=1_000)
    parser.add_argument("--table-type", default="MERGE_ON_READ", choices=["COPY_ON_WRITE", "MERGE_ON_READ"])
    arguments = parser.parse_args()
    path = arguments.work / "commits"
    shutil.rmtree(path, ignore_errors=True)
    table = HudiTable.create(path, _SCHEMA, name="commits", keys=["id"], table_type=arguments.table_type)
    times = [commit(table, number) for number in range(arguments.commits)]
    seconds, processor = ([one[place] for one in times] for place in range(2))
    slope = _report("elapsed", seconds)
    _report("processor", processor)
    return int(statistics.median(seconds) > GOAL_SECONDS or slope > GOAL_SLOPE)


def _report(name: str, seconds: Sequence[float]) -> float:
    """Print the medians of some times, and return their slope."""
    fifth = max(1, len(seconds) // 5)
    first, last = statistics.median(seconds[:fifth]), statistics.median(seconds[-fifth:])
    slope = last / first - 1
    print(
        f"{name}: median {statistics.median(seconds) * 1000:.1f} ms (goal {GOAL_SECONDS * 1000:.0f}), greatest {max(seconds) * 1000:.0f} ms"
    )
    print(f"{name}: first fifth {first * 1000:.1f} ms, last fifth {last * 1000:.1f} ms: {slope:+.0%} (goal {GOAL_SLOPE:.0%})")
    return slope


def commit(table: HudiTable, number: int) -> tuple[float, float]:
    """Upsert ten rows, the same keys each time; how many seconds that took, elapsed and of the processor."""
    rows = pa.Table.from_pylist([{"id": key, "city": "oslo", "value": float(number), "at": None} for key in range(10)], schema=_SCHEMA)
    started, worked = time.perf_counter(), time.process_time()
    table.upsert(rows)
    return time.perf_counter() - started, time.process_time() - worked


if __name__ == "__main__":
    sys.exit(main())
