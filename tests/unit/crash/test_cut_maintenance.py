"""Maintenance cut at every storage call: lifetimes, purges, rollbacks of completed commits, repairs, services in a row.

Rows are those before or after, the same call brings what is left to its end, and writers go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from pyhudi import HudiTable
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.fault_injection import Fault
from pyhudi.testing.merge_oracle import Oracle
from tests.unit.crash.tables import DRIVER, CountedIds, Driver, StoppedClock, check_at_rest, check_rows, cuts, ride, stored_table
from tests.unit.crash.test_cut_clustering import ONE_THREAD

NEXT = (Operation.UPSERT, [ride(2, "oslo", 22), ride(8, "rome", 80)])
ROME = [ride(3, "rome", 30), ride(4, "rome", 40)]
LATEST = (Operation.UPSERT, [ride(1, "oslo", 12), ride(9, "bern", 90)])
METAFILE = "rome/.hoodie_partition_metadata"
KEEP_ONE = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}


class _LaterClock(StoppedClock):
    def now(self) -> datetime:
        return super().now() + timedelta(days=3)


def table_of(storage: Storage) -> HudiTable:
    return HudiTable(storage, clock=StoppedClock(), ids=CountedIds(), engine=ONE_THREAD)


@dataclass(frozen=True)
class Maintenance:
    """An action on a table that `make` prepares, which returns the table and its rows before and after."""

    make: Callable[[Driver], tuple[MemoryStorage, Oracle, Oracle]]
    run: Callable[[Storage], object]


def with_expired(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    later = HudiTable(storage, clock=_LaterClock(), ids=CountedIds(), engine=ONE_THREAD)
    later.upsert([ride(1, "oslo", 12)], driver.written_with)
    oracle = oracle.after(Operation.UPSERT, [ride(1, "oslo", 12)])
    return storage, oracle, oracle.after(Operation.DELETE_PARTITION, ROME)


def expire(storage: Storage) -> object:
    table = HudiTable(storage, clock=_LaterClock(), ids=CountedIds(), engine=ONE_THREAD)
    return table.services.ttl(options={"hoodie.partition.ttl.strategy.days.retain": "2"})


def with_dropped(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    driver.write(storage, Operation.DELETE_PARTITION, ROME)
    oracle = oracle.after(Operation.DELETE_PARTITION, ROME)
    return storage, oracle, oracle


def with_latest(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    driver.write(storage, *LATEST)
    return storage, oracle.after(*LATEST), oracle


def roll_back_latest(storage: Storage) -> object:
    table = table_of(storage)
    writes = [row["requested"] for row in table.history().to_pylist() if row["action"] in ("commit", "deltacommit")]
    return table.services.rollback(writes[2]) if len(writes) > 2 else table.services.rollback()


def without_metafile(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    storage.delete(METAFILE)
    return storage, oracle, oracle


def with_services_due(driver: Driver) -> tuple[MemoryStorage, Oracle, Oracle]:
    storage, oracle = stored_table(driver)
    for number in range(3):
        write = (Operation.UPSERT, [ride(1, "oslo", 100 + number)])
        driver.write(storage, *write)
        oracle = oracle.after(*write)
    return storage, oracle, oracle


def run_all(storage: Storage) -> object:
    table = table_of(storage)
    done = table.services.clean(options=KEEP_ONE, engine=ONE_THREAD)
    return done, table.services.cluster(engine=ONE_THREAD), table.services.archive(options=KEEP_ONE)


ACTIONS = {
    "lifetimes": Maintenance(with_expired, expire),
    "purge": Maintenance(with_dropped, lambda storage: table_of(storage).services.purge(["rome"])),
    "rollback of the latest commit": Maintenance(with_latest, roll_back_latest),
    "partition metafiles": Maintenance(without_metafile, lambda storage: table_of(storage).services.add_partition_metafiles()),
    "services in a row": Maintenance(with_services_due, run_all),
}
QUIET = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.compact.inline": "false"}
MAINTAINED = replace(DRIVER, written_with=QUIET)
DRIVERS = {
    "copy-on-write": MAINTAINED,
    "merge-on-read": replace(MAINTAINED, table_type="MERGE_ON_READ"),
    "version 6": replace(MAINTAINED, created_with={"hoodie.write.table.version": "6"}),
    "metadata table": replace(MAINTAINED, metadata_table=True),
}
CASES = [
    pytest.param(action, kind, marks=() if (action, kind) == ("lifetimes", "merge-on-read") else pytest.mark.slow)
    for action in ACTIONS
    for kind in DRIVERS
]


@pytest.mark.parametrize(("action", "kind"), CASES)
def test_cut_anywhere_rows_are_those_before_or_after_and_the_same_call_ends_it(action: str, kind: str) -> None:
    driver, maintenance = DRIVERS[kind], ACTIONS[action]
    storage, before, after = maintenance.make(driver)
    for run in cuts(maintenance.run, storage, (Fault.AFTER,) if kind != "copy-on-write" else tuple(Fault)):
        rows = MAINTAINED.read(run.storage)
        assert before.agrees(rows) or after.agrees(rows), f"{run.point}: {before.difference(rows)}"
        if run.returned:
            check_rows(run.storage, after, run.point)
        maintenance.run(run.storage)
        check_rows(run.storage, after, run.point)
        driver.write(run.storage, *NEXT)
        check_rows(run.storage, after.after(*NEXT), run.point)
        check_at_rest(run.storage, run.point)
