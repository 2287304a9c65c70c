"""A writer whose lock file was deleted or replaced does not complete: another one may hold the new file."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, LockLostError
from pyhudi.service.indexes import run_index_build
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import HeldLock
from pyhudi.table.write_retry import repeated
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from tests.unit.table.tables import make_table, ride, rows_of

OCC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}


class _Loses(InterceptedStorage):
    """Loses the table's lock file when a data file is opened, or with another call."""

    def __init__(self, inner: LocalStorage, lose, method: str = "open_output", part: str = ".parquet") -> None:
        super().__init__(inner)
        self.lose, self.method, self.part = lose, method, part

    def _pass(self, call: Call, effect, torn=None):
        if call.method == self.method and self.part in call.path:
            self.lose()
        return effect()


def _delete(table: Path) -> None:
    shutil.rmtree(table / ".hoodie" / ".locks")


def _move(table: Path) -> None:
    (table / ".hoodie" / ".locks").rename(table / ".hoodie" / ".locks.old")


def _replace(table: Path) -> None:
    (lock,) = (path for path in (table / ".hoodie" / ".locks").iterdir() if path.suffix == ".lock" or path.is_file())
    lock.unlink()
    lock.touch()


@pytest.mark.parametrize("lose", [_delete, _move, _replace])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_nothing_is_visible_of_a_write_that_lost_its_lock(tmp_path: Path, kind: str, lose) -> None:
    storage = LocalStorage(str(tmp_path / "t"))
    table = make_table(storage, table_type=kind)
    table.upsert([ride(1)])
    before = rows_of(table)
    with pytest.raises(ConflictError, match="lock file of table"):
        HudiTable(_Loses(storage, lambda: lose(tmp_path / "t"))).upsert([ride(1, value=2), ride(2)])
    assert rows_of(HudiTable(storage)) == before
    HudiTable(storage).upsert([ride(3)])
    assert [row["id"] for row in rows_of(HudiTable(storage))] == [1, 3]


def test_a_lost_lock_leaves_pending_instants_to_the_next_writer(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path / "t"))
    make_table(storage).upsert([ride(1)])
    with pytest.raises(ConflictError):
        HudiTable(_Loses(storage, lambda: _delete(tmp_path / "t"))).upsert([ride(2)])
    assert [path for path in (tmp_path / "t" / ".hoodie" / "timeline").iterdir() if path.suffix == ".inflight"]


def _pending_write(folder: Path) -> LocalStorage:
    """Return a table with a row, and a write that lost its lock before it was complete."""
    storage = LocalStorage(str(folder / "t"))
    make_table(storage).upsert([ride(1)])
    with pytest.raises(ConflictError):
        HudiTable(_Loses(storage, lambda: _delete(folder / "t"))).upsert([ride(2)])
    return storage


def _timeline(folder: Path, part: str) -> list[str]:
    return sorted(path.name for path in (folder / "t" / ".hoodie" / "timeline").iterdir() if part in path.name)


@pytest.mark.parametrize(("method", "part"), [("create", ".rollback.inflight"), ("delete", ".parquet")])
def test_rollback_that_lost_its_lock_stays_pending(tmp_path: Path, method: str, part: str) -> None:
    storage = _pending_write(tmp_path)
    with pytest.raises(ConflictError, match=r"while rollback \d+ held it.*stays pending"):
        HudiTable(_Loses(storage, lambda: _delete(tmp_path / "t"), method, part)).upsert([ride(3)])
    assert len(_timeline(tmp_path, ".rollback.inflight")) == 1
    assert not [name for name in _timeline(tmp_path, ".rollback") if "_" in name]
    HudiTable(storage).upsert([ride(4)])
    assert len([name for name in _timeline(tmp_path, ".rollback") if "_" in name]) == 1
    assert [row["id"] for row in rows_of(HudiTable(storage))] == [1, 4]


