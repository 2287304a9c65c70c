"""Many small commits (W10): ten rows each, metadata table on; what one takes, and whether the thousandth takes longer than the first.

    python -m bench.kernels.commits --work <scratch folder> [--commits N]

A median above the goal, or a slope above it, ends with status 1. The machine may be faster at the end than at the start. So the slope is
measured at the end, on the table and on a copy of it from a tenth of the way, by commits to the one and the other in turn. Beside the times
stands the processor time of this process, which tells more where other programs are at work.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable

GOAL_SECONDS, GOAL_SLOPE = 0.030, 0.10
_TURNS = 100
_SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.float64(), "at": pa.timestamp("us", "UTC")})


def main() -> int:
    """Write, and print medians in milliseconds."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.commits")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=1_000)
    parser.add_argument("--table-type", default="MERGE_ON_READ", choices=["COPY_ON_WRITE", "MERGE_ON_READ"])
    arguments = parser.parse_args()
    path, copy = arguments.work / "commits", arguments.work / "commits-young"
    for folder in (path, copy):
        shutil.rmtree(folder, ignore_errors=True)
    table = HudiTable.create(path, _SCHEMA, name="commits", keys=["id"], table_type=arguments.table_type)
    times = [commit(table, number) for number in range(arguments.commits // 10)]
    shutil.copytree(path, copy)
    times += [commit(table, number) for number in range(arguments.commits // 10, arguments.commits)]
    seconds, processor = ([one[place] for one in times] for place in range(2))
    for name, all_of_them in (("elapsed", seconds), ("processor", processor)):
        median, greatest = statistics.median(all_of_them) * 1000, max(all_of_them) * 1000
        print(f"{name}: median {median:.1f} ms (goal {GOAL_SECONDS * 1000:.0f}), greatest {greatest:.0f} ms")
    slope = _slope(HudiTable.open(copy), table)
    return int(statistics.median(seconds) > GOAL_SECONDS or slope > GOAL_SLOPE)


def _slope(young: HudiTable, old: HudiTable) -> float:
    """Commit to both in turn, print their medians, and return by how much the old one's elapsed time is greater."""
    pairs = [(commit(young, number), commit(old, number)) for number in range(_TURNS)]
    slopes = []
    for name, place in (("elapsed", 0), ("processor", 1)):
        first, last = (statistics.median(pair[side][place] for pair in pairs) for side in range(2))
        slopes.append(last / first - 1)
        print(f"{name}: young {first * 1000:.1f} ms, old {last * 1000:.1f} ms: {slopes[-1]:+.0%} (goal {GOAL_SLOPE:.0%})")
    return slopes[0]


def commit(table: HudiTable, number: int) -> tuple[float, float]:
    """Upsert ten rows, the same keys each time; how many seconds that took, elapsed and of the processor."""
    rows = pa.Table.from_pylist([{"id": key, "city": "oslo", "value": float(number), "at": None} for key in range(10)], schema=_SCHEMA)
    started, worked = time.perf_counter(), time.process_time()
    table.upsert(rows)
    return time.perf_counter() - started, time.process_time() - worked


if __name__ == "__main__":
    sys.exit(main())
