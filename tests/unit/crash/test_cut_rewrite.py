"""A clustering that rewrites file groups, cut at every storage call: the old files or the new ones, each row once; the next run ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pyhudi.errors import ConflictError, UnknownOutcomeError
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.crash_points import CrashRun, crash_points
from pyhudi.testing.fault_injection import Fault
from pyhudi.testing.invariants import garbage
from pyhudi.testing.merge_oracle import Oracle
from tests.unit.crash.tables import Driver, check_at_rest, check_rows, check_sound, ride
from tests.unit.crash.test_cut_clustering import ONE_THREAD, cut_rollbacks, execute, services

NEW_FILES = {"hoodie.parquet.small.file.limit": "0"}
DRIVER = Driver(written_with=NEW_FILES)
MERGE_ON_READ = Driver(table_type="MERGE_ON_READ", written_with={**NEW_FILES, "hoodie.compact.inline": "false"})
OF_VERSION_6 = replace(DRIVER, created_with={"hoodie.write.table.version": "6"})
WITH_METADATA = replace(DRIVER, metadata_table=True)
SORT = {"hoodie.clustering.plan.strategy.sort.columns": "id"}
STREAM_COPY = {"hoodie.clustering.plan.strategy.class": "SparkStreamCopyClusteringPlanStrategy"}
WRITES = (
    (Operation.INSERT, [ride(1, "oslo", 10), ride(2, "oslo", 20)]),
    (Operation.INSERT, [ride(3, "oslo", 30), ride(4, "oslo", 40)]),
    (Operation.UPSERT, [ride(1, "oslo", 11)]),
)
NEXT = (Operation.UPSERT, [ride(3, "oslo", 33), ride(9, "rome", 90)])


def rewrite(storage: Storage) -> object:
    return services(storage).cluster(options=SORT, engine=ONE_THREAD)


def join(storage: Storage) -> object:
    return services(storage).cluster(options=STREAM_COPY, engine=ONE_THREAD)


def table_to_rewrite(driver: Driver = DRIVER) -> tuple[MemoryStorage, Oracle]:
    storage, oracle = MemoryStorage(), Oracle("id", "city")
    driver.create(storage)
    for write in WRITES:
        driver.write(storage, *write)
        oracle = oracle.after(*write)
    return storage, oracle


def planned_table(driver: Driver = DRIVER) -> tuple[MemoryStorage, Oracle]:
    storage, oracle = table_to_rewrite(driver)
    services(storage).cluster(options=SORT, mode="schedule", engine=ONE_THREAD)
    return storage, oracle


def check_recovery(run: CrashRun, oracle: Oracle, driver: Driver) -> None:
    """Rows are as they were; what is planned keeps writers out and is run; then writers go on."""
    check_rows(run.storage, oracle, run.point)
    check_sound(run.storage, run.point)
    if any(row["state"] != "completed" for row in HudiTable(run.storage).history().to_pylist()):
        with pytest.raises(ConflictError, match=r"services\.cluster"):
            driver.write(run.storage, *NEXT)
        execute(run.storage)
        check_rows(run.storage, oracle, run.point)
    driver.write(run.storage, *NEXT)
    check_rows(run.storage, oracle.after(*NEXT), run.point)
    check_at_rest(run.storage, run.point)


@pytest.mark.parametrize(
    ("action", "make", "driver", "faults"),
    [
        (rewrite, table_to_rewrite, DRIVER, (Fault.AFTER,)),
        pytest.param(rewrite, table_to_rewrite, DRIVER, tuple(Fault), marks=pytest.mark.slow),
        pytest.param(join, table_to_rewrite, DRIVER, tuple(Fault), marks=pytest.mark.slow),
        pytest.param(join, table_to_rewrite, MERGE_ON_READ, (Fault.AFTER,), marks=pytest.mark.slow),
        pytest.param(execute, planned_table, DRIVER, tuple(Fault), marks=pytest.mark.slow),
        pytest.param(rewrite, table_to_rewrite, MERGE_ON_READ, (Fault.AFTER,), marks=pytest.mark.slow),
        pytest.param(rewrite, table_to_rewrite, OF_VERSION_6, (Fault.AFTER,), marks=pytest.mark.slow),
        pytest.param(rewrite, table_to_rewrite, WITH_METADATA, (Fault.AFTER,), marks=pytest.mark.slow),
    ],
)
def test_cut_anywhere_changes_no_row_and_is_made_up_for(
    action: Callable[[Storage], object],
    make: Callable[[Driver], tuple[MemoryStorage, Oracle]],
    driver: Driver,
    faults: tuple[Fault, ...],
) -> None:
    storage, oracle = make(driver)
    for run in crash_points(action, storage.copy, faults):
        check_recovery(run, oracle, driver)


def test_a_run_that_failed_without_a_crash_leaves_nothing_behind() -> None:
    storage, _ = table_to_rewrite()
    for run in crash_points(rewrite, storage.copy, (Fault.ERROR_NOT_DONE,)):
        if run.returned or isinstance(run.error, UnknownOutcomeError):
            continue
        assert [path for path in garbage(run.storage) if path.endswith(".parquet")] == [], run.point


@pytest.mark.slow
def test_a_pending_plan_is_rolled_back_wherever_that_is_cut() -> None:
    storage, oracle = planned_table()
    for run in cut_rollbacks(storage):
        check_recovery(run, oracle, DRIVER)