@pytest.mark.parametrize("step", ["_laid_out", "_unharmed"])
def test_index_build_that_lost_its_lock_is_not_shown_to_readers(tmp_path: Path, monkeypatch, step: str) -> None:
    storage = LocalStorage(str(tmp_path / "t"))
    table = make_table(storage)
    table.upsert([ride(1)], {"hoodie.metadata.record.index.enable": "true"})
    original = getattr(run_index_build, step)

    def loses(*arguments):
        result = original(*arguments)
        _delete(tmp_path / "t")
        return result

    monkeypatch.setattr(run_index_build, step, loses)
    with pytest.raises(ConflictError, match=r"while indexing \d+ held it.*Build them again"):
        table.services.index("by_city", "city")
    monkeypatch.undo()
    properties = (tmp_path / "t" / ".hoodie" / "hoodie.properties").read_text().splitlines()
    (built,) = (line for line in properties if line.startswith("hoodie.table.metadata.partitions="))
    assert "by_city" not in built
    HudiTable(storage).upsert([ride(1, "rome"), ride(2, "lima")])
    HudiTable(storage).services.index("by_city", "city")
    assert HudiTable(storage).inspect.health().num_rows == 0
    assert [row["id"] for row in HudiTable(storage).to_arrow(filter="city = 'rome'").to_pylist()] == [1]


@pytest.mark.parametrize("action", ["savepoint", "restore", "indexing"])
def test_service_that_loses_its_lock_when_it_completes_stays_pending(tmp_path: Path, action: str) -> None:
    """Between the last look at the lock and the completed file there is no other call, for which the process may be stopped."""
    storage = LocalStorage(str(tmp_path / "t"))
    table = make_table(storage)
    first = table.upsert([ride(1)]).instant
    table.upsert([ride(1, value=2)])
    locks = tmp_path / "t" / ".hoodie" / ".locks"
    losing = HudiTable(_Loses(storage, lambda: shutil.rmtree(locks, ignore_errors=True), "stat", f".{action}."))
    actions: dict[str, Callable[[], object]] = {
        "savepoint": losing.savepoint,
        "restore": lambda: losing.restore(first),
        "indexing": lambda: losing.services.index("record_index"),
    }
    with pytest.raises(LockLostError, match=f"while {action} "):
        actions[action]()
    assert _timeline(tmp_path, f".{action}.inflight")
    assert not [name for name in _timeline(tmp_path, f".{action}") if "_" in name]


class _Taken(InterceptedStorage):
    """A table whose lock another writer has taken over since: it excludes nobody, and says so."""

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        yield _Lost()


class _Lost:
    def is_held(self) -> bool:
        return False


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_what_a_live_writer_records_in_the_metadata_table_is_not_rolled_back_without_the_lock(kind: str) -> None:
    storage = MemoryStorage()
    make_table(storage, table_type=kind).upsert([ride(1)])
    refused = []

    def write_without_lock() -> None:
        with pytest.raises(LockLostError, match="metadata table is left as it is") as caught:
            HudiTable(_Taken(storage)).upsert([ride(2)], options=OCC)
        refused.append(caught.value)

    def meddle(call: Call, effect):
        if call.method == "create" and call.path.startswith(".hoodie/timeline/") and call.path.endswith("commit") and not refused:
            write_without_lock()
        return effect()

    HudiTable(_Meddling(storage, meddle)).upsert([ride(1, value=2)], options=OCC)
    assert len(refused) == 1
    table = HudiTable(storage)
    assert rows_of(table) == [ride(1, value=2)]
    assert table.inspect.health().num_rows == 0


def test_a_write_that_lost_the_lock_is_repeated_as_one_that_lost_a_conflict() -> None:
    outcomes = [LockLostError("lost"), None]

    def write() -> int:
        error = outcomes.pop(0)
        if error is not None:
            raise error
        return 1

    assert repeated(write, 1, pause=lambda _: None) == 1
    assert outcomes == []


class _Meddling(InterceptedStorage):
    def __init__(self, inner: MemoryStorage, meddle) -> None:
        super().__init__(inner)
        self._meddle = meddle

    def _pass(self, call: Call, effect, torn=None):
        return self._meddle(call, effect)
