"""Years of ten-row commits with default options: what they leave on storage, and whether the last takes longer than the first.

    python -m bench.kernels.small_commits --work <scratch folder> [--commits N] [--rows-before N] [--operation insert] [--table-type T]

Rows are upserted over 1,000 keys, so that the table itself does not grow; INSERTs add rows. Every window of commits prints the median and
the mean of the processor time of a commit, the number of files, and the bytes under `.hoodie` by part. The archive may take 2 kB a commit.
From the middle of the run to its end no other part may grow, and the mean time of an upsert by a tenth at most; otherwise the status is 1.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from pyhudi import HudiTable

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.float64(), "at": pa.timestamp("us", "UTC")})
KEYS, ROWS = 1_000, 10
GOAL_ARCHIVE, GOAL_GROWTH, GOAL_SWING = 2_048, 1.1, 1.5
ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class Window:
    """What a window of commits took, and what the table was at its end: files and bytes by part."""

    commits: int
    times: tuple[float, ...]
    files: Counter[str]
    sizes: Counter[str]

    def __str__(self) -> str:
        """Return one line."""
        parts = ", ".join(f"{part} {self.files[part]} files {self.sizes[part] / 1000:.0f} kB" for part in sorted(self.files))
        median, mean = statistics.median(self.times) * 1000, statistics.mean(self.times) * 1000
        return f"{self.commits} commits: median {median:.1f} ms, mean {mean:.1f} ms, {sum(self.files.values())} files: {parts}"


def main() -> int:
    """Commit, and print one line for each window."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=2_000)
    parser.add_argument("--window", type=int, default=200)
    parser.add_argument("--rows-before", type=int, default=0)
    parser.add_argument("--operation", choices=["upsert", "insert"], default="upsert")
    parser.add_argument("--table-type", default="COPY_ON_WRITE", choices=["COPY_ON_WRITE", "MERGE_ON_READ"])
    arguments = parser.parse_args()
    path = arguments.work / "small-commits"
    shutil.rmtree(path, ignore_errors=True)
    table = HudiTable.create(path, SCHEMA, name="small", keys=["id"], table_type=arguments.table_type)
    if arguments.rows_before:
        table.bulk_insert(rows(range(-arguments.rows_before, 0)))
    windows = []
    for window in run(table, path, arguments.commits, arguments.window, arguments.operation):
        windows.append(window)
        print(window, flush=True)
    return report(windows[len(windows) // 2], windows[-1], arguments.operation)


def run(table: HudiTable, path: Path, commits: int, size: int, operation: str) -> Iterator[Window]:
    """Commit so many times, and yield each window."""
    for begin in range(0, commits, size):
        times = []
        for number in range(begin, min(begin + size, commits)):
            first = number * ROWS
            batch = rows(range(first, first + ROWS) if operation == "insert" else [(first + one) % KEYS for one in range(ROWS)])
            started = time.process_time()
            (table.insert if operation == "insert" else table.upsert)(batch)
            times.append(time.process_time() - started)
        files, sizes = footprint(path)
        yield Window(begin + len(times), tuple(times), files, sizes)


def report(middle: Window, last: Window, operation: str) -> int:
    """Print what grew from the middle of the run to its end; the status is 1 for anything that must not."""
    archive = sum(size for part, size in last.sizes.items() if part.startswith(ARCHIVE)) / last.commits
    slope = statistics.mean(last.times) / statistics.mean(middle.times)
    rest = [part for part in last.files if not part.startswith(ARCHIVE) and (part != "data" or operation == "upsert")]
    grown = [part for part in rest if _is_more(last.files[part], middle.files[part]) or _is_more(last.sizes[part], middle.sizes[part])]
    print(
        f"archive: {archive:.0f} bytes a commit (goal {GOAL_ARCHIVE}); time x{slope:.2f} (goal {GOAL_GROWTH}); grown: {grown or 'nothing'}"
    )
    return int(archive > GOAL_ARCHIVE or bool(grown) or (slope > GOAL_GROWTH and operation == "upsert"))


def _is_more(last: int, middle: int) -> bool:
    """Tell whether a number has grown by more than it goes up and down between two archivals."""
    return last > middle * GOAL_SWING


def footprint(path: Path) -> tuple[Counter[str], Counter[str]]:
    """Return the numbers of files of a table, and their bytes, by part of the table."""
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for one in path.rglob("*"):
        if one.is_file():
            part = _part(one.relative_to(path).as_posix())
            files[part] += 1
            sizes[part] += one.stat().st_size
    return files, sizes


def _part(name: str) -> str:
    owner = "metadata " if name.startswith(".hoodie/metadata/") else ""
    name = name.removeprefix(".hoodie/metadata/") if owner else name
    if not name.startswith(".hoodie/"):
        return f"{owner}data"
    if "/history/" in name or "/archived/" in name:
        return f"{ARCHIVE} {owner}".strip()
    return f"{owner}timeline" if "/timeline/" in name else f"{owner}other"


def rows(ids: range | list[int]) -> pa.Table:
    """Return rows of these ids."""
    count = len(ids)
    return pa.table({"id": ids, "city": ["oslo"] * count, "value": [0.5] * count, "at": [1_700_000_000_000_000] * count}, schema=SCHEMA)


if __name__ == "__main__":
    raise SystemExit(main())
