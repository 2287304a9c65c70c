"""A commit and its sync come in between the calls of another sync of the same table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import pyhudi
from pyhudi import HudiTable
from pyhudi.sync import SyncedTable
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
