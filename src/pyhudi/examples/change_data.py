"""One day of a database's change log, hour by hour, applied to a copy-on-write and to a merge-on-read table.

    python -m pyhudi.examples.change_data [FOLDER] [--rows N] [--changes N] [--every HOURS]

The merge-on-read table is compacted by a process of its own (`python -m pyhudi compact`) while the hours go on. In the end both tables hold
the same rows, and the numbers say what that cost: bytes written, the delay of a commit, the time of a read.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import pyhudi
from pyhudi.examples.workspace import recreate_folder

HOURS = 24
_MARK = ".made-by-pyhudi-change-data"
_SCHEMA = pa.schema({"order_id": pa.int64(), "region": pa.string(), "status": pa.string(), "amount": pa.float64(), "changed": pa.int64()})
_REGIONS = ("africa", "america", "asia", "europe")
_STATUSES = ("placed", "paid", "sent", "returned")
_MANUAL_COMPACTION = {"hoodie.compact.inline": "false"}


@dataclass(frozen=True, slots=True)
class Hour:
    """What happened in one hour: rows that are new or changed, and the keys and regions of deleted rows."""

    changed: pa.Table
    deleted: pa.Table


@dataclass(slots=True)
class Costs:
    """What one table's day cost: seconds of each hour's commits and of each read, and bytes written."""

    commits: list[float] = field(default_factory=list)
    reads: list[float] = field(default_factory=list)
    written: int = 0


def main(arguments: list[str] | None = None) -> int:
    """Run the example; 0 when both tables end with the same rows."""
    parser = argparse.ArgumentParser(description="Apply one day of changes to a copy-on-write and to a merge-on-read table.")
    parser.add_argument("folder", nargs="?", default="change-data-tables", type=Path, help="where the tables shall stand")
    parser.add_argument("--rows", type=int, default=400_000, help="orders at midnight")
    parser.add_argument("--changes", type=int, default=2_000, help="changes an hour")
    parser.add_argument("--every", type=int, default=6, help="hours between two compactions")
    given = parser.parse_args(arguments)
    folder = given.folder.resolve()
    if not recreate_folder(folder, _MARK):
        print(f"{folder} exists and was not made by this program: name another folder.", file=sys.stderr)
        return 1
    first, *hours = _day(given.rows, given.changes)
    print(f"{given.rows:,} orders at midnight, then {given.changes:,} inserts, updates and deletes in each of {HOURS} hours\n")
    copied, copied_costs = _apply(folder / "copy_on_write", "COPY_ON_WRITE", first, hours, compact_every=None)
    merged, merged_costs = _apply(folder / "merge_on_read", "MERGE_ON_READ", first, hours, compact_every=given.every)
    _print({"copy-on-write": copied_costs, "merge-on-read": merged_costs})
    same = _rows(copied).equals(_rows(merged))
    print(f"\nBoth tables hold the same {_rows(copied).num_rows:,} rows: {'yes' if same else 'NO'}.")
    return 0 if same else 1


def _day(rows: int, changes: int) -> Iterator[Hour]:
    """Yield the orders at midnight, then what each hour changed; the same for the same numbers."""
    dice = np.random.default_rng(seed=20260101)
    nobody = _orders(np.empty(0, np.int64), dice, 0)
    yield Hour(_orders(np.arange(rows), dice, 0), nobody)
    alive = np.arange(rows)
    next_id = rows
    for hour in range(1, HOURS + 1):
        picked = dice.choice(alive, changes * 3 // 4, replace=False)
        deleted, updated = picked[: changes // 8], picked[changes // 8 :]
        inserted = np.arange(next_id, next_id + changes - len(picked))
        next_id += len(inserted)
        alive = np.concatenate([np.setdiff1d(alive, deleted, assume_unique=True), inserted])
        yield Hour(_orders(np.concatenate([updated, inserted]), dice, hour), _orders(deleted, dice, hour))


def _orders(ids: np.ndarray[tuple[int], np.dtype[np.int64]], dice: np.random.Generator, hour: int) -> pa.Table:
    count = len(ids)
    return pa.table(
        {
            "order_id": ids,
            "region": pa.array(np.array(_REGIONS)[ids % len(_REGIONS)] if count else [], pa.string()),
            "status": pa.array(dice.choice(_STATUSES, count), pa.string()),
            "amount": dice.random(count).round(4) * 1000,
            "changed": np.full(count, hour),
        },
        schema=_SCHEMA,
    )


def _apply(path: Path, table_type: str, first: Hour, hours: list[Hour], *, compact_every: int | None) -> tuple[pyhudi.HudiTable, Costs]:
    """Apply the day to a new table; every so many hours a process of its own begins to compact it."""
    table = pyhudi.HudiTable.create(
        path, _SCHEMA, name="orders", keys=["order_id"], partition_by=["region"], order_by=["changed"], table_type=table_type
    )
    table.bulk_insert(first.changed)
    costs, compactors = Costs(), []
    for number, hour in enumerate(hours, 1):
        began = time.perf_counter()
        table.upsert(hour.changed, options=_MANUAL_COMPACTION)
        table.delete(hour.deleted, options=_MANUAL_COMPACTION)
        costs.commits.append(time.perf_counter() - began)
        if compact_every is not None and number % compact_every == 0:
            compactors.append(_compact_in_process(path))
        began = time.perf_counter()
        table.to_arrow(columns=["amount"], filter="status = 'returned'")
        costs.reads.append(time.perf_counter() - began)
    for compactor in compactors:
        _finish(compactor)
    costs.written = pc.sum(table.history().column("bytes_written")).as_py()
    return table, costs


def _compact_in_process(path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - this program's own interpreter
        [sys.executable, "-m", "pyhudi", "compact", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _finish(compactor: subprocess.Popen[str]) -> None:
    stated, _ = compactor.communicate()
    print("  " + stated.strip().replace("\n", "\n  "))


def _rows(table: pyhudi.HudiTable) -> pa.Table:
    return table.to_arrow().sort_by("order_id").combine_chunks()


def _print(costs: dict[str, Costs]) -> None:
    print(f"\n{'':<15}{'bytes written':>16}{'commit, median':>17}{'longest':>10}{'read, median':>15}{'longest':>10}")
    for name, cost in costs.items():
        commits = f"{statistics.median(cost.commits):>15.2f} s{max(cost.commits):>8.2f} s"
        reads = f"{statistics.median(cost.reads):>13.2f} s{max(cost.reads):>8.2f} s"
        print(f"{name:<15}{cost.written:>16,}{commits}{reads}")


if __name__ == "__main__":
    sys.exit(main())
