"""By every index that finds keys, Spark's tasks leave the table that the local engine leaves, and count the same rows."""

from __future__ import annotations

import itertools
import logging
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody gives it

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from pyhudi.write.write_result import WriteResult

pytestmark = pytest.mark.spark

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "seen": pa.int64(), "note": pa.string()})
Step = tuple[str, Sequence[tuple[Any, ...]]]
RECORDS = {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}
BY_PARTITION = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.level.index.enable": "true"}
INDEXES = {
    "GLOBAL_SIMPLE": {},
    "GLOBAL_BLOOM": {},
    "GLOBAL_RECORD_LEVEL_INDEX": RECORDS,
    "RECORD_LEVEL_INDEX": BY_PARTITION,
    "SIMPLE": {},
}
KINDS = ("COPY_ON_WRITE", "MERGE_ON_READ")
STAY = {f"hoodie.{kind}.index.update.partition.path": "false" for kind in ("simple", "bloom", "record")}
FIRST: list[Step] = [
    ("upsert", [(n, "oslo" if n % 2 else "rome", 5, "first") for n in range(12)]),
    ("upsert", [(0, "rome", 6, "again"), (1, "oslo", 6, "again")]),
    ("delete", [(2, "rome"), (3, "oslo")]),
]
#: Updated, moved, late where it would move, deleted before and back, moved back and forth, new, twice in one partition, twice in two.
MIXED: Step = (
    "upsert",
    [
        (0, "rome", 7, "updated"),
        (4, "oslo", 7, "moved"),
        (6, "oslo", 1, "late"),
        (2, "oslo", 7, "back"),
        (3, "oslo", 7, "back"),
        (1, "rome", 5, "late"),
        (20, "lima", 1, "new"),
        (8, "rome", 7, "twice"),
        (8, "rome", 8, "twice, later"),
        (21, "lima", 2, "twice, new"),
        (21, "rome", 1, "twice, new, late"),
        (10, "lima", 8, "twice, moved"),
        (10, "rome", 9, "twice, stays"),
    ],
)
STEPS: list[Step] = [
    MIXED,
    ("upsert", [(4, "rome", 8, "moved back"), (5, "rome", 9, "moved"), (21, "lima", 3, "updated"), (0, "oslo", 0, "late")]),
    ("delete", [(4, "rome"), (5, "rome"), (7, "lima"), (20, "lima")]),
    ("insert", [(5, "oslo", 1, "new"), (9, "lima", 9, "known elsewhere"), (30, "lima", 1, "new"), (30, "rome", 2, "new")]),
]
numbers = itertools.count()


@pytest.mark.parametrize(
    ("index", "kind", "more"),
    [
        pytest.param("GLOBAL_SIMPLE", "MERGE_ON_READ", STAY, marks=pytest.mark.slow),
        ("RECORD_LEVEL_INDEX", "COPY_ON_WRITE", {}),
    ],
)
def test_a_batch_of_moves_and_late_rows_ends_alike(
    spark: SparkSession, tmp_path: Path, index: str, kind: str, more: dict[str, str]
) -> None:
    compare(spark, tmp_path, index, kind, more, "seen", [MIXED])


