"""Merge-on-read tables of version 6, whose log files stay when a write fails: every storage call of a write, cut in every way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyhudi.errors import HudiError, UnknownOutcomeError
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.crash_points import CrashRun, Part, crash_points
from pyhudi.testing.invariants import garbage, timeline_faults
from pyhudi.testing.merge_oracle import Oracle
from pyhudi.testing.power_loss import power_losses
from tests.unit.crash.tables import STORED, Driver, each_part, ride
from tests.unit.crash.test_cut_writes import BATCHED_MARKERS, Write

DRIVER = Driver(created_with={"hoodie.write.table.version": "6"}, table_type="MERGE_ON_READ")
WRITES: dict[str, Write] = {
    "updates": (Operation.UPSERT, [ride(1, "oslo", 99), ride(3, "rome", 99)]),
    "updates and new rows": (Operation.UPSERT, [ride(1, "oslo", 98), ride(7, "bern", 70)]),
    "delete": (Operation.DELETE, [ride(2, "oslo", 0), ride(3, "rome", 0)]),
}
NEXT: Write = (Operation.UPSERT, [ride(4, "rome", 41), ride(1, "oslo", 12)])


@pytest.fixture(scope="module")
def stored() -> tuple[MemoryStorage, Oracle]:
    """Two groups with a base file, one of them with a log."""
    storage, oracle = MemoryStorage(), Oracle("id", "city")
    DRIVER.create(storage)
    for write in ((Operation.INSERT, STORED), (Operation.UPSERT, [ride(1, "oslo", 11)])):
        DRIVER.write(storage, *write)
        oracle = oracle.after(*write)
    return storage, oracle


def check_answer(run: CrashRun, before: Oracle, after: Oracle) -> Oracle:
    rows = DRIVER.read(run.storage)
    done = after.agrees(rows)
    assert done or before.agrees(rows), f"{run.point}: {before.difference(rows)}"
    if run.returned:
        assert done, run.point
    elif isinstance(run.error, HudiError) and not isinstance(run.error, UnknownOutcomeError):
        assert not done, f"{run.point}: {run.error!r} was told, but the write is visible"
    return after if done else before


def check_recovery(run: CrashRun, oracle: Oracle) -> None:
    DRIVER.write(run.storage, *NEXT)
    rows = DRIVER.read(run.storage)
    following = oracle.after(*NEXT)
    assert following.agrees(rows), f"{run.point}: after the next write: {following.difference(rows)}"
    assert garbage(run.storage) == [], run.point
    assert timeline_faults(run.storage) == [], run.point


@each_part
@pytest.mark.parametrize("name", WRITES)
def test_write_cut_anywhere_is_whole_or_not_at_all(name: str, stored: tuple[MemoryStorage, Oracle], part: Part) -> None:
    storage, before = stored
    for run in crash_points(lambda cut: DRIVER.write(cut, *WRITES[name]), storage.copy, part=part):
        check_recovery(run, check_answer(run, before, before.after(*WRITES[name])))


@each_part
def test_write_with_batched_markers_cut_anywhere_recovers(stored: tuple[MemoryStorage, Oracle], part: Part) -> None:
    driver, write = replace(DRIVER, written_with=BATCHED_MARKERS), WRITES["updates and new rows"]
    storage, before = stored
    for run in crash_points(lambda cut: driver.write(cut, *write), storage.copy, part=part):
        check_recovery(run, check_answer(run, before, before.after(*write)))


@pytest.mark.parametrize("name", ["updates", "delete"])
def test_write_survives_a_power_loss_at_any_call(name: str, stored: tuple[MemoryStorage, Oracle]) -> None:
    storage, before = stored
    after = before.after(*WRITES[name])
    for what, disk in power_losses(lambda cut: DRIVER.write(cut, *WRITES[name]), storage.copy):
        oracle = after if after.agrees(DRIVER.read(disk)) else before
        assert oracle.agrees(DRIVER.read(disk)), what
        DRIVER.write(disk, *NEXT)
        assert oracle.after(*NEXT).agrees(DRIVER.read(disk)), what
        assert garbage(disk) == [], what


def test_rollback_cut_anywhere_is_taken_up_again(stored: tuple[MemoryStorage, Oracle]) -> None:
    storage, before = stored
    runs = crash_points(lambda cut: DRIVER.write(cut, *WRITES["updates"]), storage.copy)
    failed = next(run.storage.copy() for run in runs if len(_logs(run.storage)) == len(_logs(storage)) + 2)
    assert before.agrees(DRIVER.read(failed)), "the write is visible"
    for run in crash_points(lambda cut: HudiTable(cut).services.rollback(), failed.copy):
        assert before.agrees(DRIVER.read(run.storage)), run.point
        check_recovery(run, before)


def _logs(storage: MemoryStorage) -> list[str]:
    return [status.path for city in ("oslo", "rome") for status in storage.list(city) if ".log." in status.name]
