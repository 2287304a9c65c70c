"""Known bugs of Apache Hudi in which two processes or two attempts of a task meet: each scenario holds, and fails on a build with that
defect (R01, R02 and R21 of docs/reliability-tests.md).
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.intercepted_storage import InterceptedStorage
from pyhudi.write.plan.task_route import LoadedTask
from tests.unit.table.tables import files_of, make_table, ride, rows_of
from tests.unit.txn.action_pairs import Script, calls_of, faults_of_schedule, prepared
from tests.unit.txn.test_optimistic import OCC, check_sound

execute_clean = importlib.import_module("pyhudi.service.cleaning.execute_clean")
commit_sequence = importlib.import_module("pyhudi.txn.commit_sequence")
service_engine = importlib.import_module("pyhudi.service.service_engine")


class AlwaysHeld:
    """The lock of somebody who asks nobody."""

    def is_held(self) -> bool:
        return True


class Unlocked(InterceptedStorage):
    """A table whose writer takes no lock; services still exclude others of their kind."""

    def _pass(self, call: Any, effect: Callable[[], Any], torn: Any = None) -> Any:
        del call, torn
        return effect()

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[Any]:
        with self.inner.lock(timeout_s, name, provider) if name else contextlib.nullcontext(AlwaysHeld()) as held:
            yield held


class Meanwhile:
    """An engine that lets something happen once, before the tasks that write files or after them."""

    name = "local"

    def __init__(self, happens: Callable[[], object], *, after: bool) -> None:
        self.happens, self.after = happens, after

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        writes = bool(tasks) and isinstance(tasks[0], LoadedTask)
        if writes and not self.after:
            self.happens()
        results = LocalEngine(threads=1).run(function, tasks)
        if writes and self.after:
            self.happens()
        return results


class Speculative:
    """An engine that runs each task twice, as speculative execution does: the first attempt counts, the second one dies while it writes."""

    name = "local"

    def __init__(self, storage: MemoryStorage) -> None:
        self.storage = storage

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        results = LocalEngine(threads=1).run(function, tasks)
        if not tasks or not isinstance(tasks[0], LoadedTask):  # they look keys up, and write nothing
            return results
        before = set(data_files(self.storage))
        LocalEngine(threads=1).run(function, [replace(one, task=one.task.with_token("0-0-1")) for one in tasks])
        for path in set(data_files(self.storage)) - before:
            content = self.storage.read(path)
            self.storage.replace(path, content[: len(content) // 2])
        return results


def data_files(storage: MemoryStorage) -> list[str]:
    return [path for path in files_of(storage) if not path.startswith(".hoodie/") and path.endswith((".parquet",))]


def faults_of_clean_and_restore(start: MemoryStorage) -> list[str]:
    """Restore the table when a clean begins to delete, and at two calls after that."""
    began = next(number for number, call in enumerate(calls_of("clean", start)) if call.path.endswith(".clean.inflight"))
    faults = list[str]()
    for number in range(began, began + 3):
        faults += faults_of_schedule(start, "clean", "restore", Script(number, 1 << 40))
    return faults


def test_r01_a_clean_takes_the_lock_that_a_restore_takes() -> None:
    assert faults_of_clean_and_restore(prepared("MERGE_ON_READ")) == []


def test_r01_a_clean_without_lock_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    start, locked_table = prepared("MERGE_ON_READ"), service_engine.locked_table
    monkeypatch.setattr(service_engine, "locked_table", lambda storage, *rest, **named: locked_table(Unlocked(storage), *rest, **named))
    assert any("files that the metadata table lists are there" in fault for fault in faults_of_clean_and_restore(start))


def clean_of_a_dropped_partition_meets_a_writer(*, after: bool) -> None:
    """R02: a writer begins in a partition whose folder a clean is about to delete."""
    table = make_table(MemoryStorage(), table_type="COPY_ON_WRITE", partition_by=("city",))
    without_clean = OCC | {"hoodie.clean.automatic": "false"}
    table.upsert([ride(1), ride(3, city="rome")], options=without_clean)
    table.delete(partitions=["oslo"], options={"hoodie.clean.automatic": "false"})
    for value in (5, 6):
        table.upsert([ride(3, city="rome", value=value)], options=without_clean)
    (planned,) = table.services.clean(mode="schedule", options=OCC | {"hoodie.clean.commits.retained": "1"})
    assert planned.partitions == ("oslo",)
    engine = Meanwhile(lambda: table.services.clean(mode="execute", options=OCC), after=after)
    HudiTable(table.storage, engine=engine).upsert([ride(2)], options=without_clean)
    assert rows_of(table) == [ride(2), ride(3, city="rome", value=6)]
    check_sound(table)


@pytest.mark.parametrize("after", [False, True])
def test_r02_a_clean_leaves_the_folder_of_a_writer_that_is_at_work(after: bool) -> None:
    clean_of_a_dropped_partition_meets_a_writer(after=after)


def test_r02_a_clean_that_deletes_the_folder_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def drop(table: Any, work: Any) -> tuple[str, ...]:
        paths = tuple(work.planned.plan.partitions_to_delete or ())
        for path in paths:
            table.storage.delete_tree(path)
        return paths

    monkeypatch.setattr(execute_clean, "_drop_partitions", drop)
    with pytest.raises(Exception, match="oslo"):
        clean_of_a_dropped_partition_meets_a_writer(after=True)


def a_second_attempt_leaves_a_broken_file() -> None:
    """R21: the file of the attempt that does not count has the name that sorts last."""
    storage = MemoryStorage()
    table = make_table(storage, table_type="COPY_ON_WRITE", partition_by=("city",))
    table.upsert([ride(1), ride(2)])
    HudiTable(storage, engine=Speculative(storage)).upsert([ride(1, value=7)])
    assert rows_of(table) == [ride(1, value=7), ride(2)]
    assert len(data_files(storage)) == 2
    check_sound(table)


def test_r21_files_of_attempts_that_do_not_count_are_deleted() -> None:
    a_second_attempt_leaves_a_broken_file()


def test_r21_a_commit_that_leaves_them_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_sequence, "delete_unlisted", lambda storage, requested, listed: None)
    with pytest.raises(AssertionError):
        a_second_attempt_leaves_a_broken_file()
