"""Small changes of the large table `L10` by SQL, the same statements for every engine on Spark: MERGE of ten rows, MERGE of 1 %, INSERT."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from bench.contestants.spark_session import builder
from bench.data import rows_of

MERGE = "MERGE INTO {} t USING source s ON t.key = s.key WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
#: The primes that spread the ten rows of each statement over the table, and keep them apart.
_SPREAD = 7_919
#: As `bench.data` makes them.
COLUMNS = "key STRING, part STRING, ts TIMESTAMP, a BIGINT, b BIGINT, x DOUBLE, y DOUBLE, cat STRING, hex STRING, flag BOOLEAN"


class SmallChanges:
    """One table in a catalog of the engine; a subclass says how the session and the table are made."""

    #: The table's name in SQL, what follows CREATE TABLE's columns, and the settings of the session.
    table: str
    clauses: str
    settings: ClassVar[Mapping[str, str]]

    def __init__(self, inputs: Path, work: Path) -> None:
        self.inputs = inputs
        self.warehouse = work / type(self).__module__.rpartition(".")[2]
        self.rows = pq.read_metadata(inputs / "load.parquet").num_rows
        session = builder("changes").config("spark.sql.warehouse.dir", str(self.warehouse)).config("spark.sql.session.timeZone", "UTC")
        for name, value in self.settings.items():
            session = session.config(name, value.format(warehouse=self.warehouse))
        self.spark = self.start(session)

    def start(self, session: SparkSession.Builder) -> SparkSession:
        """Return the session of the engine."""
        return session.getOrCreate()

    def prepare_load(self, _: int) -> None:
        """Start from an empty table."""
        shutil.rmtree(self.warehouse, ignore_errors=True)
        self.spark.sql(f"CREATE TABLE {self.table} ({COLUMNS}) {self.clauses}")

    def load(self, _: int) -> None:
        """Insert the whole table."""
        self.spark.sql(f"INSERT INTO {self.table} SELECT * FROM parquet.`{self.inputs / 'load.parquet'}`")

    def prepare_merge10(self, number: int) -> None:
        """Seven rows that the table holds, spread over it, and three that it does not."""
        old = [(number * 7 + at) * _SPREAD * 101 % self.rows for at in range(7)]
        new = [self.rows * 3 + number * 3 + at for at in range(3)]
        self._take_source(old + new, 3_000 + number)

    def merge10(self, _: int) -> None:
        """MERGE of ten rows."""
        self.spark.sql(MERGE.format(self.table)).collect()

    def prepare_merge1pct(self, number: int) -> None:
        """A batch of a hundredth of the rows, as a file."""
        self.spark.sql(f"CREATE OR REPLACE TEMP VIEW source AS SELECT * FROM parquet.`{self.inputs / f'batch-{number}.parquet'}`")

    def merge1pct(self, _: int) -> None:
        """MERGE of one batch."""
        self.spark.sql(MERGE.format(self.table)).collect()

    def prepare_insert10(self, number: int) -> None:
        """Ten rows that the table does not hold."""
        self._take_source([self.rows * 5 + number * 10 + at for at in range(10)], 4_000 + number)

    def insert10(self, _: int) -> None:
        """INSERT of ten rows."""
        self.spark.sql(f"INSERT INTO {self.table} SELECT * FROM source").collect()

    def _take_source(self, ids: Iterable[int], seed: int) -> None:
        rows = rows_of(np.array([*ids], np.int64), seed)
        values = ", ".join("(" + ", ".join(map(_literal, row.values())) + ")" for row in rows.to_pylist())
        names = ", ".join(rows.schema.names)
        self.spark.sql(f"CREATE OR REPLACE TEMP VIEW source AS SELECT * FROM VALUES {values} AS v({names})")


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value}L"
    if isinstance(value, float):
        return f"{value!r}D"
    return f"'{value}'" if isinstance(value, str) else f"TIMESTAMP'{value}'"