@pytest.mark.slow
@pytest.mark.parametrize("ordering", ["seen", ""])
@pytest.mark.parametrize("more", [{}, STAY], ids=["moves", "stays"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", INDEXES)
def test_every_history_ends_alike(spark: SparkSession, tmp_path: Path, index: str, kind: str, more: dict[str, str], ordering: str) -> None:
    # By commit time the last of two rows wins, and Spark has no last one.
    once = STEPS if ordering else [(operation, list({row[0]: row for row in rows}.values())) for operation, rows in STEPS]
    compare(spark, tmp_path, index, kind, more, ordering, once)


def test_a_damaged_record_index_is_told_of_and_the_files_are_asked(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = made(tmp_path / "t", "GLOBAL_RECORD_LEVEL_INDEX", "COPY_ON_WRITE", {}, "seen")
    for file in (path / ".hoodie" / "metadata" / "record_index").iterdir():
        if file.suffix in (".hfile", "") and not file.name.startswith(".hoodie_partition"):
            file.write_bytes(file.read_bytes()[:-100])
    with caplog.at_level(logging.WARNING, "pyhudi.index"):
        written = apply(
            spark, path, ("upsert", [(0, "rome", 9, "x"), (99, "rome", 9, "y")]), options("GLOBAL_RECORD_LEVEL_INDEX", {}), "spark"
        )
    assert "record index" in caplog.text
    assert (written.updated, written.inserted) == (1, 1)


def test_rows_that_change_from_run_to_run_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    path = made(tmp_path / "t", "SIMPLE", "COPY_ON_WRITE", {}, "seen")
    city = F.udf(lambda _: os.urandom(8).hex(), "string").asNondeterministic()
    frame = spark.range(8).select("id", city("id").alias("city"), F.lit(1).cast("long").alias("seen"), F.lit("x").alias("note"))
    before = content(path)
    with pytest.raises(UsageError, match="cache\\(\\) it"):
        HudiTable.open(str(path)).upsert(frame, options={**options("SIMPLE", {}), "pyhudi.engine": "spark"})
    assert content(path) == before


def compare(
    spark: SparkSession, folder: Path, index: str, kind: str, more: Mapping[str, str], ordering: str, steps: Sequence[Step]
) -> None:
    made(folder / "local", index, kind, more, ordering)
    shutil.copytree(folder / "local", folder / "spark")
    for step in steps:
        results = [apply(spark, folder / engine, step, options(index, more), engine) for engine in ("local", "spark")]
        local, tasks = ((one.inserted, one.updated, one.deleted, one.late_dropped) for one in results)
        assert tasks == local, step
        assert content(folder / "spark") == content(folder / "local"), step
        assert results[1].engine == "spark"


def made(path: Path, index: str, kind: str, more: Mapping[str, str], ordering: str) -> Path:
    HudiTable.create(
        str(path), SCHEMA, name="t", keys=("id",), partition_by=("city",), order_by=(ordering,) * bool(ordering), table_type=kind
    )
    for operation, rows in FIRST:
        table = HudiTable.open(str(path))
        getattr(table, operation)(batch(rows), options=options(index, more))
    return path


def options(index: str, more: Mapping[str, str]) -> dict[str, str]:
    drops = {"hoodie.datasource.write.insert.drop.duplicates": "false"}
    return {
        "hoodie.metadata.enable": "false",
        **INDEXES[index],
        **more,
        **drops,
        "hoodie.index.type": index,
        "hoodie.compact.inline": "false",
    }


def apply(spark: SparkSession, path: Path, step: Step, stated: dict[str, str], engine: str) -> WriteResult:
    operation, rows = step
    if operation == "insert" and HudiTable.open(str(path)).config.is_merge_on_read is False:
        stated = {**stated, "hoodie.datasource.write.insert.drop.duplicates": "true"}
    data = batch(rows)
    table = HudiTable.open(str(path))
    if engine == "local":
        answer: WriteResult = getattr(table, operation)(data, options=stated)
        return answer
    result: WriteResult = getattr(table, operation)(spark.createDataFrame(data), options={**stated, "pyhudi.engine": "spark"})
    return result


def batch(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=False)) for row in rows], pa.schema(list(SCHEMA)[: len(rows[0])]))


def content(path: Path) -> list[tuple[Any, ...]]:
    columns = ["_hoodie_record_key", "_hoodie_partition_path", *SCHEMA.names]
    rows = HudiTable.open(str(path)).to_arrow(columns=columns).to_pylist()
    return sorted((tuple(row.values()) for row in rows), key=repr)


@pytest.mark.parametrize("kind", KINDS)
def test_key_of_two_partitions_is_found_in_one_when_the_index_lost_the_other(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    path = str(tmp_path / "t")
    table = HudiTable.create(path, SCHEMA, name="twice", keys=["id"], partition_by=["city"], table_type=kind)
    both = [(5, "oslo", 1, "first"), (5, "rome", 1, "first"), (6, "oslo", 1, "first")]
    named = {**RECORDS, "hoodie.index.type": "RECORD_LEVEL_INDEX", "hoodie.parquet.small.file.limit": "0"}

    def written(rows: Sequence[tuple[Any, ...]], operation: str) -> None:
        writer = spark.createDataFrame(rows, "id long, city string, seen long, note string").write.format("hudi")
        writer.options(**named, **{"hoodie.datasource.write.operation": operation}).mode("append").save(path)

    table.upsert(pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in both], SCHEMA), options=RECORDS)
    known = HudiTable.open(path).inspect.explain_upsert([{"id": 5, "city": "rome", "seen": 2, "note": ""}], options=named)
    assert known.existing == 1
    written([(5, "rome", 1, "")], "delete")
    written([(5, "oslo", 2, "second"), (7, "oslo", 2, "second")], "upsert")
    rows = spark.read.format("hudi").load(path).select("id", "city", "note").collect()
    assert sorted(map(tuple, rows)) == [(5, "oslo", "second"), (6, "oslo", "first"), (7, "oslo", "second")]
