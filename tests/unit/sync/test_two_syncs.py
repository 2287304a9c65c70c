"""A commit and its sync come in between the calls of another sync of the same table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import pyhudi
from pyhudi import HudiTable
from pyhudi.sync import SyncedTable
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.sync.memory_catalog import MemoryCatalog

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})
OPTIONS = {"hoodie.meta.sync.client.tool.class": "org.mine.Memory"}


@pytest.fixture
def catalog() -> MemoryCatalog:
    catalog = MemoryCatalog()
    pyhudi.register_catalog("org.mine.Memory", catalog)
    return catalog


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    table = HudiTable.create(tmp_path / "trips", SCHEMA, name="trips", keys=["id"], partition_by=["city"])
    table.insert([{"id": 1, "city": "oslo"}, {"id": 2, "city": "rome"}])
    return table


def sync(table: HudiTable, **options: str) -> SyncedTable:
    (result,) = table.services.sync(options={**OPTIONS, **options})
    return result.tables[0]


@pytest.mark.parametrize("at", range(6))
@pytest.mark.parametrize(("is_new", "incremental"), [(True, "true"), (False, "true"), (False, "false")])
def test_a_sync_that_is_overtaken_at_any_call_leaves_what_the_later_commit_says(
    table: HudiTable, catalog: MemoryCatalog, at: int, *, is_new: bool, incremental: str
) -> None:
    options = {"hoodie.meta.sync.incremental": incremental}
    if not is_new:
        sync(table)
        table.delete(partitions=["oslo"])
        table.alter(add={"fare": pa.float64()})
        table.insert([{"id": 3, "city": "lima", "fare": 1.0}])
    calls: list[str] = []

    def overtake(call: str) -> None:
        calls.append(call)
        if len(calls) == at + 1:
            catalog.before = lambda _: None
            other = HudiTable.open(table.storage.uri)
            other.delete(partitions=["rome"])
            other.alter(add={"tip": pa.float64()})
            other.insert([{"id": 4, "city": "bonn", "tip": 1.0}], {"hoodie.write.set.null.for.missing.columns": "true"})
            sync(other, **options)

    catalog.before = overtake
    sync(table, **options)
    assert len(calls) == at + 1
    assert catalog.tables["trips"].columns[-1].name == "tip"
    assert catalog.values["trips"].keys() == ({("oslo",), ("bonn",)} if is_new else {("lima",), ("bonn",)})
    catalog.before = lambda _: None
    assert sync(table).action == "unchanged"


def test_a_slow_write_that_is_archived_before_the_next_sync_is_not_missed(tmp_path: Path, catalog: MemoryCatalog) -> None:
    table = HudiTable.create(tmp_path / "slow", SCHEMA, name="trips", keys=["id"], partition_by=["city"])
    options = {"hoodie.archive.automatic": "false", "hoodie.clean.automatic": "false", "hoodie.metadata.enable": "false"}
    for number in range(3):
        table.upsert([{"id": number, "city": f"c{number}"}], options=options)
    sync(table)
    for number in range(3):
        table.upsert([{"id": number, "city": "c0"}], options=options)
    done = load_timeline(table.storage, table.config).data_instants()
    # The second write completes last, so the sync before did not see it.
    (file,) = (tmp_path / "slow" / ".hoodie" / "timeline").glob(f"{done[1].requested}_*")
    file.rename(file.with_name(f"{done[1].requested}_{int(done[-1].completed or 0) + 1}.commit"))
    table.upsert([{"id": 0, "city": "c0"}], options=options)  # or archival would leave the instant that completed last
    del catalog.values["trips"]["c1",]
    few = {"hoodie.keep.min.commits": "5", "hoodie.keep.max.commits": "6", "hoodie.clean.commits.retained": "1"}
    table.services.archive(options=few)
    assert load_timeline(table.storage, table.config).data_instants()[0] == done[2]
    assert sync(table).added == 1
    assert sync(table).action == "unchanged"


def test_a_damaged_archive_does_not_hold_up_a_sync(tmp_path: Path, catalog: MemoryCatalog, caplog: pytest.LogCaptureFixture) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="trips", keys=["id"], partition_by=["city"])
    few = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
    options = {**few, "hoodie.metadata.enable": "false"}
    for number in range(6):
        table.upsert([{"id": number, "city": f"c{number}"}], options=options)
    sync(table)
    table.upsert([{"id": 6, "city": "c6"}], options={**options, "hoodie.archive.automatic": "false"})
    for manifest in (tmp_path / "t" / ".hoodie" / "timeline" / "history").glob("manifest_*"):
        manifest.write_bytes(b"x")
    assert sync(table).added == 1
    assert f"all partitions of {table.storage.uri} are compared with the catalog: '.hoodie/timeline/history/manifest_" in caplog.text
    assert len(catalog.values["trips"]) == 7


def test_a_write_of_version_6_that_is_pending_during_a_sync_is_not_missed(tmp_path: Path, catalog: MemoryCatalog) -> None:
    version = {"hoodie.write.table.version": "6"}
    table = HudiTable.create(tmp_path / "slow", SCHEMA, name="trips", keys=["id"], partition_by=["city"], options=version)
    times = [table.insert([{"id": number, "city": f"c{number}"}]).instant for number in range(3)]
    pending = [tmp_path / "slow" / ".hoodie" / f"{int(times[1] or 0) + 1}.{state}" for state in ("commit.requested", "inflight")]
    for file in pending:
        file.write_bytes(b"")

    def known() -> str:
        return catalog.tables["trips"].properties["last_commit_time_sync"]

    sync(table)
    assert known() == times[1]
    for file in pending:
        file.unlink()
    sync(table)
    assert known() == times[2]


def test_a_sync_under_another_scheme_adds_partitions_with_that_of_the_catalog(table: HudiTable, catalog: MemoryCatalog) -> None:
    """Writers may say s3a where the catalog's readers know s3."""
    base = "hoodie.datasource.meta.sync.base.path"
    sync(table, **{base: "s3://bucket/trips"})
    table.insert([{"id": 3, "city": "lima"}])
    sync(table, **{base: "s3a://bucket/trips"})
    assert catalog.tables["trips"].location == "s3://bucket/trips"
    assert catalog.values["trips"] == {(city,): f"s3://bucket/trips/{city}" for city in ("lima", "oslo", "rome")}
