"""A clean that another writer may be running is left to it; one that nobody runs any more is taken up."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from pyhudi import HudiTable
from pyhudi.codec.actions.clean_codec import decode_clean_plan, encode_clean_plan
from pyhudi.errors import ConflictError
from pyhudi.service.cleaning.cleaning_service import Cleaning
from pyhudi.service.cleaning.execute_clean import CleanWork, Deletion, complete_clean
from pyhudi.service.service_engine import ServiceRunner
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.crash.tables import CountedIds, StoppedClock
from tests.unit.service.cleaning.clean_tables import TIMELINE, clean, cleans, new_table, upsert

SEVERAL = "OPTIMISTIC_CONCURRENCY_CONTROL"


class LaterClock:
    """A clock that is some seconds ahead of that of the test's tables."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def now(self) -> datetime:
        return StoppedClock().now() + timedelta(seconds=self._seconds)


def table_with_pending_clean() -> HudiTable:
    """A table whose clean has deleted its files, and is not completed yet."""
    table = new_table(MemoryStorage())
    for value in range(5):
        upsert(table, value)
    clean(table, commits__retained="1")
    completed = next(one.path for one in table.storage.list(TIMELINE) if one.name.endswith(".clean"))
    table.storage.delete(completed)
    return table


@pytest.mark.parametrize(
    ("mode", "seconds", "state"), [(SEVERAL, 60, "inflight"), (SEVERAL, 180, "completed"), ("SINGLE_WRITER", 60, "completed")]
)
def test_young_pending_clean_is_left_to_the_other_writers(mode: str, seconds: int, state: str) -> None:
    table = HudiTable(table_with_pending_clean().storage, clock=LaterClock(seconds), ids=CountedIds())
    upsert(table, 5, hoodie__clean__automatic="true", hoodie__write__concurrency__mode=mode)
    assert [one["state"] for one in cleans(table)] == [state]


def test_a_clean_on_request_takes_it_up() -> None:
    table = HudiTable(table_with_pending_clean().storage, clock=LaterClock(60), ids=CountedIds())
    table.services.clean(options={"hoodie.write.concurrency.mode": SEVERAL})
    assert [one["state"] for one in cleans(table)] == ["completed"]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_metadata_table_that_is_built_during_a_clean_lists_nothing_that_the_clean_deletes(table_type: str) -> None:
    """Apache Hudi deletes files outside the lock, and may complete the clean without an entry in a metadata table that was built since."""
    storage = MemoryStorage()
    table = new_table(storage, table_type=table_type)
    for value in range(5):
        upsert(table, value, hoodie__compact__inline="true", hoodie__compact__inline__max__delta__commits="1")
    done = HudiTable(storage.copy(), clock=StoppedClock(), ids=CountedIds())
    clean(done, commits__retained="1")
    steps = {one.name: done.storage.read(one.path) for one in done.storage.list(TIMELINE) if ".clean" in one.name}
    (completed,) = (name for name in steps if name.endswith(".clean"))
    deleted = {one.path for one in table.storage.list("oslo")} - {one.path for one in done.storage.list("oslo")}
    assert deleted
    for name in steps.keys() - {completed}:
        table.storage.create(f"{TIMELINE}/{name}", steps[name])
    table.storage.delete_tree(".hoodie/metadata")
    later = HudiTable(table.storage, clock=LaterClock(60), ids=CountedIds())
    upsert(later, 5, hoodie__write__concurrency__mode=SEVERAL)
    for path in deleted:
        table.storage.delete(path)
    table.storage.create(f"{TIMELINE}/{completed}", steps[completed])
    assert later.inspect.health().to_pylist() == []
    assert later.to_arrow()["value"].to_pylist() == [5]
    upsert(later, 6)
    assert later.to_arrow()["value"].to_pylist() == [6]


def test_files_of_the_newest_slices_are_listed_whatever_an_old_plan_of_a_clean_names() -> None:
    table = table_with_pending_clean()
    (newest,) = table.inspect.files()["path"].to_pylist()
    (requested,) = (one for one in table.storage.list(TIMELINE) if one.name.endswith(".clean.requested"))
    plan = decode_clean_plan(table.storage.read(requested.path))
    files = {path: (*names, f"{table.storage.uri}/{newest}") for path, names in plan.files.items()}
    table.storage.replace(requested.path, encode_clean_plan(replace(plan, files=files), sync=b"s" * 16))
    table.storage.delete_tree(".hoodie/metadata")
    later = HudiTable(table.storage, clock=LaterClock(60), ids=CountedIds())
    upsert(later, 5, ids=(2,), city="rome", hoodie__write__concurrency__mode=SEVERAL)
    assert sorted(later.to_arrow()["id"].to_pylist()) == [1, 2]
    assert set(later.inspect.health()["check"].to_pylist()) == {"nothing pending"}


def test_clean_that_apache_hudi_completed_meanwhile_is_not_completed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apache Hudi knows no lock of cleans: both delete the same files."""
    monkeypatch.setattr("pyhudi.service.cleaning.inline_cleaning._FEW", 0)
    table = table_with_pending_clean()
    run_tasks = Cleaning.run_tasks

    def run_by_both(service: Cleaning, runner: ServiceRunner, work: CleanWork) -> Deletion:
        deleted = run_tasks(service, runner, work)
        with runner.locked() as locked:
            complete_clean(locked, work, Deletion(0))
        return deleted

    monkeypatch.setattr(Cleaning, "run_tasks", run_by_both)
    with pytest.raises(ConflictError, match="completed by another process meanwhile"):
        table.services.clean()
    assert [one["state"] for one in cleans(table)] == ["completed"]
    assert table.inspect.health().to_pylist() == []
