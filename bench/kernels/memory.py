"""What memory a task takes, for each operation and at two sizes of the table: the largest process that does the work.

    python -m bench.kernels.memory                 # the table of docs/performance.md
    python -m bench.kernels.memory --rows 100000 --operations "upsert, copy-on-write"

Each operation runs in a process of its own, on a table that another one made, so that its peak is its own. Loads, upserts, deletes,
compactions and clusterings are tasks of Spark: what counts is the largest Python worker, which runs one task after the other. Cleans and
compactions of the metadata table run in this process. The JVM of Spark, which sorts and shuffles with the memory that it is given, is not
counted.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import pyhudi
from bench.data import load_batch, update_batch
from bench.kernels.upserts import largest_python_process, largest_worker
from pyhudi import HudiTable
from pyhudi.spark.engine.task_engine import SparkEngine

ROWS, TIMES = 100_000, 5
FILE_ROWS = 100_000
OPTIONS = {
    "pyhudi.parquet.max.file.rows": str(FILE_ROWS),
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.clean.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.metadata.enable": "false",
}
WITH_INDEX = {
    **OPTIONS,
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.global.record.level.index.enable": "true",
    "hoodie.metadata.compact.max.delta.commits": "2",
}
SORT_MODE, COLUMNS = "hoodie.bulkinsert.sort.mode", "hoodie.clustering.plan.strategy.sort.columns"
SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "8",
}


def main() -> None:
    """Print the table, or run one step."""
    arguments = _arguments()
    if arguments.step:
        _step(arguments.step, arguments.operation, arguments.rows, Path(arguments.folder))
        return
    print(f"| operation | {arguments.rows:,} rows, MB | {arguments.rows * TIMES:,} rows, MB |")
    print("| --- | --- | --- |")
    for operation in arguments.operations:
        peaks = [_measured(operation, rows) for rows in (arguments.rows, arguments.rows * TIMES)]
        print(f"| {operation} | {peaks[0]} | {peaks[1]} |", flush=True)


def _measured(operation: str, rows: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        for step in ("prepare", "run"):
            command = [sys.executable, "-m", "bench.kernels.memory", "--step", step, "--operation", operation]
            done = subprocess.run([*command, "--rows", str(rows), "--folder", folder], check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-1])


def _step(step: str, operation: str, rows: int, folder: Path) -> None:
    made = OPERATIONS[operation]
    if step == "prepare":
        pq.write_table(load_batch(rows), folder / "load.parquet")
        pq.write_table(update_batch(0, rows, rows // 100), folder / "changes.parquet")
        made.prepare(folder)
        return
    peaks, ends = [0], threading.Event()
    sampler = threading.Thread(target=_sample, args=(peaks, ends))
    sampler.start()
    made.run(folder)
    ends.set()
    sampler.join()
    print((max(peaks) or largest_python_process()) >> 20)


def _sample(peaks: list[int], ends: threading.Event) -> None:
    """Look at the workers again and again: some end with their stage."""
    while not ends.wait(0.02):
        peaks.append(largest_worker())


class Operation:
    """One line of the table: what is there before, and what is measured."""

    def __init__(self, run: Callable[[Path], None], prepare: Callable[[Path], None]) -> None:
        self.run, self.prepare = run, prepare


def _empty(table_type: str) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        schema = pq.read_schema(folder / "load.parquet")
        HudiTable.create(folder / "t", schema, name="t", keys=["key"], order_by=["ts"], table_type=table_type)

    return prepare


def _loaded(table_type: str, changes: int = 0, options: dict[str, str] = OPTIONS) -> Callable[[Path], None]:
    def prepare(folder: Path) -> None:
        _empty(table_type)(folder)
        table = HudiTable.open(folder / "t")
        table.bulk_insert(pq.read_table(folder / "load.parquet"), options=options)
        for _ in range(changes):
            table.upsert(pq.read_table(folder / "changes.parquet"), options=options)

    return prepare


def _session() -> SparkSession:
    session = pyhudi.enable(SparkSession.builder.master("local[1]").config(map=SETTINGS)).getOrCreate()  # type: ignore[arg-type]
    session.sparkContext.setLogLevel("OFF")
    return session


def _write(operation: str, source: str, **options: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        given = {**OPTIONS, "pyhudi.engine": "spark", "hoodie.datasource.write.operation": operation, **options}
        _session().read.parquet(str(folder / source)).write.format("hudi").options(**given).mode("append").save(str(folder / "t"))

    return run


def _load(mode: str) -> Operation:
    return Operation(_write("bulk_insert", "load.parquet", **{SORT_MODE: mode}), _empty("COPY_ON_WRITE"))


def _compact(folder: Path) -> None:
    options = {**OPTIONS, "hoodie.compact.inline.max.delta.commits": "1"}
    assert HudiTable.open(folder / "t").services.compact(options=options, engine=SparkEngine(_session()))


def _cluster(folder: Path) -> None:
    assert HudiTable.open(folder / "t").services.cluster(options={**OPTIONS, COLUMNS: "a"}, engine=SparkEngine(_session()))


def _clean(folder: Path) -> None:
    assert HudiTable.open(folder / "t").services.clean(options={"hoodie.clean.commits.retained": "1"})


def _compact_metadata(folder: Path) -> None:
    HudiTable.open(folder / "t").upsert(pq.read_table(folder / "changes.parquet").slice(0, 10), options=WITH_INDEX)


OPERATIONS = {
    "bulk insert, NONE": _load("NONE"),
    "bulk insert, GLOBAL_SORT": _load("GLOBAL_SORT"),
    "bulk insert, PARTITION_SORT": _load("PARTITION_SORT"),
    "bulk insert, PARTITION_PATH_REPARTITION": _load("PARTITION_PATH_REPARTITION"),
    "bulk insert, PARTITION_PATH_REPARTITION_AND_SORT": _load("PARTITION_PATH_REPARTITION_AND_SORT"),
    "insert": Operation(_write("insert", "load.parquet"), _empty("COPY_ON_WRITE")),
    "upsert, copy-on-write": Operation(_write("upsert", "changes.parquet"), _loaded("COPY_ON_WRITE")),
    "upsert, merge-on-read": Operation(_write("upsert", "changes.parquet"), _loaded("MERGE_ON_READ")),
    "delete by key, copy-on-write": Operation(_write("delete", "changes.parquet"), _loaded("COPY_ON_WRITE")),
    "compaction": Operation(_compact, _loaded("MERGE_ON_READ", 3)),
    "clustering, sorted": Operation(_cluster, _loaded("COPY_ON_WRITE")),
    "clean": Operation(_clean, _loaded("COPY_ON_WRITE", 3)),
    "compaction of the metadata table, record index": Operation(_compact_metadata, _loaded("COPY_ON_WRITE", 2, WITH_INDEX)),
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--operations", nargs="*", choices=list(OPERATIONS), default=list(OPERATIONS))
    parser.add_argument("--step", choices=["prepare", "run"])
    parser.add_argument("--operation", choices=list(OPERATIONS))
    parser.add_argument("--folder")
    return parser.parse_args()


if __name__ == "__main__":
    main()
