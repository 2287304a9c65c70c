"""Savepoints, restores and rollbacks of completed commits, cut at every storage call: what is read is the state before or the one after."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.table_services import Services
from pyhudi.testing.crash_points import CrashRun, Part, crash_points
from pyhudi.testing.invariants import garbage
from pyhudi.testing.merge_oracle import Oracle
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.crash.tables import STORED, CountedIds, Driver, StoppedClock, check_rows, check_sound, each_part, ride

COPY_ON_WRITE = Driver(metadata_table=True)
MERGE_ON_READ = replace(COPY_ON_WRITE, table_type="MERGE_ON_READ", written_with={"hoodie.compact.inline": "false"})
REBUILT = replace(COPY_ON_WRITE, written_with={"hoodie.metadata.compact.max.delta.commits": "1"})
OF_VERSION_6 = replace(MERGE_ON_READ, created_with={"hoodie.write.table.version": "6"})
DRIVERS = pytest.mark.parametrize(
    "driver",
    [
        pytest.param(COPY_ON_WRITE, id="copy on write", marks=pytest.mark.slow),
        pytest.param(REBUILT, id="metadata table rebuilt", marks=pytest.mark.slow),
        pytest.param(MERGE_ON_READ, id="merge on read"),
        pytest.param(OF_VERSION_6, id="version 6", marks=pytest.mark.slow),
    ],
)
LATER = [
    (Operation.UPSERT, [ride(1, "oslo", 12), ride(5, "bern", 50)]),
    (Operation.INSERT_OVERWRITE, [ride(6, "rome", 60)]),
]
NEXT = (Operation.UPSERT, [ride(3, "rome", 33), ride(9, "oslo", 90)])


def services(storage: Storage) -> Services:
    return Services(storage, StoppedClock(), CountedIds())


def stored(driver: Driver) -> tuple[MemoryStorage, Oracle, str]:
    """A table of two commits, its rows, and the time of the second one."""
    storage, oracle = MemoryStorage(), Oracle("id", "city")
    driver.create(storage)
    for write in ((Operation.INSERT, STORED), (Operation.UPSERT, [ride(1, "oslo", 11)])):
        driver.write(storage, *write)
        oracle = oracle.after(*write)
    return storage, oracle, services(storage).savepoint(dry_run=True).instant


def changed(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle, str]:
    """The same table with a savepoint and later commits: its rows at the savepoint, those of now, and the savepoint."""
    storage, saved, time = stored(driver)
    services(storage).savepoint()
    now = saved
    for write in LATER:
        driver.write(storage, *write)
        now = now.after(*write)
    return storage, saved, now, time


def check_goes_on(run: CrashRun, driver: Driver, oracle: Oracle) -> None:
    """The next writer finds these rows, and leaves nothing over; log files of version 6 stay, with blocks that roll them back."""
    check_rows(run.storage, oracle, run.point)
    driver.write(run.storage, *NEXT)
    check_rows(run.storage, oracle.after(*NEXT), run.point)
    check_sound(run.storage, run.point)
    if driver is REBUILT:  # health compares the statistics with the footers of all files
        health = HudiTable(run.storage).inspect.health().to_pylist()
        assert [row for row in health if row["check"] != "nothing pending"] == [], run.point
    if driver is not OF_VERSION_6:
        assert garbage(run.storage) == [], run.point


@each_part
@pytest.mark.parametrize("action", ["create", "delete"])
def test_savepoint_cut_anywhere_is_there_or_not_and_can_be_made_and_deleted(action: str, part: Part) -> None:
    storage, oracle, time = stored(COPY_ON_WRITE)
    if action == "delete":
        services(storage).savepoint()

    def act(cut: Storage) -> Any:
        return services(cut).savepoint() if action == "create" else services(cut).delete_savepoint(time)

    for run in crash_points(act, storage.copy, part=part):
        known = services(run.storage).savepoints()
        if run.returned:
            assert len(known) == (action == "create"), run.point
        if not known:
            services(run.storage).savepoint()
        services(run.storage).delete_savepoint(time)
        assert services(run.storage).savepoints() == ()
        check_goes_on(run, COPY_ON_WRITE, oracle)


def is_pending(storage: Storage) -> bool:
    return any(one.action == "restore" for one in load_timeline(storage, HudiTable(storage).config).pending())


@each_part
@DRIVERS
def test_restore_cut_anywhere_shows_one_state_and_is_brought_to_its_end(driver: Driver, part: Part) -> None:
    storage, saved, now, time = changed(driver)

    def act(cut: Storage) -> Any:
        return services(cut).restore(to=time)

    for run in crash_points(act, storage.copy, part=part):
        check_one_of(run, saved, now)
        if run.returned or is_pending(run.storage):
            services(run.storage).restore() if is_pending(run.storage) else None
            check_goes_on(run, driver, saved)
        else:
            result = saved if saved.agrees(driver.read(run.storage)) else now
            check_goes_on(run, driver, result)


@each_part
@DRIVERS
def test_rollback_of_a_commit_cut_anywhere_shows_the_state_before_or_after(driver: Driver, part: Part) -> None:
    storage, saved, _, _ = changed(driver)
    before = saved.after(*LATER[0])
    now = before.after(*LATER[1])
    last = services(storage).savepoint(dry_run=True).instant

    def act(cut: Storage) -> Any:
        return services(cut).rollback(last)

    for run in crash_points(act, storage.copy, part=part):
        check_one_of(run, before, now)
        services(run.storage).rollback()
        result = before if before.agrees(driver.read(run.storage)) else now
        if run.returned:
            assert result is before, run.point
        check_goes_on(run, driver, result)


def check_one_of(run: CrashRun, *states: Oracle) -> None:
    rows = COPY_ON_WRITE.read(run.storage)
    assert any(state.agrees(rows) for state in states), f"{run.point}: {[state.difference(rows) for state in states]}"
