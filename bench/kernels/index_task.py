"""Memory of a Spark task that asks the record index: all keys of a table are asked for at once.

    python -m bench.kernels.index_task --work <scratch folder> [--rows N] [--groups N]

The table is made once and kept. One file group of the index, the default, makes one task of all keys.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from pathlib import Path

import numpy as np

import pyhudi
from bench.contestants.spark_session import builder
from bench.data import ROWS, rows_of
from bench.kernels.upserts import largest_python_process
from pyhudi import HudiTable
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.index.index_protocol import LookupContext
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.schema.meta_columns import PARTITION_PATH, RECORD_KEY
from pyhudi.spark.index_join.record_index_join import record_index_locations
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from pyhudi.write.input.prepare_rows import TableSchema, record_context


def main() -> None:
    """Make the table when it is not there, then ask."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels.index_task")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--groups", type=int, default=1)
    arguments = parser.parse_args()
    path = arguments.work / f"index-task-{arguments.rows}-{arguments.groups}"
    if not (path / "made").exists():
        make(path, arguments.rows, arguments.groups)
    look_up(HudiTable.open(path / "table"), arguments.rows)


def make(path: Path, rows: int, groups: int) -> None:
    """Write the rows and their record index of so many file groups."""
    data = rows_of(np.arange(rows), seed=1)
    table = HudiTable.create(path / "table", data.schema, name="lookup", keys=["key"])
    limits = {f"hoodie.metadata.global.record.level.index.{name}.filegroup.count": str(groups) for name in ("min", "max")}
    table.bulk_insert(data, limits | {"hoodie.metadata.global.record.level.index.enable": "true"})
    (path / "made").touch()


def look_up(table: HudiTable, rows: int) -> None:
    """Ask for every key; print how long it took and the most bytes that a worker of Spark held."""
    timeline = load_full_timeline(table.storage, table.config)
    view = open_view(table.storage, table.config, timeline)
    stored = table_schema(table.storage, table.config, timeline)
    lookup = LookupContext(table.storage, view, LocalEngine(), record_context(TableSchema(stored.columns, stored.avro_json), table.config))
    session = pyhudi.enable(builder("index_task")).getOrCreate()
    files = [f"{table.storage.uri}/{file.path}" for path in view.partition_paths() for file in view.latest_base_files(path)]
    keyed = session.read.parquet(*files).select(RECORD_KEY, PARTITION_PATH)
    started = time.perf_counter()
    with contextlib.ExitStack() as retained:
        indices = record_index_locations(keyed, lookup, retained, in_any_partition=True)
        result = 0 if indices is None else indices.count()
    print(f"{result} of {rows} keys found in {time.perf_counter() - started:.1f} s; largest worker {largest_python_process() >> 20} MiB")


if __name__ == "__main__":
    main()
