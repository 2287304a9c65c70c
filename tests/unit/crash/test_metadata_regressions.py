"""Known bugs of Apache Hudi's metadata table: each scenario holds, and fails on a build with that bug.

Scenarios: docs/format/known-defects.md#metadata-table.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import SimpleNamespace

import pytest

import pyhudi.metadata_table.indexes.files_kind as files_kind
import pyhudi.metadata_table.write.initialise as initialise
import pyhudi.service.indexes.run_index_build as index_run
import pyhudi.service.rollback.execute_rollback as execute
from pyhudi import HudiTable
from pyhudi.errors import AlreadyExistsError
from pyhudi.fsview.file_groups import committed_files
from pyhudi.metadata_table.lifecycle import open_for_write
from pyhudi.service.indexes import Indexing, IndexRequest
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.crash_points import crash_points
from pyhudi.testing.fault_injection import Fault
from tests.unit.crash.tables import CountedIds, Driver, StoppedClock, ride, stored_table
from tests.unit.crash.test_cut_metadata_table import DRIVER, MERGED, NEXT, OLD_MERGED, WRITE, cuts, died, was_told
from tests.unit.metadata_table.replays import prepared, timeline_of

failed_writes = importlib.import_module("pyhudi.service.rollback.failed_writes")


def problems(storage: MemoryStorage) -> list[str]:
    """What the metadata table and the storage contradict each other in."""
    return [row["check"] for row in HudiTable(storage).inspect.health().to_pylist() if row["check"] != "nothing pending"]


def record_far_from_its_rollback(driver: Driver) -> None:
    """R11: a write was told and died, another was told after it, and then the first is rolled back."""
    storage, oracle = stored_table(driver)
    storage = died(storage, WRITE, driver)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as lazily:
        lazily.setattr(failed_writes, "failed_writes", lambda timeline: ())
        driver.write(storage, *NEXT)
    HudiTable(storage).services.rollback()
    assert problems(storage) == []
    assert oracle.after(*NEXT).agrees(driver.read(storage))


def compaction_done_again(driver: Driver) -> None:
    """R12: a compaction dies after it was told, before it is complete, and the same one is run again."""
    storage, oracle = stored_table(driver)
    driver.write(storage, *WRITE)
    recorded = [cut.storage.copy() for cut in cuts(lambda cut: driver.compact(cut, "both"), storage) if was_told(cut)]
    assert len(recorded) == 1
    driver.compact(recorded[0], "both")
    assert problems(recorded[0]) == []
    assert oracle.after(*WRITE).agrees(driver.read(recorded[0]))


def built_beside_a_write(driver: Driver) -> None:
    """R13: the metadata table is built while a write is under way, in whatever state; the next writer rolls the write back."""
    without = Driver(table_type=driver.table_type, created_with=driver.created_with, written_with=driver.written_with)
    storage, _ = stored_table(without)
    for run in crash_points(lambda cut: without.write(cut, *WRITE), storage.copy, (Fault.AFTER, Fault.TORN)):
        prepared(run.storage, timeline_of(run.storage), StoppedClock())
        assert problems(run.storage) == [], run.point
        driver.write(run.storage, *NEXT)
        assert problems(run.storage) == [], run.point
        run.storage.drop()


def two_indexes_at_one_moment(driver: Driver) -> None:
    """R14: the clock is stopped between one index and the next."""
    storage, _ = stored_table(driver)
    for name in ("value", "city"):
        Indexing(storage, StoppedClock(), CountedIds()).create(IndexRequest(f"by_{name}", (name,)))
    table = HudiTable(storage)
    assert {"secondary_index_by_value", "secondary_index_by_city", "record_index"} <= set(table.config.metadata_partitions)
    assert problems(storage) == []
    driver.write(storage, Operation.UPSERT, [ride(1, "oslo", 77)])
    assert problems(storage) == []


def nothing_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "rollback_pending", lambda *_: None)
    monkeypatch.setattr(open_for_write, "_failed_instants", lambda *_: ())


def uncommitted_files_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_files(path, listing, timeline):
        sizes = {status.name: status.size for status in listing if "_" in status.name and not status.name.startswith(".hoodie")}
        files = committed_files(path, listing, timeline)
        return SimpleNamespace(sizes=lambda: sizes, base=files.base, logs=files.logs)

    monkeypatch.setattr(files_kind, "committed_files", all_files)


def builds_have_one_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (initialise, index_run):
        monkeypatch.setattr(module, "build_time", lambda *_: "0" * 17)


Scenario = Callable[[Driver], None]
DRIVERS = {"copy on write": DRIVER, "merge on read": MERGED, "version 6": OLD_MERGED}
CASES = [
    (record_far_from_its_rollback, nothing_is_taken_back, ("copy on write", "merge on read", "version 6")),
    (compaction_done_again, nothing_is_taken_back, ("merge on read", "version 6")),
    (built_beside_a_write, uncommitted_files_are_listed, ("copy on write", "merge on read")),
    (two_indexes_at_one_moment, builds_have_one_time, ("copy on write", "merge on read")),
]
EVERY = [pytest.param(scenario, DRIVERS[kind], id=f"{scenario.__name__}, {kind}") for scenario, _, kinds in CASES for kind in kinds]
DEFECTS = [pytest.param(scenario, defect, DRIVERS[kinds[0]], id=scenario.__name__) for scenario, defect, kinds in CASES]


@pytest.mark.parametrize(("scenario", "driver"), EVERY)
def test_metadata_table_says_what_the_storage_holds(scenario: Scenario, driver: Driver) -> None:
    scenario(driver)


@pytest.mark.parametrize(("scenario", "defect", "driver"), DEFECTS)
def test_defect_is_noticed(scenario: Scenario, defect: Callable[[pytest.MonkeyPatch], None], driver: Driver, monkeypatch) -> None:
    defect(monkeypatch)
    with pytest.raises((AssertionError, AlreadyExistsError)):
        scenario(driver)
