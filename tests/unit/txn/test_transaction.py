"""A transaction that fails, at chosen points: nothing of it is visible, and nothing is left for the next writer to
do.
"""

from __future__ import annotations

import contextlib

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, StorageError, UnknownOutcomeError
from pyhudi.spec.instant import Action, State
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.intercepted_storage import InterceptedStorage
from pyhudi.timeline.load_timeline import load_timeline
from tests.not_none import not_none
from tests.unit.table.tables import files_of, make_table, ride, rows_of


class FailingEngine:
    """Runs the tasks, then fails with what it was given."""

    name = "failing"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def run(self, function, tasks):
        LocalEngine(threads=1).run(function, tasks)
        raise self.error


class Meddling(InterceptedStorage):
    """Does something of its own around the creation of the completed file of a commit."""

    def __init__(self, inner, meddle) -> None:
        super().__init__(inner)
        self.meddle = meddle

    def _pass(self, call, effect, torn=None):
        if call.method == "create" and call.path.endswith(".commit"):
            return self.meddle(self.inner, call.path, effect)
        return super()._pass(call, effect, torn)


def states(storage) -> list[tuple[Action, State]]:
    timeline = load_timeline(storage, HudiTable(storage).config)
    return [(instant.action, instant.state) for instant in timeline.instants]


@pytest.mark.parametrize("error", [ValueError("bad"), KeyboardInterrupt()])
def test_write_whose_tasks_fail_rolls_itself_back_at_once(error) -> None:
    storage = MemoryStorage()
    make_table(storage).upsert([ride(1)])
    before = files_of(storage)
    with pytest.raises(type(error)):
        HudiTable(storage, engine=FailingEngine(error)).insert([ride(2)])
    assert states(storage) == [(Action.COMMIT, State.COMPLETED), (Action.ROLLBACK, State.COMPLETED)]
    assert [path for path in files_of(storage) if path not in before and ".rollback" not in path] == []
    assert rows_of(HudiTable(storage)) == [ride(1)]


def meddled(meddle) -> tuple[MemoryStorage, HudiTable]:
    storage = MemoryStorage()
    make_table(storage).upsert([ride(1)])
    return storage, HudiTable(Meddling(storage, meddle))


def test_completed_file_that_is_there_after_an_error_means_success() -> None:
    def meddle(inner, path, effect):
        effect()
        raise StorageError("no answer")

    storage, table = meddled(meddle)
    assert table.upsert([ride(2)]).inserted == 1
    assert rows_of(HudiTable(storage)) == [ride(1), ride(2)]


def test_completed_file_that_is_not_there_after_an_error_means_failure() -> None:
    def meddle(inner, path, effect):
        raise StorageError("no answer")

    storage, table = meddled(meddle)
    with pytest.raises(StorageError, match="no answer"):
        table.upsert([ride(2)])
    assert rows_of(HudiTable(storage)) == [ride(1)]
    assert states(storage)[-1] == (Action.ROLLBACK, State.COMPLETED)


def test_storage_that_does_not_answer_leaves_the_outcome_unknown_and_the_files_alone() -> None:
    class Dead(InterceptedStorage):
        crashed = False

        def _pass(self, call, effect, torn=None):
            if call.method == "create" and call.path.endswith(".commit"):
                effect()
                self.crashed = True
            if self.crashed:
                raise StorageError("no answer")
            return effect()

    storage = MemoryStorage()
    make_table(storage)
    with pytest.raises(UnknownOutcomeError, match="history"):
        HudiTable(Dead(storage)).upsert([ride(1)])
    assert rows_of(HudiTable(storage)) == [ride(1)]


def test_interrupt_right_after_the_commit_keeps_it() -> None:
    def meddle(inner, path, effect):
        effect()
        raise KeyboardInterrupt

    storage, table = meddled(meddle)
    with pytest.raises(KeyboardInterrupt):
        table.upsert([ride(2)])
    assert rows_of(HudiTable(storage)) == [ride(1), ride(2)]


