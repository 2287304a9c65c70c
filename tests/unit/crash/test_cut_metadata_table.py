"""What the metadata table adds to an action, cut at every change: readers see the rows before or after, the next writer fixes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

import pyhudi.service.rollback.execute_rollback as execute
from pyhudi import HudiTable
from pyhudi.metadata_table.lifecycle import open_for_write
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.crash_points import CrashPoint, CrashRun, calls_of, run_with_fault
from pyhudi.testing.fault_injection import Fault
from pyhudi.testing.intercepted_storage import CHANGING_CALLS, Call
from pyhudi.testing.merge_oracle import Oracle, Row
from tests.unit.crash.tables import STORED, Driver, check_at_rest, check_rows, ride, stored_table

DRIVER = Driver(metadata_table=True)
MERGED = Driver(metadata_table=True, table_type="MERGE_ON_READ", written_with={"hoodie.compact.inline": "false"})
OLD_MERGED = replace(MERGED, created_with={"hoodie.write.table.version": "6"})
NEXT = (Operation.UPSERT, [ride(4, "rome", 41), ride(20, "oslo", 200)])
WRITE = (Operation.UPSERT, [ride(1, "oslo", 99), ride(7, "bern", 70)])
Action = Callable[[Storage], object]
Write = tuple[Operation, list[Row]]


def cuts(action: Action, storage: MemoryStorage, *faults: Fault) -> Iterator[CrashRun]:
    """Cut what concerns the metadata table, and the step that makes the action visible."""
    for number, call in enumerate(calls_of(action, storage.copy)):
        if call.method in CHANGING_CALLS and concerns(call):
            for fault in faults or (Fault.AFTER,):
                run = run_with_fault(action, storage.copy(), CrashPoint(number, call, fault))
                yield run
                run.storage.drop()


def concerns(call: Call) -> bool:
    return any(part in call.path for part in (".hoodie/metadata", ".hoodie/hoodie.properties", ".hoodie/.index_defs", "commit"))


def check(run: CrashRun, driver: Driver, before: Oracle, after: Oracle) -> None:
    rows = driver.read(run.storage)
    assert before.agrees(rows) or after.agrees(rows), f"{run.point}: {before.difference(rows)}"
    oracle = after if after.agrees(rows) else before
    driver.write(run.storage, *NEXT)
    check_rows(run.storage, oracle.after(*NEXT), run.point)
    check_at_rest(run.storage, run.point)
    table = HudiTable(run.storage)
    assert "files" in table.config.metadata_partitions, run.point
    # A planned compaction that the cut left is run by the next compaction.
    wrong = [row for row in table.inspect.health().to_pylist() if row["check"] != "nothing pending"]
    assert wrong == [], run.point


@pytest.mark.slow
def test_building_it_before_a_write_cut_anywhere_loses_nothing() -> None:
    storage, before = stored_table()
    for run in cuts(lambda run_with_fault: DRIVER.write(run_with_fault, *WRITE), storage):
        check(run, DRIVER, before, before.after(*WRITE))


@pytest.mark.parametrize("driver", [DRIVER, MERGED, OLD_MERGED], ids=["copy on write", "merge on read", "version 6"])
def test_write_cut_between_metadata_table_and_table_is_whole_or_not_at_all(driver: Driver) -> None:
    storage, before = stored_table(driver)
    for run in cuts(lambda run_with_fault: driver.write(run_with_fault, *WRITE), storage, Fault.AFTER, Fault.ERROR_NOT_DONE):
        check(run, driver, before, before.after(*WRITE))


def test_dropping_it_cut_anywhere_loses_nothing() -> None:
    storage, before = stored_table(DRIVER)
    for run in cuts(lambda run_with_fault: Driver().write(run_with_fault, *WRITE), storage):
        check(run, DRIVER, before, before.after(*WRITE))


@pytest.mark.parametrize("driver", [MERGED, OLD_MERGED], ids=["version 9", "version 6"])
def test_compaction_cut_anywhere_is_recorded_once(driver: Driver) -> None:
    storage, _ = stored_table(driver)
    driver.write(storage, *WRITE)
    before = Oracle("id", "city")
    for write in ((Operation.INSERT, STORED), (Operation.UPSERT, [ride(1, "oslo", 11)]), WRITE):
        before = before.after(*write)
    for run in cuts(lambda run_with_fault: driver.compact(run_with_fault, "both"), storage):
        check_rows(run.storage, before, run.point)
        driver.compact(run.storage, "both")
        check(run, driver, before, before)


def was_told(run: CrashRun) -> bool:
    """Tell whether an action was cut behind the step that completes its record in the metadata table."""
    return run.point.call.path.startswith(".hoodie/metadata") and run.point.call.path.endswith(".deltacommit")


def died(storage: MemoryStorage, write: Write, driver: Driver = DRIVER) -> MemoryStorage:
    """What a writer left that died after it told the metadata table, before the write was complete."""
    for run in cuts(lambda run_with_fault: driver.write(run_with_fault, *write), storage):
        if was_told(run):
            return run.storage.copy()
    raise AssertionError("the metadata table was not told")


@pytest.mark.parametrize("driver", [DRIVER, OLD_MERGED], ids=["version 9", "version 6"])
def test_recovery_cut_anywhere_converges(driver: Driver) -> None:
    storage, before = stored_table(driver)
    first = died(storage, WRITE, driver)  # type: ignore[arg-type]
    for run in cuts(lambda run_with_fault: driver.write(run_with_fault, *NEXT), first):
        check(run, driver, before, before.after(*NEXT))


def statistics_problems(storage: MemoryStorage) -> list[str]:
    DRIVER.write(storage, Operation.UPSERT, [ride(1, "oslo", 12)])
    return [row["check"] for row in HudiTable(storage).inspect.health().to_pylist()]


def test_record_of_a_failed_write_is_rolled_back_and_a_rollback_that_does_not_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, _ = stored_table(DRIVER)
    lower = died(storage, (Operation.UPSERT, [ride(4, "rome", 5)]))
    assert statistics_problems(lower.copy()) == []
    monkeypatch.setattr(execute, "rollback_pending", lambda *_: None)
    monkeypatch.setattr(open_for_write, "_failed_instants", lambda *_: ())
    assert set(statistics_problems(lower)) == {"files that the metadata table lists are there", "partition statistics hold all rows"}


def test_compaction_that_is_cancelled_leaves_no_record() -> None:
    storage, oracle = stored_table(MERGED)
    MERGED.write(storage, *WRITE)
    for run in cuts(lambda run_with_fault: MERGED.compact(run_with_fault, "both"), storage):
        if was_told(run):
            [instant] = [one for one in HudiTable(run.storage).history().to_pylist() if one["action"] == "compaction"]
            HudiTable(run.storage).services.rollback(instant["requested"])
            names = [file.name for file in run.storage.list(".hoodie/metadata/.hoodie/timeline")]
            assert not [name for name in names if name.startswith(instant["requested"])]
            check(run, MERGED, oracle.after(*WRITE), oracle.after(*WRITE))
            return
    raise AssertionError("the metadata table was not told")
