"""Leases of table services: of several processes one has it, a dead one's ends by the clock of the storage, a suspended one notices."""

from __future__ import annotations

import json
import os
import threading

import pytest

from pyhudi.errors import ConflictError, StorageError
from pyhudi.locks.service_lease import ALIVE_S, ServiceLease
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage

FOLDER = ".hoodie/.locks"


class Time:
    """The time of the storage, and that of a process."""

    def __init__(self) -> None:
        self.storage_ms, self.process_s = 1_800_000_000_000, 5.0

    def pass_by(self, seconds: float) -> None:
        self.storage_ms += int(seconds * 1000)
        self.process_s += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def storage(time: Time) -> MemoryStorage:
    return MemoryStorage(clock=lambda: time.storage_ms * 1_000_000)


def lease_of(storage: Storage, time: Time, name: str = "compaction") -> ServiceLease:
    return ServiceLease(storage, name, lambda: time.process_s)


def acquired(storage: Storage, time: Time, name: str = "compaction") -> ServiceLease:
    lease = lease_of(storage, time, name)
    lease.acquire("compacting", lambda _: None)
    return lease


def test_one_process_has_the_lease_until_it_ends_it(storage: MemoryStorage, time: Time) -> None:
    first = acquired(storage, time)
    with pytest.raises(ConflictError, match=rf"process {os.getpid()} of host .* is compacting table memory://.* showed life 0 seconds ago"):
        acquired(storage, time)
    assert first.is_held()
    first.release()
    assert not first.is_held()
    acquired(storage, time).release()
    assert storage.file_names(FOLDER) == ()


def test_services_of_other_kinds_have_leases_of_their_own(storage: MemoryStorage, time: Time) -> None:
    leases = [acquired(storage, time, name) for name in ("compaction", "clustering", "clean", "indexing")]
    assert all(lease.is_held() for lease in leases)


@pytest.mark.parametrize(("passed_s", "is_free"), [(ALIVE_S, False), (ALIVE_S + 0.001, True)])
def test_dead_process_has_the_lease_for_a_while(storage: MemoryStorage, time: Time, passed_s: float, is_free: bool) -> None:
    first = acquired(storage, time)
    time.pass_by(passed_s)
    if not is_free:
        with pytest.raises(ConflictError, match="showed life 120 seconds ago"):
            acquired(storage, time)
        assert first.is_held()
        return
    second = acquired(storage, time)
    assert second.is_held()
    assert not first.is_held()
    first.release()
    assert second.is_held()


def test_clock_of_a_process_that_jumps_changes_nothing(storage: MemoryStorage, time: Time) -> None:
    """The age of a lease is that of its file, of which the storage states the time, and not what any machine's clock says."""
    first = acquired(storage, time)
    other = Time()
    other.process_s = -1e6
    with pytest.raises(ConflictError):
        ServiceLease(storage, "compaction", lambda: other.process_s).acquire("compacting", lambda _: None)
    assert first.is_held()


def test_lease_is_renewed_while_the_service_runs(storage: MemoryStorage, time: Time) -> None:
    first = acquired(storage, time)
    for _ in range(4):
        time.pass_by(100)
        assert first._renew()
    with pytest.raises(ConflictError):
        acquired(storage, time)
    assert first.is_held()


def test_process_that_was_suspended_does_not_come_back(storage: MemoryStorage, time: Time) -> None:
    first = acquired(storage, time)
    time.pass_by(ALIVE_S + 1)
    second = acquired(storage, time)
    assert not first._renew()
    time.process_s = 5.0
    assert not first.is_held()
    assert second.is_held()
    assert len(storage.file_names(FOLDER)) == 1


def test_process_that_is_suspended_within_a_renewal_takes_it_away_again(time: Time) -> None:
    class Suspends(InterceptedStorage):
        is_on = False

        def _pass(self, call: Call, effect, torn=None):
            if self.is_on and call.method == "replace":
                self.is_on = False
                time.pass_by(ALIVE_S + 1)
                second.append(acquired(self.inner, time))
            return effect()

    second: list[ServiceLease] = []
    storage = Suspends(MemoryStorage(clock=lambda: time.storage_ms * 1_000_000))
    first = acquired(storage, time)
    storage.is_on = True
    assert not first._renew()
    assert not first.is_held()
    assert second[0].is_held()
    assert len(storage.file_names(FOLDER)) == 1


def test_lease_whose_file_was_deleted_is_lost(storage: MemoryStorage, time: Time) -> None:
    first = acquired(storage, time)
    for name in storage.file_names(FOLDER):
        storage.delete(f"{FOLDER}/{name}")
    assert not first.is_held()
    assert not first._renew()
    assert storage.file_names(FOLDER) == ()


def test_of_threads_that_begin_at_the_same_time_at_most_one_has_it() -> None:
    storage, guard = MemoryStorage(), threading.Barrier(4)
    most, holders, refused = [0], [0], [0]
    count = threading.Lock()

    def run() -> None:
        guard.wait()
        for _ in range(10):
            lease = ServiceLease(storage, "clean")
            try:
                lease.acquire("cleaning", lambda _: None)
            except ConflictError:
                refused[0] += 1
                continue
            with count:
                holders[0] += 1
                most[0] = max(most[0], holders[0])
            assert lease.is_held()
            with count:
                holders[0] -= 1
            lease.release()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert storage.file_names(FOLDER) == ()


def test_two_that_begin_at_the_same_time_do_not_both_give_up(storage: MemoryStorage, time: Time) -> None:
    """Each sees the other and withdraws; whoever tries again first has it."""
    first = acquired(storage, time)
    second = lease_of(storage, time)
    second.acquire("compacting", lambda _: first.release())
    assert second.is_held()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"host": "a"}', b"\xff", b"x" * 10_000])
def test_damaged_lease_excludes_others_until_it_is_old(storage: MemoryStorage, time: Time, content: bytes) -> None:
    storage.replace(f"{FOLDER}/pyhudi-service-compaction-00000000-0000-0000-0000-000000000000", content)
    with pytest.raises(ConflictError, match="another process is compacting"):
        acquired(storage, time)
    time.pass_by(ALIVE_S + 1)
    assert acquired(storage, time).is_held()


def test_other_files_of_the_folder_are_none_of_its_business(storage: MemoryStorage, time: Time) -> None:
    for name in ("table_lock.json", "pyhudi-service-compaction-x", "pyhudi-lock-provider-0.json"):
        storage.replace(f"{FOLDER}/{name}", b"")
    acquired(storage, time).release()
    assert len(storage.file_names(FOLDER)) == 3


def test_content_says_who_has_it(storage: MemoryStorage, time: Time) -> None:
    acquired(storage, time)
    (name,) = storage.file_names(FOLDER)
    assert json.loads(storage.read(f"{FOLDER}/{name}"))["process"] == os.getpid()


def test_release_that_fails_leaves_the_lease_to_expire(time: Time, caplog: pytest.LogCaptureFixture) -> None:
    class Stubborn(InterceptedStorage):
        def _pass(self, call: Call, effect, torn=None):
            if call.method == "delete":
                raise StorageError("busy")
            return effect()

    acquired(Stubborn(MemoryStorage()), time).release()
    assert "left to expire: busy" in caplog.text


def test_forked_child_neither_has_the_lease_nor_ends_it(tmp_path) -> None:
    storage = LocalStorage(str(tmp_path))
    lease = ServiceLease(storage, "compaction")
    lease.acquire("compacting")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            held = lease.is_held()
            lease.release()
            status = int(held)
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert lease.is_held()
    lease.release()
