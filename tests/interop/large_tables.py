"""Tables of millions of rows that pyhudi, also on Spark, and Apache Hudi write in turn; after each step they and hudi-rs read all rows.

By hand, with the variables that `make interop` sets: `python -m tests.interop.large_tables FOLDER --rows 1000000 --steps 12 --seed 1`.
Each reading is compared with the model, value by value, in the order of the rows' numbers.
"""

from __future__ import annotations

import argparse
import logging
import random
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from hudi import HudiReadOptions, HudiTableBuilder
from pyspark.sql import SparkSession

import pyhudi
from pyhudi import HudiTable
from tests.interop.kinds import Kind
from tests.interop.numbered_rows import NARROW, WIDE, NumberedRows, rows_of
from tests.interop.reference import ReferenceHudi

_log = logging.getLogger("large_tables")
METADATA = {"hoodie.metadata.enable": "true"}
#: Small files and row groups, so that a table of a million rows has many of both.
SMALL = {"hoodie.parquet.max.file.size": str(24 << 20), "hoodie.parquet.block.size": str(4 << 20), "hoodie.parquet.small.file.limit": "0"}
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "3"}
RECORD_INDEX = {"hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.record.index.enable": "true"}
by_city = partial(Kind, keys=("id",), partition_by=("city",))


@dataclass(frozen=True)
class LargeKind:
    """How a table is made, and the options of each write of it."""

    table: Kind
    written: Mapping[str, str] = field(default_factory=dict)


KINDS = {
    one.table.name: one
    for one in (
        LargeKind(by_city("cow"), {**METADATA, **SMALL}),
        LargeKind(by_city("mor", table_type="MERGE_ON_READ", order_by=("version",)), {**METADATA, **SMALL}),
        LargeKind(Kind("record-index", keys=("id",), partition_by=()), {**METADATA, **SMALL, **RECORD_INDEX}),
        LargeKind(by_city("buckets", table_type="MERGE_ON_READ", version=8), {**METADATA, **BUCKETS}),
        LargeKind(by_city("version-6", table_type="MERGE_ON_READ", version=6), {"hoodie.index.type": "BLOOM"}),
        LargeKind(by_city("cow-6", version=6, order_by=("version",)), SMALL),
    )
}
AT_ONCE = {"hoodie.compact.inline.max.delta.commits": "1"}