def test_writer_without_the_lock_makes_the_commit_a_conflict() -> None:
    storage = MemoryStorage()
    make_table(storage)

    class Engine:
        name = "local"

        def run(self, function, tasks):
            storage.create(".hoodie/timeline/29990101000000000.commit.requested", b"")
            return [function(task) for task in tasks]

    with pytest.raises(ConflictError, match="29990101000000000"):
        HudiTable(storage, engine=Engine()).insert([ride(1)])
    assert rows_of(HudiTable(storage)) == []


def test_data_file_that_lost_bytes_before_the_commit_is_not_committed() -> None:
    storage = MemoryStorage()
    make_table(storage)

    class Engine:
        name = "local"

        def run(self, function, tasks):
            results = [function(task) for task in tasks]
            (written,) = results[0]
            storage.replace(written.file, storage.read(written.file)[:-1])
            return results

    with pytest.raises(StorageError, match="were written"):
        HudiTable(storage, engine=Engine()).insert([ride(1)])
    assert rows_of(HudiTable(storage)) == []


def test_file_of_a_repeated_attempt_is_deleted_before_the_commit() -> None:
    storage = MemoryStorage()
    make_table(storage)

    class Engine:
        name = "local"

        def run(self, function, tasks):
            results = [function(task) for task in tasks]
            (written,) = results[0]
            other = written.file.replace("_0-0-0_", "_0-0-1_")
            instant = other.rpartition("_")[2].removesuffix(".parquet")
            storage.create(f".hoodie/.temp/{instant}/{other}.marker.CREATE", b"")
            storage.create(other, b"half a file")
            return results

    HudiTable(storage, engine=Engine()).insert([ride(1)])
    assert not [path for path in files_of(storage) if "_0-0-1_" in path or ".temp" in path]
    assert rows_of(HudiTable(storage)) == [ride(1)]


@pytest.mark.parametrize(("version", "kind"), [("6", "APPEND"), ("9", "CREATE")])
def test_log_file_of_a_repeated_attempt_is_deleted_before_the_commit(version: str, kind: str) -> None:
    """Names of log files begin with a dot, as those of Hadoop's checksums do."""
    storage = MemoryStorage()
    make_table(storage, table_type="MERGE_ON_READ", options={"hoodie.write.table.version": version}).insert([ride(1)])

    class Engine:
        name = "local"

        def run(self, function, tasks):
            results = [function(task) for task in tasks]
            for (written,) in (result for result in results if isinstance(result, list)):
                marker = next(path for path in files_of(storage, ".hoodie/.temp") if written.file in path)
                assert marker.endswith(f".marker.{kind}")
                storage.create(marker.replace("_0-0-0", "_0-0-1"), b"")
                storage.create(written.file.replace("_0-0-0", "_0-0-1"), storage.read(written.file))
            return results

    HudiTable(storage, engine=Engine()).upsert([ride(1, value=5)])
    assert not [path for path in files_of(storage) if "_0-0-1" in path]
    assert rows_of(HudiTable(storage)) == [ride(1, value=5)]


def test_completion_comes_after_the_request_and_after_everything_on_the_timeline() -> None:
    table = make_table()
    table.storage.create(".hoodie/timeline/29990101000000000.clean.requested", b"")
    result = table.upsert([ride(1)])
    assert "29990101000000000" < not_none(result.instant) < not_none(result.completed)


def test_lock_of_another_writer_is_waited_for_and_then_named() -> None:
    table = make_table()
    with contextlib.ExitStack() as present:
        present.enter_context(table.storage.lock(0))
        with pytest.raises(ConflictError, match="lock"):
            table.upsert([ride(1)], options={"hoodie.write.lock.wait_time_ms": "20"})
    assert table.upsert([ride(1)]).inserted == 1


def test_commit_says_schema_engine_and_version() -> None:
    table = make_table()
    result = table.upsert([ride(1)])
    (name,) = [path for path in files_of(table.storage) if path.endswith(f"{result.completed}.commit")]
    content = table.storage.read(name)
    for text in (b"pyhudi.version", b"pyhudi.engine", b"pyhudi.engine.reason", b'"name":"rides_record"'):
        assert text in content
