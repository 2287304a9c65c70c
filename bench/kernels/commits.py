"""Many small commits (W10): ten rows each, metadata table on; what one takes, and whether the thousandth takes longer than the first.

    python -m bench.kernels.commits --work <scratch folder> [--commits N] [--beside-deltalake]

A median above the goal, or a slope above it, ends with status 1. The machine may be faster at the end than at the start. So the slope is
measured at the end, on the table and on a copy of it from a tenth of the way, by commits to the one and the other in turn. Beside the times
stands the processor time of this process, which tells more where other programs are at work. What the machine is worth that day is told by
`--beside-deltalake`: it appends and merges the same rows in turn with us, without a metadata table and without waiting for the disk.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Callable
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
    parser.add_argument("--beside-deltalake", action="store_true")
    arguments = parser.parse_args()
    path, copy = arguments.work / "commits", arguments.work / "commits-young"
    for folder in (path, copy):
        shutil.rmtree(folder, ignore_errors=True)
    table = HudiTable.create(path, _SCHEMA, name="commits", keys=["id"], table_type=arguments.table_type)
    times = [commit(table, number) for number in range(arguments.commits // 10)]
    shutil.copytree(path, copy)
    times += [commit(table, number) for number in range(arguments.commits // 10, arguments.commits)]
    seconds, processor = ([one[index] for one in times] for index in range(2))
    for name, all_of_them in (("elapsed", seconds), ("processor", processor)):
        median, greatest = statistics.median(all_of_them) * 1000, max(all_of_them) * 1000
        print(f"{name}: median {median:.1f} ms (goal {GOAL_SECONDS * 1000:.0f}), greatest {greatest:.0f} ms")
    slope = _slope(HudiTable.open(copy), table)
    if arguments.beside_deltalake:
        _beside_deltalake(table, arguments.work / "commits-deltalake")
    return int(statistics.median(seconds) > GOAL_SECONDS or slope > GOAL_SLOPE)


def _slope(young: HudiTable, old: HudiTable) -> float:
    """Commit to both in turn, print their medians, and return by how much the old one's elapsed time is greater."""
    pairs = [(commit(young, number), commit(old, number)) for number in range(_TURNS)]
    slopes = []
    for name, index in (("elapsed", 0), ("processor", 1)):
        first, last = (statistics.median(pair[side][index] for pair in pairs) for side in range(2))
        slopes.append(last / first - 1)
        print(f"{name}: young {first * 1000:.1f} ms, old {last * 1000:.1f} ms: {slopes[-1]:+.0%} (goal {GOAL_SLOPE:.0%})")
    return slopes[0]


def _beside_deltalake(table: HudiTable, path: Path) -> None:
    """Commit to our table and to one of deltalake in turn, and print medians and ratios."""
    from deltalake import DeltaTable, write_deltalake  # noqa: PLC0415 - of the benchmarks' own environment

    shutil.rmtree(path, ignore_errors=True)
    write_deltalake(str(path / "appended"), rows_of(0))
    write_deltalake(str(path / "merged"), rows_of(0))

    def merge(rows: pa.Table) -> None:
        merging = DeltaTable(str(path / "merged")).merge(rows, "s.id = t.id", source_alias="s", target_alias="t")
        merging.when_matched_update_all().when_not_matched_insert_all().execute()

    works = {
        "pyhudi": table.upsert,
        "deltalake append": lambda rows: write_deltalake(str(path / "appended"), rows, mode="append"),
        "deltalake merge": merge,
    }
    taken: dict[str, list[float]] = {name: [] for name in works}
    for number in range(_TURNS):
        for name, work in works.items():
            taken[name].append(_timed(work, rows_of(number))[0])
    ours = statistics.median(taken["pyhudi"])
    for name, seconds in taken.items():
        median, least, most = (1000 * choose(seconds) for choose in (statistics.median, min, max))
        print(f"in turn: {name} {median:.1f} ms ({least:.1f} to {most:.0f}), of which pyhudi takes {1000 * ours / median:.2f}x")


def commit(table: HudiTable, number: int) -> tuple[float, float]:
    """Upsert ten rows, the same keys each time; how many seconds that took, elapsed and of the processor."""
    return _timed(table.upsert, rows_of(number))


def rows_of(number: int) -> pa.Table:
    """Return ten rows."""
    return pa.Table.from_pylist([{"id": key, "city": "oslo", "value": float(number), "at": None} for key in range(10)], schema=_SCHEMA)


def _timed(work: Callable[[pa.Table], object], rows: pa.Table) -> tuple[float, float]:
    started, worked = time.perf_counter(), time.process_time()
    work(rows)
    return time.perf_counter() - started, time.process_time() - worked


if __name__ == "__main__":
    sys.exit(main())
