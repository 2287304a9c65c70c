"""The floor of merge-on-read: what pyarrow needs to find a batch's keys and to write its bytes, or to rewrite the files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.contestants import floor


class Contestant(floor.Contestant):
    """The two Parquet files of `floor`; a batch becomes two small files beside them."""

    def upsert(self, number: int) -> int:
        """Find the batch's keys in both files, write the batch in two halves."""
        batch = pq.read_table(self.inputs / f"batch-{number}.parquet")
        half = len(batch) // 2
        result = self.pool.map(lambda name: self.probe(name, batch["key"]), ["a", "b"])
        parts = [(batch.slice(0, half), f"log-{number}-a"), (batch.slice(half), f"log-{number}-b")]
        list(self.pool.map(lambda part: self.write(floor.with_meta(part[0], part[1]), part[1]), parts))
        return sum(result)

    def probe(self, name: str, keys: object) -> int:
        """Count the keys of a file that the batch has."""
        stored = pq.read_table(self.base / f"{name}.parquet", columns=["_hoodie_record_key"])
        return int(pc.sum(pc.is_in(stored["_hoodie_record_key"], value_set=keys)).as_py())

    def prepare_compact(self, _: int) -> None:
        """A copy of the files."""
        self.copy = self.base.with_name("floor-to-compact")
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.base, self.copy)

    def compact(self, _: int) -> int:
        """Read everything, the batches too, and write both files again."""
        return sum(self.pool.map(self.rewrite_with_logs, ["a", "b"]))

    def rewrite_with_logs(self, name: str) -> int:
        """Read one file and its batches, leave out what the batches replace, write the result."""
        constants = ["_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name"]
        old = pq.read_table(self.copy / f"{name}.parquet", read_dictionary=constants)
        for log in sorted(self.copy.glob(f"log-*-{name}.parquet")):
            rows = pq.read_table(log, columns=["_hoodie_record_key"])
            old = old.filter(pc.invert(pc.is_in(old["_hoodie_record_key"], value_set=rows["_hoodie_record_key"])))
        path = Path(self.copy) / f"{name}-new.parquet"
        names = [field for field in old.column_names if field not in floor.PLAIN]
        pq.write_table(old, path, compression="zstd", compression_level=1, use_dictionary=names, store_schema=False)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        return len(old)
