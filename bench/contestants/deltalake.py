"""delta-rs (`deltalake` from PyPI)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable, WriterProperties, write_deltalake

ZSTD = WriterProperties(compression="ZSTD", compression_level=1)


class Contestant:
    """An unpartitioned Delta table."""

    def __init__(self, inputs: Path, work: Path) -> None:
        self.inputs, self.base, self.small = inputs, work / "deltalake", work / "deltalake-small"
        self.rows = pq.read_table(inputs / "load.parquet")

    def prepare_load(self, _: int) -> None:
        """Start from nothing."""
        shutil.rmtree(self.base, ignore_errors=True)

    def load(self, _: int) -> None:
        """Write the whole table."""
        write_deltalake(str(self.base), self.rows, writer_properties=ZSTD)

    def upsert(self, number: int) -> None:
        """Merge one batch."""
        merge(self.base, pq.read_table(self.inputs / f"batch-{number}.parquet"))

    def count(self, _: int) -> int:
        """Row count."""
        return DeltaTable(str(self.base)).to_pyarrow_dataset().count_rows()

    def sums(self, _: int) -> list[float]:
        """Sum of three columns."""
        table = DeltaTable(str(self.base)).to_pyarrow_table(columns=["a", "x", "y"])
        return [pc.sum(column).as_py() for column in table.columns]

    def scan(self, _: int) -> int:
        """Every row to Arrow."""
        return len(DeltaTable(str(self.base)).to_pyarrow_table())

    def prepare_commit10(self, number: int) -> None:
        """A table that has had its first commit."""
        if number == 0:
            shutil.rmtree(self.small, ignore_errors=True)
            write_deltalake(str(self.small), self.rows.slice(0, 10))

    def commit10(self, number: int) -> None:
        """Merge ten rows, five of them known."""
        merge(self.small, self.rows.slice(5 * (number + 1), 10))


def merge(base: Path, rows: pa.Table) -> None:
    """Upsert by key."""
    merger = DeltaTable(str(base)).merge(rows, "t.key = s.key", source_alias="s", target_alias="t", writer_properties=ZSTD)
    merger.when_matched_update_all().when_not_matched_insert_all().execute()
