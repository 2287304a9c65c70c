"""A clean cut at every change of the storage: readers see the same rows, no retained file is lost, and the next clean ends it."""

from __future__ import annotations

import pytest

from pyhudi import HudiTable
from pyhudi.service.cleaning import execute_clean
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.fault_injection import Fault
from tests.slow_cases import slow_cases
from tests.unit.crash.tables import CountedIds, Driver, StoppedClock, check_at_rest, cuts, ride

OPTIONS = {"hoodie.clean.commits.retained": "2", "hoodie.metadata.compact.max.delta.commits": "3"}
WRITTEN_WITH = {
    "hoodie.clean.automatic": "false",
    "hoodie.compact.inline": "true",
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.metadata.compact.max.delta.commits": "3",
}
KINDS = [
    Driver(metadata_table=metadata, table_type=kind, written_with=WRITTEN_WITH)
    for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")
    for metadata in (True, False)
]


def clean(storage: Storage) -> object:
    return HudiTable(storage, clock=StoppedClock(), ids=CountedIds()).services.clean(options=OPTIONS)


def stored(driver: Driver) -> MemoryStorage:
    """A table with older slices, and a dropped partition that is out of retention."""
    storage = MemoryStorage()
    driver.create(storage)
    driver.write(storage, Operation.UPSERT, [ride(5, "bern", 1)])
    driver.write(storage, Operation.DELETE_PARTITION, [ride(5, "bern", 1)])
    for number in range(4):
        driver.write(storage, Operation.UPSERT, [ride(1, "oslo", number), ride(number, "rome", number)])
    return storage


def state(storage: Storage) -> list[object]:
    """The rows of now and of each retained commit."""
    table = HudiTable(storage)
    history = table.history().to_pylist()
    times = [one["requested"] for one in history if one["action"] in ("commit", "deltacommit")][-2:]
    order = [("city", "ascending"), ("id", "ascending")]
    return [table.to_arrow().sort_by(order).to_pylist(), *(table.to_arrow(as_of=time).sort_by(order).to_pylist() for time in times)]


def data_files(storage: Storage) -> list[str]:
    return [one.path for city in ("bern", "oslo", "rome") for one in storage.list(city)]


def check_cuts(driver: Driver, *faults: Fault) -> int:
    """Cut the clean of a table at every change, and return at how many."""
    storage = stored(driver)
    before = state(storage)
    ended = storage.copy()
    clean(ended)
    assert state(ended) == before
    left = data_files(ended)
    assert len(left) < len(data_files(storage))
    assert not any(path.startswith("bern") for path in left)
    points = 0
    for run in cuts(clean, storage, faults):
        points += 1
        assert state(run.storage) == before, run.point
        if points % 2:
            clean(run.storage)
            assert data_files(run.storage) == left, run.point
            assert state(run.storage) == before, run.point
        driver.write(run.storage, Operation.UPSERT, [ride(1, "oslo", 99), ride(7, "bern", 99)])
        clean(run.storage)
        check_at_rest(run.storage, run.point)
        cleans = [one["state"] for one in HudiTable(run.storage).history().to_pylist() if one["action"] == "clean"]
        assert set(cleans) == {"completed"}, run.point
        wrong = [row for row in HudiTable(run.storage).inspect.health().to_pylist() if row["check"] != "nothing pending"]
        assert wrong == [], run.point
    return points


def test_clean_cut_after_any_change_is_finished_by_the_next() -> None:
    assert check_cuts(KINDS[0], Fault.AFTER) > 12


@pytest.mark.parametrize("driver", slow_cases(KINDS, KINDS), ids=str)
def test_clean_cut_anyhow_is_finished_by_the_next(driver: Driver) -> None:
    assert check_cuts(driver, Fault.AFTER, Fault.TORN, Fault.ERROR_NOT_DONE) > 20


def test_a_clean_that_completes_without_telling_the_metadata_table_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = stored(KINDS[0])
    monkeypatch.setattr(execute_clean, "_metadata_sync", lambda *_: None)
    clean(storage)
    assert HudiTable(storage).inspect.health().to_pylist() != []
