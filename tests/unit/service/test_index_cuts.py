"""Every storage call of making and dropping an index, cut: readers never see half of it, and it can be done again."""

from __future__ import annotations

import pytest

from pyhudi import HudiTable
from pyhudi.engine import local_engine as local
from pyhudi.metadata_table.format.metadata_keys import split_secondary_key
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.service.indexes import Indexing, IndexRequest
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties, recover_properties
from pyhudi.testing.crash_points import crash_points
from pyhudi.testing.fault_injection import Fault
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from tests.unit.crash.tables import STORED, CountedIds, Driver, StoppedClock, check_rows, ride, stored_table
from tests.unit.metadata_table.replays import prepared, timeline_of

BY_VALUE, INDEX = IndexRequest("by_value", ("value",)), "secondary_index_by_value"


@pytest.fixture(autouse=True)
def _one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local.os, "cpu_count", lambda: 1)  # type: ignore[attr-defined]


def make(storage: Storage) -> None:
    Indexing(storage, StoppedClock(), CountedIds()).create(BY_VALUE, if_not_exists=True)


def drop(storage: Storage) -> None:
    Indexing(storage, StoppedClock(), CountedIds()).drop("by_value", if_exists=True)


def pairs(storage: Storage) -> set[tuple[str | None, str]] | None:
    """What the index holds, None without one."""
    config = TableConfig(load_properties(storage))
    table = MetadataTable.open(storage, config, load_full_timeline(storage, config))
    if INDEX not in table.partitions:
        return None
    result = {split_secondary_key(key) for key, _ in table.partition(INDEX).scan()}
    assert {key for _, key in result} == set(table.lookup_record_keys([key for _, key in result]))
    return result


@pytest.mark.slow
@pytest.mark.parametrize("cut", [make, drop])
def test_index_that_was_cut_is_whole_or_not_there(cut) -> None:
    storage, oracle = stored_table()
    prepared(storage, timeline_of(storage), StoppedClock())
    whole = storage.copy()
    make(whole)
    expected = pairs(whole)
    assert expected
    begin: MemoryStorage = storage if cut is make else whole
    for run in crash_points(cut, begin.copy, (Fault.AFTER, Fault.TORN)):
        recover_properties(run.storage)
        assert pairs(run.storage) in (None, expected), run.point
        check_rows(run.storage, oracle, run.point)
        make(run.storage)
        assert pairs(run.storage) == expected, run.point


INDEXED = [
    Driver(metadata_table=True),
    Driver(metadata_table=True, table_type="MERGE_ON_READ", written_with={"hoodie.compact.inline": "false"}),
]
CHANGE = (Operation.UPSERT, [ride(1, "oslo", 99), ride(7, "bern", 70)])
NEXT = (Operation.UPSERT, [ride(4, "rome", 41), ride(20, "oslo", 200)])


@pytest.mark.slow
@pytest.mark.parametrize("driver", INDEXED, ids=lambda driver: driver.table_type)
def test_write_that_was_cut_leaves_indexes_that_say_what_the_rows_say(driver) -> None:
    storage = MemoryStorage()
    driver.create(storage)
    driver.write(storage, Operation.INSERT, STORED)
    make(storage)
    for run in crash_points(lambda cut: driver.write(cut, *CHANGE), storage.copy, (Fault.AFTER,)):
        driver.write(run.storage, *NEXT)
        rows = {(str(row["value"]), str(row["id"])) for row in driver.read(run.storage)}
        assert pairs(run.storage) == rows, run.point


@pytest.mark.slow
@pytest.mark.parametrize("driver", INDEXED, ids=lambda driver: driver.table_type)
def test_writers_continue_after_a_build_that_was_cut_and_it_is_taken_up_and_right(driver) -> None:
    storage = MemoryStorage()
    driver.create(storage)
    driver.write(storage, Operation.INSERT, STORED)
    for run in crash_points(make, storage.copy, (Fault.AFTER, Fault.ERROR_NOT_DONE)):
        driver.write(run.storage, *CHANGE)
        expected = {(str(row["value"]), str(row["id"])) for row in driver.read(run.storage)}
        assert pairs(run.storage) in (None, expected), run.point
        driver.write(run.storage, *NEXT)
        make(run.storage)
        rows = {(str(row["value"]), str(row["id"])) for row in driver.read(run.storage)}
        assert pairs(run.storage) == rows, run.point
        assert not HudiTable(run.storage).config.metadata_partitions_inflight, run.point
        driver.write(run.storage, *CHANGE)
        rows = {(str(row["value"]), str(row["id"])) for row in driver.read(run.storage)}
        assert pairs(run.storage) == rows, run.point
