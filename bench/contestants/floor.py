"""The floor: what pyarrow needs for the same bytes, two threads, without keys, index, bloom filter or commit."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

PLAIN = ["_hoodie_commit_seqno", "_hoodie_record_key"]


class Contestant:
    """Two Parquet files with the five meta columns; an upsert probes the keys, reads and rewrites both."""

    def __init__(self, inputs: Path, work: Path) -> None:
        self.inputs, self.base = inputs, work / "floor"
        self.pool = ThreadPoolExecutor(2)
        self.rows = pq.read_table(inputs / "load.parquet")

    def prepare_load(self, _: int) -> None:
        """Start from nothing."""
        shutil.rmtree(self.base, ignore_errors=True)
        self.base.mkdir(parents=True)

    def load(self, _: int) -> int:
        """Write the whole table."""
        half = len(self.rows) // 2
        parts = [(self.rows.slice(0, half), "a"), (self.rows.slice(half), "b")]
        list(self.pool.map(lambda part: self.write(with_meta(part[0], part[1]), part[1]), parts))
        return len(self.rows)

    def write(self, rows: pa.Table, name: str) -> None:
        """Write one file durably."""
        path = self.base / f"{name}.parquet"
        names = [field for field in rows.column_names if field not in PLAIN]
        pq.write_table(rows, path, compression="zstd", compression_level=1, use_dictionary=names, store_schema=False)
        with path.open("rb") as file:
            os.fsync(file.fileno())

    def upsert(self, number: int) -> int:
        """Find the batch's keys, rewrite both files with the old versions left out and the new rows appended."""
        batch = pq.read_table(self.inputs / f"batch-{number}.parquet")
        half = len(batch) // 2
        list(self.pool.map(lambda part: self.rewrite(part[0], batch, part[1]), [("a", batch.slice(0, half)), ("b", batch.slice(half))]))
        return len(batch)

    def rewrite(self, name: str, batch: pa.Table, mine: pa.Table) -> None:
        """Rewrite one file."""
        constants = ["_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name"]
        old = pq.read_table(self.base / f"{name}.parquet", read_dictionary=constants)
        retained = old.filter(pc.invert(pc.is_in(old["_hoodie_record_key"], value_set=batch["key"])))
        self.write(pa.concat_tables([retained.unify_dictionaries(), with_meta(mine, name)]).unify_dictionaries(), name)

    def count(self, _: int) -> int:
        """Row count from the footers."""
        return sum(pq.read_metadata(path).num_rows for path in self.base.glob("*.parquet"))

    def sums(self, _: int) -> list[float]:
        """Sum of three columns."""
        table = pq.read_table(self.base, columns=["a", "x", "y"])
        return [pc.sum(column).as_py() for column in table.columns]

    def scan(self, _: int) -> int:
        """Every row to Arrow."""
        return len(pq.read_table(self.base, columns=self.rows.column_names))


def with_meta(rows: pa.Table, name: str) -> pa.Table:
    """Put Hudi's five meta columns first."""
    counter = pc.cast(pa.array(np.arange(len(rows))), pa.string())
    meta = [constant("20260101000000000", len(rows)), pc.binary_join_element_wise("20260101000000000_0_", counter, ""), rows["key"]]
    meta += [constant("", len(rows)), constant(f"{name}.parquet", len(rows))]
    names = ["commit_time", "commit_seqno", "record_key", "partition_path", "file_name"]
    return pa.table(meta + rows.columns, names=[f"_hoodie_{n}" for n in names] + rows.column_names)


def constant(text: str, count: int) -> pa.DictionaryArray:
    """Return `count` times one text."""
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), count), [text])