@dataclass
class LargeLife:
    """One table, its model, and the writers that take turns."""

    kind: LargeKind
    path: Path
    model: NumberedRows
    chance: random.Random
    hudi: ReferenceHudi
    spark: Callable[[], SparkSession]
    compared: int = 0
    done: list[str] = field(default_factory=list)

    def begin(self, rows: int) -> None:
        """Load so many rows."""
        self.kind.table.create(self.path, self.model.schema).bulk_insert(self.model.store(np.arange(rows)), self.kind.written)
        self.compare()

    def step(self) -> None:
        """Let one of the writers change or rearrange the table, and compare."""
        names = ["upsert", "upsert", "insert", "delete", "delete where", "clean"]
        names += ["cluster"] * (self.kind.table.name != "buckets")  # their rows cannot leave their file group
        names += ["compact"] * (self.kind.table.table_type == "MERGE_ON_READ") + ["late"] * bool(self.kind.table.order_by)
        name, writer = self.chance.choice(names), self.chance.choice(["pyhudi", "spark", "hudi"])
        self.done.append(f"{name} by {writer}")
        if name in ("cluster", "compact", "clean"):
            self._serve(name, writer)
        elif name == "delete where":
            self._delete_where()
        else:
            rows = {"upsert": self._mixed, "insert": self._new, "late": self._late, "delete": self._removed}[name]()
            self._write("upsert" if name == "late" else name, writer, rows)
        self.compare()

    def compare(self) -> None:
        """Read all rows by each reader, and some by a filter, and compare them with the model."""
        expected, table = self.model.rows(), HudiTable.open(self.path)
        self._equal("pyhudi", table.to_arrow(), expected)
        target = self.path.with_name(f"{self.path.name}-exported")
        self.hudi.export(self.path, target)
        self._equal("Apache Hudi", pq.read_table(target), expected)
        shutil.rmtree(target)
        batches = HudiTableBuilder.from_base_uri(str(self.path)).build().read(HudiReadOptions(projection=expected.column_names))
        self._equal("hudi-rs", pa.Table.from_batches(batches), expected)
        low, kind = self.chance.randrange(len(self.model.versions)), self.chance.randrange(100)
        some = pc.and_(pc.greater(expected["id"], low), pc.equal(expected["kind"], kind))
        self._equal("filter", table.to_arrow(filter=f"id > {low} AND kind = {kind}"), expected.filter(some))

    def _equal(self, reader: str, rows: pa.Table, expected: pa.Table) -> None:
        rows = rows.select(expected.column_names).cast(expected.schema).sort_by("id")
        if not rows.equals(expected):
            raise AssertionError(f"{reader} after {self.done}: {first_difference(rows, expected)}")
        self.compared += len(rows)
        _log.info("%s, after %s: %d rows read by %s", self.kind.table.name, self.done[-1:] or "the load", len(rows), reader)

    def _write(self, operation: str, writer: str, rows: pa.Table) -> None:
        options = {**self.kind.table.reference_options(operation), **self.kind.written}
        if writer == "pyhudi":
            getattr(HudiTable.open(self.path), operation)(rows, options=self.kind.written)
        elif writer == "hudi":
            self.hudi.write(self.path, rows, "append", options)
        else:
            source = self.path.with_name(f"{self.path.name}-source.parquet")
            pq.write_table(rows, source)
            frame = self.spark().read.parquet(str(source)).repartition(3)
            frame.write.format("hudi").options(**options).mode("append").save(str(self.path))

    def _serve(self, name: str, writer: str) -> None:
        if writer == "pyhudi" or name == "clean":  # Apache Hudi's procedure takes tables of the catalog only
            getattr(HudiTable.open(self.path).services, name)(options={**self.kind.written, **AT_ONCE})
            return
        procedures = {
            "compact": f"CALL run_compaction(op => 'scheduleAndExecute', path => '{self.path}')",
            "cluster": f"CALL run_clustering(path => '{self.path}', order => 'price')",
        }
        if writer == "hudi":
            self.hudi.sql(procedures[name], conf={**self.kind.written, **AT_ONCE})
        else:
            with_options(self.spark(), {**self.kind.written, **AT_ONCE}, procedures[name])

    def _delete_where(self) -> None:
        kind, rows = self.chance.randrange(100), self.model.rows()
        self.model.remove(rows.filter(pc.equal(rows["kind"], kind))["id"].to_numpy())
        HudiTable.open(self.path).delete(where=f"kind = {kind}", options=self.kind.written)

    def _new(self) -> pa.Table:
        first = len(self.model.versions)
        return self.model.store(np.arange(first, first + max(10, first // 50)))

    def _mixed(self) -> pa.Table:
        """Return new versions of rows that are spread over the table, or of a range of them, and some new rows."""
        new = np.arange(len(self.model.versions), len(self.model.versions) + 100)
        return self.model.store(np.concatenate([self._some(), new]))

    def _late(self) -> pa.Table:
        """Return versions of rows that are older than those of the table."""
        some = self._some()
        return rows_of(self.model.schema, some, np.zeros(len(some), np.int32))

    def _removed(self) -> pa.Table:
        return self.model.remove(self._some())

    def _some(self) -> np.ndarray:
        present, share = self.model.present(), self.chance.choice([20, 200, 2000])
        count = max(1, len(present) // share)
        if self.chance.random() < 0.5:
            first = self.chance.randrange(len(present) - count)
            return present[first : first + count]
        return np.sort(np.random.default_rng(self.chance.randrange(1 << 30)).choice(present, count, replace=False))


def first_difference(rows: pa.Table, expected: pa.Table) -> str:
    """Tell what differs: the number of rows, or the first row and its columns."""
    if rows["id"].combine_chunks() != expected["id"].combine_chunks():
        extra, missing = (np.setdiff1d(one["id"], other["id"]) for one, other in ((rows, expected), (expected, rows)))
        return f"{len(rows)} rows instead of {len(expected)}; not expected: {extra[:5]}, missing: {missing[:5]}"
    for name in expected.column_names:
        for number, (one, other) in enumerate(zip(rows[name].to_pylist(), expected[name].to_pylist(), strict=True)):
            if one != other:
                return f"row {expected['id'][number]}, column {name}: {one!r} instead of {other!r}"
    return "chunks only"


def with_options(session: SparkSession, options: Mapping[str, str], statement: str) -> None:
    """Run a statement under settings of a session."""
    for key, value in options.items():
        session.conf.set(key, value)
    session.sql(statement).collect()
    for key in options:
        session.conf.unset(key)


def live(folder: Path, kind: str, rows: int, steps: int, seed: int, hudi: ReferenceHudi, spark: Callable[[], SparkSession]) -> int:
    """Let a table live for so many steps, and return how many rows were compared."""
    model = NumberedRows(WIDE if rows <= 3_000_000 else NARROW)
    path = folder / f"{kind}-{seed}"
    life = LargeLife(KINDS[kind], path, model, random.Random(f"{kind} {seed}"), hudi, spark)
    life.begin(rows)
    for _ in range(steps):
        life.step()
    shutil.rmtree(path)
    return life.compared


def session() -> SparkSession:
    """Return pyhudi's Spark."""
    builder = SparkSession.builder.master("local[2]").config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false")
    return pyhudi.enable(builder.config("spark.sql.shuffle.partitions", "4").config("spark.driver.memory", "2g")).getOrCreate()


def main() -> None:
    """Let a table of each kind live, and print how many rows were compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    given, total = parser.parse_args(), 0
    logging.basicConfig(format="%(asctime)s %(message)s")
    _log.setLevel(logging.INFO)
    with ReferenceHudi(given.folder / "reference") as hudi:
        for kind in given.kinds.split(","):
            began = time.monotonic()
            compared = live(given.folder, kind, given.rows, given.steps, given.seed, hudi, session)
            total += compared
            sys.stdout.write(f"{kind}: {compared:,} rows were read alike, {time.monotonic() - began:.0f} s\n")
            sys.stdout.flush()
    sys.stdout.write(f"{total:,} rows were read alike by Apache Hudi, hudi-rs and pyhudi\n")


if __name__ == "__main__":
    main()
