"""pyhudi without Spark."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pyhudi import HudiTable


class Contestant:
    """An unpartitioned table, written and read in this process."""

    table_type = "COPY_ON_WRITE"
    options: ClassVar[Mapping[str, str]] = {}

    def __init__(self, inputs: Path, work: Path) -> None:
        self.inputs, self.base, self.small = inputs, work / self.table_type, work / f"{self.table_type}-small"
        self.rows = pq.read_table(inputs / "load.parquet")
        self.batch: pa.Table | None = None

    def prepare_load(self, _: int) -> None:
        """Start from an empty table."""
        shutil.rmtree(self.base, ignore_errors=True)
        self.table = HudiTable.create(str(self.base), self.rows.schema, name="l10", keys=("key",), table_type=self.table_type)

    def load(self, _: int) -> str:
        """Bulk-insert the whole table."""
        return str(self.table.bulk_insert(self.rows))

    def upsert(self, number: int) -> str:
        """Upsert one batch, its reading included."""
        return str(HudiTable.open(str(self.base)).upsert(pq.read_table(self.inputs / f"batch-{number}.parquet"), options=self.options))

    def count(self, _: int) -> int:
        """Row count."""
        return HudiTable.open(str(self.base)).count()

    def sums(self, _: int) -> list[float]:
        """Sum of three columns."""
        table = HudiTable.open(str(self.base)).to_arrow(columns=["a", "x", "y"])
        return [pc.sum(column).as_py() for column in table.columns]

    def scan(self, _: int) -> int:
        """Every row to Arrow."""
        return len(HudiTable.open(str(self.base)).to_arrow())

    def prepare_commit10(self, number: int) -> None:
        """A table that has had its first commit."""
        if number == 0:
            shutil.rmtree(self.small, ignore_errors=True)
            HudiTable.create(str(self.small), self.rows.schema, name="small", keys=("key",)).upsert(self.rows.slice(0, 10))

    def commit10(self, number: int) -> str:
        """Upsert ten rows, five of them known."""
        return str(HudiTable.open(str(self.small)).upsert(self.rows.slice(5 * (number + 1), 10)))
