"""What merging for Spark leaves behind and where it runs: delta files, the cache of slices, Spark's tasks, counts."""

from __future__ import annotations

import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pyhudi import HudiTable
from pyhudi.errors import CorruptTableError
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import Snapshot, open_snapshot
from pyhudi.spark.scan import slice_merge as merged_slices
from pyhudi.spark.scan.delta_files import DeltaFolder
from pyhudi.spark.scan.row_mask import bits_of
from pyhudi.storage.scratch import ScratchFolder

pytestmark = pytest.mark.spark

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("amount", pa.int64())])


def rows(ids: range, city: str, amount: int) -> pa.Table:
    return pa.table([list(ids), [city] * len(ids), [amount] * len(ids)], schema=SCHEMA)


@pytest.fixture
def trips(tmp_path: Path) -> HudiTable:
    """A hundred rows each in oslo and lima, of which ten each were updated."""
    table = HudiTable.create(tmp_path / "trips", SCHEMA, name="trips", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ")
    for amount, count in ((1, 100), (7, 10)):
        table.upsert(pa.concat_tables([rows(range(count), "oslo", amount), rows(range(500, 500 + count), "lima", amount)]))
    return table


def merged(spark: SparkSession, snapshot: Snapshot, folder: Path) -> list[merged_slices.MergedSlice]:
    slices = [one for path in snapshot.partition_paths for one in snapshot.slices(path)]
    return merged_slices.merge_slices(spark, snapshot, slices, DeltaFolder(ScratchFolder(str(folder))))


def total(spark: SparkSession, table: HudiTable) -> tuple[int, int]:
    row = spark.read.format("hudi").load(table.storage.uri).agg({"amount": "sum", "id": "count"}).first()
    assert row is not None
    return row["sum(amount)"], row["count(id)"]


@pytest.mark.parametrize("positions", [[0], [7], [8], [3, 64, 65], list(range(16))])
def test_bits_are_set_for_exactly_the_masked_rows(positions: list[int]) -> None:
    bits = np.unpackbits(np.frombuffer(bits_of(np.array(positions)), np.uint8), bitorder="little")
    assert np.flatnonzero(bits).tolist() == positions


def test_no_masked_row_makes_no_bits() -> None:
    assert bits_of(np.array([], dtype=np.int64)) == b""


def test_many_bytes_of_logs_are_merged_in_sparks_tasks(spark: SparkSession, trips: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged_slices, "LOCAL_BYTES", 0)
    ran: list[int] = []
    run = merged_slices.SparkEngine.run  # type: ignore[attr-defined]

    def counted(engine: merged_slices.SparkEngine, function: Any, tasks: list[Any]) -> list[Any]:  # type: ignore[name-defined]
        ran.append(len(tasks))
        return run(engine, function, tasks)

    monkeypatch.setattr(merged_slices.SparkEngine, "run", counted)  # type: ignore[attr-defined]
    assert total(spark, trips) == (180 + 140, 200)
    assert ran == [2]


def test_damaged_log_in_a_spark_task_is_the_same_error(spark: SparkSession, trips: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merged_slices, "LOCAL_BYTES", 0)
    next(Path(trips.storage.uri).glob("lima/.*log*")).write_bytes(b"damaged")
    with pytest.raises(CorruptTableError, match="lima"):
        total(spark, trips)


def test_slice_larger_than_the_limit_is_merged_in_parts(spark: SparkSession, trips: HudiTable, tmp_path: Path) -> None:
    (one,) = open_snapshot(trips.storage, SnapshotQuery()).slices("oslo")
    snapshot = open_snapshot(trips.storage, SnapshotQuery(merge_bytes=2 * one.logs[0].size))
    (whole,) = merged_slices.merge_slices(spark, snapshot, [one], DeltaFolder(ScratchFolder(str(tmp_path / "parts"))))
    assert len(whole.files) > 1
    assert whole.masked == bits_of(np.arange(10))
    assert total(spark, trips) == (180 + 140, 200)


def test_files_of_a_slice_go_when_neither_cache_nor_scan_holds_it(
    spark: SparkSession, trips: HudiTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merged_slices, "_CACHED_BYTES", 0)
    monkeypatch.setattr(merged_slices, "_CACHES", weakref.WeakKeyDictionary())
    present = merged(spark, open_snapshot(trips.storage, SnapshotQuery()), tmp_path / "delta")
    assert len(list((tmp_path / "delta").iterdir())) == 2
    present.clear()
    assert list((tmp_path / "delta").iterdir()) == []


def test_next_commit_merges_only_the_slices_that_it_touched(spark: SparkSession, trips: HudiTable, tmp_path: Path) -> None:
    lima, oslo = merged(spark, open_snapshot(trips.storage, SnapshotQuery()), tmp_path / "delta")
    trips.upsert(rows(range(5), "oslo", 9))
    again = merged(spark, open_snapshot(trips.storage, SnapshotQuery()), tmp_path / "delta")
    assert again[0] is lima
    assert again[1] is not oslo


def test_count_of_a_snapshot_needs_no_job(spark: SparkSession, trips: HudiTable) -> None:
    spark.sparkContext.setJobGroup("counting", "no job is to run")
    assert spark.read.format("hudi").load(trips.storage.uri).count() == 200
    assert list(spark.sparkContext.statusTracker().getJobIdsForGroup("counting")) == []
    assert spark.read.format("hudi").load(trips.storage.uri).where("amount = 7").count() == 20
    assert list(spark.sparkContext.statusTracker().getJobIdsForGroup("counting")) != []


def test_count_follows_inserts_and_deletes_in_logs(spark: SparkSession, trips: HudiTable) -> None:
    trips.delete(rows(range(3), "oslo", 7))
    trips.upsert(rows(range(900, 905), "lima", 1))
    frame = spark.read.format("hudi").load(trips.storage.uri)
    assert frame.count() == len(frame.collect()) == 202


def test_count_fills_the_cache_of_a_cached_frame(spark: SparkSession, trips: HudiTable) -> None:
    frame = spark.read.format("hudi").load(trips.storage.uri).cache()
    try:
        assert frame.count() == 200
        caches = spark._jsparkSession.sharedState().cacheManager()
        assert caches.lookupCachedData(frame._jdf).get().cachedRepresentation().cacheBuilder().isCachedColumnBuffersLoaded()
    finally:
        frame.unpersist()


def test_count_of_an_incremental_read_is_that_of_its_rows(spark: SparkSession, trips: HudiTable) -> None:
    loaded = trips.history()["completed"][0].as_py()
    options = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": loaded}
    frame = spark.read.format("hudi").options(**options).load(trips.storage.uri)
    assert frame.count() == len(frame.collect()) == 20


def test_of_a_log_that_is_too_long_one_part_is_read_before_the_others(
    trips: HudiTable, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its 640 parts would each search 2 GiB before they fail."""
    runs: list[int] = []

    class Engine:
        def __init__(self, _: SparkSession) -> None: ...

        def run(self, _: Any, tasks: list[Any]) -> list[Any]:
            runs.append(len(tasks))
            raise CorruptTableError("no block")

    monkeypatch.setattr(merged_slices, "SparkEngine", Engine)
    monkeypatch.setattr(Snapshot, "with_checksums", lambda _, one: one)
    snapshot = open_snapshot(trips.storage, SnapshotQuery())
    slices = [replace(one, logs=tuple(replace(log, size=20 << 30) for log in one.logs)) for one in snapshot.slices("oslo")]
    with pytest.raises(CorruptTableError, match="no block"):
        merged_slices.merge_slices(spark, snapshot, slices, DeltaFolder(ScratchFolder(str(tmp_path / "delta"))))
    assert runs == [1]
