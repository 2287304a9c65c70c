"""The resizing of buckets, cut at every storage call: the old buckets or the new ones, never a mix; the next run brings it to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import UnknownOutcomeError, UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.consistent_hashing import load_hashing_metadata
from pyhudi.kernels.arrays.bucket_hash import bucket_indices, consistent_hashes
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.table_services import Services
from pyhudi.testing.crash_points import CrashRun, calls_of, crash_points
from pyhudi.testing.fault_injection import Fault
from pyhudi.testing.invariants import garbage
from pyhudi.testing.merge_oracle import Oracle
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.crash.tables import CountedIds, Driver, StoppedClock, check_at_rest, check_rows, check_sound, ride

CONSISTENT_HASHING = {
    "hoodie.index.type": "BUCKET",
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
    "hoodie.bucket.index.num.buckets": "1",
}
DRIVER = Driver(table_type="MERGE_ON_READ", written_with={**CONSISTENT_HASHING, "hoodie.compact.inline": "false"})
OF_VERSION_6 = replace(DRIVER, created_with={"hoodie.write.table.version": "6"})
WITH_METADATA = replace(DRIVER, metadata_table=True)
SPLIT = {"hoodie.bucket.index.max.num.buckets": "2", "hoodie.parquet.max.file.size": "1"}
MERGE = {"hoodie.bucket.index.min.num.buckets": "1"}
ROWS = (Operation.INSERT, [ride(number, "oslo", number) for number in range(6)])
UPDATE = (Operation.UPSERT, [ride(1, "oslo", 11), ride(3, "oslo", 31)])
NEXT = (Operation.UPSERT, [ride(3, "oslo", 33), ride(9, "rome", 90)])
ONE_THREAD = LocalEngine(threads=1)


def services(storage: Storage) -> Services:
    return Services(storage, StoppedClock(), CountedIds())


def split(storage: Storage) -> Any:
    return services(storage).cluster(options=SPLIT, engine=ONE_THREAD)


def schedule(storage: Storage) -> Any:
    return services(storage).cluster(options=SPLIT, mode="schedule", engine=ONE_THREAD)


def execute(storage: Storage) -> Any:
    return services(storage).cluster(mode="execute", engine=ONE_THREAD)


def merge(storage: Storage) -> Any:
    return services(storage).cluster(options=MERGE, engine=ONE_THREAD)


def table_to_split(driver: Driver = DRIVER) -> tuple[MemoryStorage, Oracle]:
    storage, oracle = MemoryStorage(), Oracle("id", "city")
    driver.create(storage)
    for write in (ROWS, UPDATE):
        driver.write(storage, *write)
        oracle = oracle.after(*write)
    return storage, oracle


def table_to_merge(driver: Driver = DRIVER) -> tuple[MemoryStorage, Oracle]:
    storage, oracle = table_to_split(driver)
    split(storage)
    return storage, oracle


def planned_table(driver: Driver = DRIVER) -> tuple[MemoryStorage, Oracle]:
    storage, oracle = table_to_split(driver)
    schedule(storage)
    return storage, oracle


def check_recovery(run: CrashRun, oracle: Oracle, driver: Driver) -> None:
    """Rows are as they were; what is planned keeps writers out, is run, and the next writer writes to the buckets that holds."""
    check_rows(run.storage, oracle, run.point)
    check_sound(run.storage, run.point)
    table = HudiTable(run.storage)
    if any(row["state"] != "completed" for row in table.history().to_pylist()):
        with pytest.raises(UnsupportedError, match=r"services\.cluster"):
            driver.write(run.storage, *NEXT)
        execute(run.storage)
        check_rows(run.storage, oracle, run.point)
    driver.write(run.storage, *NEXT)
    after = oracle.after(*NEXT)
    check_rows(run.storage, after, run.point)
    check_places(run.storage)
    check_at_rest(run.storage, run.point)


def check_places(storage: MemoryStorage) -> None:
    table = HudiTable(storage)
    view = FileSystemView(storage, table.config, load_timeline(storage, table.config))
    table_rows = table.to_arrow(meta_columns=True)
    for path in set(table_rows["city"].to_pylist()):
        hashing, present = load_hashing_metadata(view, path), table_rows.filter(pa.compute.field("city") == path)
        assert hashing is not None
        indices = bucket_indices(hashing.values, consistent_hashes(present["_hoodie_record_key"].combine_chunks(), ["id"])).tolist()
        assert [name.partition("_")[0] for name in present["_hoodie_file_name"].to_pylist()] == [
            hashing.file_ids[index] for index in indices
        ]


def check_nothing_left(action: Callable[[Storage], object], storage: MemoryStorage) -> None:
    """An action that fails without a crash leaves no base files behind."""
    for run in crash_points(action, storage.copy, (Fault.ERROR_NOT_DONE,)):
        if not (run.returned or isinstance(run.error, UnknownOutcomeError)):
            assert [path for path in garbage(run.storage) if path.endswith(".parquet")] == [], run.point


def cut_rollbacks(storage: MemoryStorage) -> Iterator[CrashRun]:
    """Cut the rollback of a planned clustering everywhere."""
    (instant,) = (one.instant for one in services(storage).cluster(mode="execute", dry_run=True))
    yield from crash_points(lambda cut: services(cut).rollback(instant), storage.copy)


@pytest.mark.parametrize(
    ("action", "make", "driver", "faults"),
    [
        (split, table_to_split, DRIVER, (Fault.AFTER,)),
        pytest.param(split, table_to_split, DRIVER, tuple(Fault), marks=pytest.mark.slow),
        pytest.param(merge, table_to_merge, DRIVER, tuple(Fault), marks=pytest.mark.slow),
        pytest.param(execute, planned_table, DRIVER, tuple(Fault), marks=pytest.mark.slow),
        pytest.param(split, table_to_split, OF_VERSION_6, (Fault.AFTER,), marks=pytest.mark.slow),
        pytest.param(merge, table_to_merge, OF_VERSION_6, (Fault.AFTER,), marks=pytest.mark.slow),
        pytest.param(split, table_to_split, WITH_METADATA, (Fault.AFTER,), marks=pytest.mark.slow),
    ],
)
def test_cut_anywhere_changes_no_row_and_is_made_up_for(
    action: Callable[[Storage], Any],
    make: Callable[[Driver], tuple[MemoryStorage, Oracle]],
    driver: Driver,
    faults: tuple[Fault, ...],
) -> None:
    storage, oracle = make(driver)
    for run in crash_points(action, storage.copy, faults):
        check_recovery(run, oracle, driver)


def test_a_run_that_failed_without_a_crash_leaves_nothing_behind() -> None:
    storage, _ = table_to_split()
    check_nothing_left(split, storage)


@pytest.mark.slow
def test_a_planned_resizing_is_rolled_back_wherever_that_is_cut() -> None:
    storage, oracle = planned_table()
    for run in cut_rollbacks(storage):
        check_recovery(run, oracle, DRIVER)


def test_the_new_hashing_metadata_is_written_before_the_action_completes() -> None:
    """A crash between them would leave writers with the old metadata and replaced buckets."""
    storage, _ = planned_table()
    calls = [str(call) for call in calls_of(execute, storage.copy)]
    stored, done = (
        next(i for i, call in enumerate(calls) if text in call and "create" in call) for text in (".hashing_meta", ".replacecommit")
    )
    assert stored < done
