"""Compaction, cut at every storage call: rows never change, nothing is half visible, and the next one brings it to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UnknownOutcomeError
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.table_services import Services
from pyhudi.testing.crash_points import CrashRun, Part, crash_points
from pyhudi.testing.fault_injection import Fault
from pyhudi.testing.invariants import garbage
from pyhudi.testing.merge_oracle import Oracle
from tests.unit.crash.tables import STORED, CountedIds, Driver, StoppedClock, check_at_rest, check_rows, check_sound, each_part, ride

DRIVER = Driver(table_type="MERGE_ON_READ", written_with={"hoodie.compact.inline": "false", "hoodie.metadata.enable": "false"})
OF_VERSION_6 = replace(DRIVER, created_with={"hoodie.write.table.version": "6"})
UPDATE = (Operation.UPSERT, [ride(1, "oslo", 11), ride(3, "rome", 31)])
DELETE = (Operation.DELETE, [ride(2, "oslo", 0)])
LATER = (Operation.UPSERT, [ride(1, "oslo", 12), ride(4, "rome", 42)])
NEXT = (Operation.UPSERT, [ride(3, "rome", 33), ride(9, "oslo", 90)])
ONE_THREAD = LocalEngine(threads=1)


def services(storage: Storage) -> Services:
    return Services(storage, StoppedClock(), CountedIds())


def schedule(storage: Storage) -> Any:
    return services(storage).compact(mode="schedule", engine=ONE_THREAD)


def execute(storage: Storage) -> Any:
    return services(storage).compact(mode="execute", engine=ONE_THREAD)


def compact(storage: Storage) -> Any:
    return services(storage).compact(engine=ONE_THREAD)


def join_logs(storage: Storage) -> Any:
    options = {"hoodie.log.compaction.blocks.threshold": "2"}
    return services(storage).log_compact(engine=ONE_THREAD, options=options)


def table_with_logs(driver: Driver = DRIVER) -> tuple[MemoryStorage, Oracle]:
    storage, oracle = MemoryStorage(), Oracle("id", "city")
    driver.create(storage)
    for write in ((Operation.INSERT, STORED), UPDATE, DELETE):
        driver.write(storage, *write)
        oracle = oracle.after(*write)
    return storage, oracle


def table_with_plan() -> tuple[MemoryStorage, Oracle]:
    """A compaction is planned, and commits came after it."""
    storage, oracle = table_with_logs()
    schedule(storage)
    DRIVER.write(storage, *LATER)
    return storage, oracle.after(*LATER)


def pending(storage: Storage) -> list[str]:
    return [row["action"] for row in HudiTable(storage).history().to_pylist() if row["state"] != "completed"]


def check_recovery(run: CrashRun, oracle: Oracle) -> None:
    """Rows are as they were; the next writer writes, the next compaction leaves base files only, and nothing is left over."""
    check_rows(run.storage, oracle, run.point)
    check_sound(run.storage, run.point)
    DRIVER.write(run.storage, *NEXT)
    after = oracle.after(*NEXT)
    check_rows(run.storage, after, run.point)
    compact(run.storage)
    check_rows(run.storage, after, run.point)
    rows = HudiTable(run.storage).to_arrow(mode="read_optimized").to_pylist()
    assert after.agrees(rows), f"{run.point}: base files alone: {after.difference(rows)}"
    check_at_rest(run.storage, run.point)


@each_part
@pytest.mark.parametrize(("action", "make"), [(schedule, table_with_logs), (execute, table_with_plan)])
def test_cut_anywhere_changes_no_row_and_is_made_up_for(
    action: Callable[[Storage], Any], make: Callable[[], tuple[MemoryStorage, Oracle]], part: Part
) -> None:
    storage, oracle = make()
    for run in crash_points(action, storage.copy, part=part):
        check_recovery(run, oracle)


@each_part
@pytest.mark.parametrize("driver", [DRIVER, pytest.param(OF_VERSION_6, marks=pytest.mark.slow)], ids=["version 9", "version 6"])
def test_log_compaction_cut_anywhere_changes_no_row_and_is_made_up_for(driver: Driver, part: Part) -> None:
    storage, oracle = table_with_logs(driver)
    driver.write(storage, *LATER)
    oracle = oracle.after(*LATER)
    assert join_logs(storage.copy()), "there are logs to join"
    for run in crash_points(join_logs, storage.copy, part=part):
        check_rows(run.storage, oracle, run.point)
        join_logs(run.storage)
        check_recovery(run, oracle)


def test_process_that_dies_between_pending_and_next_compaction_loses_nothing() -> None:
    storage, oracle = table_with_plan()
    for run in crash_points(compact, storage.copy, (Fault.AFTER,)):
        check_recovery(run, oracle)


def test_compaction_that_failed_without_a_crash_takes_its_files_back_at_once() -> None:
    storage, _ = table_with_plan()
    for run in crash_points(execute, storage.copy, (Fault.ERROR_NOT_DONE, Fault.INTERRUPT)):
        if run.returned or isinstance(run.error, UnknownOutcomeError):
            continue
        assert [path for path in garbage(run.storage) if path.endswith(".parquet")] == [], run.point


def test_pending_compaction_is_rolled_back_on_request_wherever_that_is_cut() -> None:
    storage, oracle = table_with_plan()
    (instant,) = (one.instant for one in services(storage).compact(mode="execute", dry_run=True))

    def rollback_pending(cut: Storage) -> Any:
        return services(cut).rollback(instant)

    for run in crash_points(rollback_pending, storage.copy):
        check_rows(run.storage, oracle, run.point)
        if run.returned:
            assert pending(run.storage) == [], run.point
        check_recovery(run, oracle)
