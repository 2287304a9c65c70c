"""Planning a filtered read of a large table (W10): 50,000 files in 100 partitions, listed and checked by the metadata table alone.

    python -m bench.kernels.plan [--files N] [--repetitions N]

No data file is there: planning opens none. The table is opened again each time. A median above the goal ends with status 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format.record import ColumnStats, FileEntry, FileList, MetadataRecord, RecordType, ValueType
from pyhudi.metadata_table.read.writer_table import TimeAndIds, open_writer_table
from pyhudi.metadata_table.services.metadata_compaction import compact_if_due
from pyhudi.metadata_table.write.data_table_changes import Changes
from pyhudi.metadata_table.write.metadata_commit import write_changes
from pyhudi.read.execute import select
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import SystemClock
from pyhudi.txn.ids import SystemIds

GOAL_SECONDS = 0.5
_PARTITIONS = 100
_ROWS = 1_000


def main() -> int:
    """Make the metadata table, then plan."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.plan")
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--repetitions", type=int, default=7)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        storage = make(Path(folder) / "t", arguments.files)
        plan(storage, arguments.files)
        elapsed, used = zip(*(plan(storage, arguments.files) for _ in range(arguments.repetitions)), strict=True)
    seconds, cpu = statistics.median(elapsed), statistics.median(used)
    print(f"plan of {arguments.files} files: {seconds:.3f} s, {cpu:.3f} s of all cores, at best {min(used):.3f} s (goal {GOAL_SECONDS})")
    return int(seconds > GOAL_SECONDS)


def make(path: Path, files: int) -> Storage:
    """Write a table of one row, and tell its metadata table of so many files more, with statistics of one column."""
    schema = pa.schema({"id": pa.int64(), "part": pa.string(), "v": pa.int64()})
    table = HudiTable.create(path, schema, name="t", keys=["id"], partition_by=["part"])
    instant = table.insert([{"id": 0, "part": "p00", "v": -1}]).instant
    mdt = open_writer_table(table.storage, TimeAndIds(SystemClock(), "UTC", SystemIds().sync_marker))
    if mdt is None:
        raise RuntimeError("the table has no metadata table")
    listed: dict[str, dict[str, FileEntry]] = {f"p{number:02}": {} for number in range(_PARTITIONS)}
    stats: dict[str, MetadataRecord] = {}
    for number in range(files):
        partition = f"p{number % _PARTITIONS:02}"
        name = f"{number:08x}-0000-4000-8000-000000000000-0_0-0-0_{instant}.parquet"
        listed[partition][name] = FileEntry(1 << 20)
        bounds = (ValueType.LONG, number * _ROWS, (number + 1) * _ROWS - 1)
        stats[keys.column_stats_key("v", partition, name)] = ColumnStats(RecordType.COLUMN_STATS, name, "v", *bounds, _ROWS, 0, 1, 1)
    lists: dict[str, MetadataRecord] = {name: FileList(RecordType.FILES, result) for name, result in listed.items()}
    lists[keys.ALL_PARTITIONS] = FileList(RecordType.ALL_PARTITIONS, {name: FileEntry(0) for name in listed})
    write_changes(mdt, mdt.next_time(), {"files": Changes(lists), "column_stats": Changes(stats)})
    compact_if_due(mdt.reload(), max_delta_commits=1)
    return table.storage


def plan(storage: Storage, files: int) -> tuple[float, float]:
    """Return the seconds of choosing the one file of a value, and what they took of all cores."""
    started, used = time.perf_counter(), time.process_time()
    chosen = list(_chosen(storage, f"v = {files // 2 * _ROWS + 5}"))
    seconds, cpu = time.perf_counter() - started, time.process_time() - used
    if len(chosen) != 1:
        raise RuntimeError(f"{len(chosen)} files are left")
    return seconds, cpu


def _chosen(storage: Storage, text: str) -> Iterator[object]:
    yield from select(open_snapshot(storage, SnapshotQuery()), None, text).slices()


if __name__ == "__main__":
    sys.exit(main())
