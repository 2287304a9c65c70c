"""The lock file that pyhudi and Apache Hudi share: who has it, when it is left over, and how its loss is noticed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import LockTimeoutError, OptionError, UnsupportedError
from pyhudi.locks.file_system_lock import FileSystemLock, FileSystemProvider, file_system_provider
from pyhudi.spec.options import resolve
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.remote.object_store import ObjectStorage
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage

LOCK = ".hoodie/lock"


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


def a_lock(storage, *, expire_minutes: int = 0, domain: str = ""):
    return FileSystemProvider("", expire_minutes).lock(storage, domain)


def age(storage, minutes: float) -> None:
    storage.set_modified(LOCK, int((time.time() - minutes * 60) * 1000))


def test_file_is_there_while_the_lock_is_held_and_says_who_has_it(storage) -> None:
    lock = a_lock(storage)
    assert lock.acquire(0)
    assert lock.is_held()
    stated = json.loads(storage.read(LOCK))
    assert stated["lockThreadName"].startswith(f"pyhudi process {os.getpid()} on ")
    assert {"lockCreateTime", "lockStacksInfo"} < set(stated)
    lock.release()
    assert not lock.is_held()
    assert storage.stat(LOCK) is None


def test_writer_that_waits_for_the_lock_of_another_table_is_told_so(tmp_path: Path) -> None:
    tables = [HudiTable.create(tmp_path / name, pa.schema({"id": pa.int64()}), name=name, keys=["id"]) for name in ("a", "b")]
    options = {
        "hoodie.write.lock.provider": "FileSystemBasedLockProvider",
        "hoodie.write.lock.filesystem.path": str(tmp_path),
        "hoodie.write.lock.wait_time_ms": "100",
    }
    holder = FileSystemProvider(str(tmp_path)).lock(tables[0].storage, "a's own lock")
    assert holder.acquire(0)
    with pytest.raises(LockTimeoutError, match=rf"lock of another table, {tables[0].storage.uri}: give each table its own hoodie\.write"):
        tables[1].upsert([{"id": 1}], options=options)
    assert holder.is_held()
    holder.release()
    tables[1].upsert([{"id": 1}], options=options)


def test_second_holder_waits_for_the_first_one(storage) -> None:
    first, second = a_lock(storage), a_lock(storage)
    assert first.acquire(0)
    assert not second.acquire(0)
    assert not second.acquire(0.1)
    assert f"of pyhudi process {os.getpid()}" in second.holder()
    threading.Timer(0.1, first.release).start()
    assert second.acquire(60)
    second.release()


def test_file_of_apache_hudi_is_respected_and_its_deletion_by_another_noticed(storage) -> None:
    storage.create(LOCK, b"")
    lock = a_lock(storage)
    assert not lock.acquire(0)
    assert "of Apache Hudi or another program" in lock.holder()
    storage.delete(LOCK)
    assert lock.acquire(0)
    storage.delete(LOCK)  # what the close of Apache Hudi's provider does to the lock of others
    assert not lock.is_held()


def test_release_leaves_a_file_that_somebody_else_made(storage) -> None:
    lock = a_lock(storage)
    assert lock.acquire(0)
    storage.replace(LOCK, b"")
    assert not lock.is_held()
    lock.release()
    assert storage.read(LOCK) == b""


class _EmptiedAtOnce(InterceptedStorage):
    """Plays Apache Hudi, which saw no file, on a local file system, where its exclusive create is none."""

    def _pass(self, call: Call, effect, torn=None):
        result = effect()
        if call == Call("create", LOCK):
            self.inner.replace(LOCK, b"")
        return result


def test_file_that_apache_hudi_emptied_while_it_was_created_is_not_held(storage) -> None:
    assert not a_lock(_EmptiedAtOnce(storage)).acquire(0)
    assert storage.stat(LOCK) is not None


@pytest.mark.parametrize(("minutes_old", "taken"), [(0.5, False), (1.5, True)])
def test_expired_file_is_taken_over(storage, minutes_old: float, taken: bool) -> None:
    storage.create(LOCK, b"")
    age(storage, minutes_old)
    lock = a_lock(storage, expire_minutes=1)
    assert lock.acquire(0) is taken
    assert not a_lock(storage).acquire(0)
    assert [name for name in storage.file_names(".hoodie") if "expired" in name] == []


def test_file_never_expires_without_the_option(storage) -> None:
    storage.create(LOCK, b"")
    age(storage, 1e6)
    assert not a_lock(storage).acquire(0)


def test_holder_whose_lock_expired_does_not_hold_it(storage) -> None:
    lock = a_lock(storage, expire_minutes=1)
    assert lock.acquire(0)
    age(storage, 2)
    assert not lock.is_held()
    lock.release()


def test_holder_renews_its_lock(storage) -> None:
    lock = FileSystemLock(storage, LOCK, "t", 0.4, "")
    assert lock.acquire(0)
    began, end = storage.stat(LOCK).modified_ms, time.monotonic() + 60
    while storage.stat(LOCK).modified_ms == began:
        assert time.monotonic() < end
        time.sleep(0.01)
    lock.release()


def test_of_several_that_see_an_expired_file_one_removes_it(storage) -> None:
    """The second one looked before the first one took over, and goes on afterwards."""
    storage.create(LOCK, b"")
    age(storage, 5)
    status = storage.stat(LOCK)
    first, second = a_lock(storage, expire_minutes=1), a_lock(storage, expire_minutes=1)
    assert first.acquire(0)
    assert not second._remove_left_over(status)
    assert first.is_held()
    first.release()


def test_claim_of_one_that_died_over_an_expired_file_expires(storage) -> None:
    storage.create(LOCK, b"")
    age(storage, 5)
    claim = f"{LOCK}.expired-{storage.stat(LOCK).modified_ms}"
    storage.create(claim, b"")
    lock = a_lock(storage, expire_minutes=1)
    assert not lock.acquire(0)
    storage.set_modified(claim, 0)
    assert not lock.acquire(0)  # the claim is deleted, and the next attempt takes the file over
    assert lock.acquire(0)


def test_file_of_a_dead_process_of_this_machine_is_removed_at_once(storage) -> None:
    dead = a_lock(storage, domain="boot 1 2")
    assert dead.acquire(0)  # and is never released
    assert not a_lock(storage, domain="").acquire(0)
    assert not a_lock(storage, domain="boot 1 3").acquire(0)
    assert a_lock(storage, domain="boot 1 2").acquire(0)
    assert not dead.is_held()


def test_file_may_be_in_a_folder_of_its_own(tmp_path) -> None:
    lock = FileSystemProvider(str(tmp_path)).lock(MemoryStorage(), "")
    assert lock.acquire(0)
    assert (tmp_path / "lock").exists()
    assert not FileSystemProvider(f"file://{tmp_path}").lock(MemoryStorage(), "").acquire(0)
    lock.release()


def test_storage_without_exclusive_create_and_relative_folder_are_refused() -> None:
    pytest.importorskip("fsspec")
    with pytest.raises(UnsupportedError, match="needs a file system that creates files exclusively"):
        FileSystemProvider().lock(ObjectStorage("local:///t"), "")
    with pytest.raises(OptionError, match="give an absolute path"):
        file_system_provider(resolve({"hoodie.write.lock.filesystem.path": "locks"}))


def test_damaged_lock_file_is_held_by_somebody(storage) -> None:
    storage.create(LOCK, b'{"lockThreadName": ')
    lock = a_lock(storage, domain="boot 1 2")
    assert not lock.acquire(0)
    assert "another program" in lock.holder()


_WRITER = """
import sys, pyarrow as pa
from pyhudi import HudiTable
table = HudiTable.open(sys.argv[1], {"hoodie.write.lock.provider": "FileSystemBasedLockProvider",
    "hoodie.time.generator.max_expected_clock_skew_ms": "1"})
for number in range(3):
    table.upsert([{"id": int(sys.argv[2]) * 10 + number, "v": number}])
"""


def test_processes_write_in_turn_under_the_lock_file(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64(), "v": pa.int64()}), name="t", keys=["id"])
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(tmp_path / "t"), str(number)]) for number in range(2)]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    assert sorted(table.to_arrow()["id"].to_pylist()) == [*range(3), *range(10, 13)]
    assert LocalStorage(str(tmp_path / "t")).stat(LOCK) is None
