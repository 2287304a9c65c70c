"""Files that are deleted before, while or after a read lists them: all rows of one state, or an error; never fewer rows."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from pyhudi import HudiTable
from pyhudi.errors import HudiError, UsageError
from pyhudi.read.snapshot import snapshot
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table import read_table
from pyhudi.testing.fault_injection import Fault
from tests.unit.crash.tables import CountedIds, Driver, StoppedClock, cuts, ride

CITIES = ("bern", "oslo", "rome")
RETAIN_ONE = {"hoodie.clean.commits.retained": "1"}
KINDS = [
    Driver(table_type=kind, metadata_table=metadata, written_with={"hoodie.compact.inline.max.delta.commits": "1", **RETAIN_ONE})
    for kind, metadata in itertools.product(("COPY_ON_WRITE", "MERGE_ON_READ"), (True, False))
]
#: The archive of version 6 holds the commits whose files a clean deletes.
ARCHIVED = Driver(
    created_with={"hoodie.write.table.version": "6"},
    written_with={"hoodie.clean.automatic": "false", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"},
)


def rides(value: int) -> list[dict[str, object]]:
    return [ride(number, city, value) for number, city in enumerate(CITIES)]


def written(driver: Driver, commits: int) -> tuple[MemoryStorage, list[str]]:
    storage = MemoryStorage()
    driver.create(storage)
    return storage, [driver.write(storage, Operation.UPSERT, rides(value)).instant for value in range(commits)]


@pytest.mark.parametrize("driver", KINDS, ids=str)
def test_a_scan_whose_files_were_cleaned_before_they_were_listed_is_refused(driver: Driver) -> None:
    storage, _ = written(driver, 1)
    table = HudiTable(storage)
    scans = [table.scan() for _ in range(4)]
    for value in range(1, 6):
        driver.write(storage, Operation.UPSERT, rides(value))
    reads = (scans[0].to_arrow, scans[1].count_rows, scans[2].to_table, scans[3].filter("value = 0").to_arrow)
    for read in reads:
        with pytest.raises(UsageError, match=r"clean \d+ deleted files of that time; the earliest time is \d+"):
            read()
    assert table.count() == 3


@pytest.mark.parametrize("driver", KINDS[:2], ids=str)
def test_a_scan_of_commits_that_were_only_followed_by_others_shows_its_own_state(driver: Driver) -> None:
    storage, _ = written(driver, 1)
    scan = HudiTable(storage).scan(["value"])
    driver.write(storage, Operation.UPSERT, rides(1))
    assert scan.to_arrow()["value"].to_pylist() == [0, 0, 0]


def test_a_scan_of_a_commit_that_was_rolled_back_meanwhile_is_refused() -> None:
    storage, instants = written(Driver(), 3)
    table = HudiTable(storage)
    scan = table.scan()
    table.services.rollback(instants[-1])
    with pytest.raises(UsageError, match=f"commit {instants[-1]} of table .* was rolled back after it had been opened"):
        scan.to_arrow()


def test_read_whose_files_are_cleaned_before_they_are_listed_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = KINDS[0]
    storage, _ = written(driver, 1)
    open_now = snapshot.open_snapshot

    def suspended(*arguments: Any) -> snapshot.Snapshot:
        state = open_now(*arguments)
        if len(HudiTable(storage).history()) < 10:  # while it waits, others write and clean
            for value in range(1, 6):
                driver.write(storage, Operation.UPSERT, rides(value))
        return state

    monkeypatch.setattr(read_table, "open_snapshot", suspended)
    assert HudiTable(storage).to_arrow(["value"])["value"].to_pylist() == [5, 5, 5]


@pytest.mark.parametrize("versions", [("6", 9), ("9", 6)], ids=str)
def test_a_scan_is_read_after_an_upgrade_or_downgrade(versions: tuple[str, int]) -> None:
    old, new = versions
    storage, _ = written(Driver(created_with={"hoodie.write.table.version": old}, table_type="MERGE_ON_READ"), 2)
    table = HudiTable(storage)
    scan = table.scan(["value"])
    services = table.services
    (services.upgrade if int(old) < new else services.downgrade)(new)
    assert scan.to_arrow()["value"].to_pylist() == [1, 1, 1]


def test_an_archived_state_of_which_an_interrupted_clean_deleted_some_files_is_refused() -> None:
    storage, instants = written(ARCHIVED, 8)
    refused = read = 0
    for run in cuts(clean, storage, [Fault.AFTER]):
        table = HudiTable(run.storage)
        for value, instant in enumerate(instants):
            try:
                rows = table.to_arrow(columns=["value"], as_of=instant)
            except HudiError:
                refused += 1
                continue
            read += 1
            assert rows["value"].to_pylist() == [value] * 3, f"{run.point}: as of {instant}"
        assert table.to_arrow(columns=["value"])["value"].to_pylist() == [7, 7, 7], run.point
    assert refused > 100
    assert read > 10


def clean(storage: Storage) -> object:
    return HudiTable(storage, clock=StoppedClock(), ids=CountedIds()).services.clean(options=RETAIN_ONE)
