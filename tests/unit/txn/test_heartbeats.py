"""Heartbeats of writers: files that others see, and what a writer whose heartbeat came too late is told."""

from __future__ import annotations

import os
import random
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pyhudi.errors import ConflictError, OptionError, StorageError
from pyhudi.locks.renewal import Renewal
from pyhudi.spec.options import resolve
from pyhudi.storage import local_storage
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from pyhudi.testing.invariants import garbage
from pyhudi.testing.lockstep import Lockstep
from pyhudi.timeline.clock import SystemClock, elapsed_millis
from pyhudi.txn.heartbeat_settings import HeartbeatSettings, heartbeat_settings
from pyhudi.txn.heartbeats import Heartbeat, heartbeat_path, is_alive
from tests.unit.table.tables import make_table, ride, rows_of

T = "20240101000000000"
_SHORT = HeartbeatSettings(interval_ms=20, tolerable_misses=1000)


class _Clock:
    def __init__(self) -> None:
        self.at = datetime.now(UTC)

    def now(self) -> datetime:
        return self.at


def test_file_is_empty_and_gone_at_the_end(tmp_path) -> None:
    storage = LocalStorage(str(tmp_path))
    with Heartbeat(storage, T, SystemClock()):
        assert (tmp_path / ".hoodie" / ".heartbeat" / T).read_bytes() == b""
        assert is_alive(storage, T, SystemClock())
    assert list((tmp_path / ".hoodie" / ".heartbeat").iterdir()) == []


def test_forked_child_does_not_end_the_heartbeat_of_its_parent(tmp_path) -> None:
    storage = LocalStorage(str(tmp_path))
    heartbeat = Heartbeat(storage, T, SystemClock()).__enter__()
    child = os.fork()
    if child == 0:
        try:
            heartbeat.__exit__()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert storage.stat(heartbeat_path(T)) is not None
    heartbeat.__exit__()
    assert storage.stat(heartbeat_path(T)) is None


def test_file_goes_when_the_write_fails() -> None:
    storage = MemoryStorage()
    with pytest.raises(ZeroDivisionError), Heartbeat(storage, T, SystemClock()):
        _ = 1 / 0
    assert not is_alive(storage, T, SystemClock())
    assert storage.stat(heartbeat_path(T)) is None


def test_file_is_written_again_while_the_write_continues() -> None:
    storage = MemoryStorage()
    with Heartbeat(storage, T, SystemClock(), _SHORT):
        storage.delete(heartbeat_path(T))
        deadline = time.monotonic() + 30
        while storage.stat(heartbeat_path(T)) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert storage.stat(heartbeat_path(T)) is not None


@pytest.mark.parametrize(("age_ms", "alive"), [(0, True), (120_000, True), (120_001, False)])
@pytest.mark.parametrize("wrong_by_hours", [0, 5, -5])
def test_writer_is_alive_for_as_many_intervals_as_it_may_miss(age_ms: int, alive: bool, wrong_by_hours: int) -> None:
    """By the clock of the storage: that of a machine that is five hours ahead would take each live writer for dead."""
    now_ms = [1_800_000_000_000]
    storage, clock = MemoryStorage(clock=lambda: now_ms[0] * 1_000_000), _Clock()
    storage.replace(heartbeat_path(T), b"")
    now_ms[0] += age_ms
    clock.at = datetime.fromtimestamp(now_ms[0] / 1000, UTC) + timedelta(hours=wrong_by_hours)
    assert is_alive(storage, T, clock) is alive
    assert storage.file_names(".hoodie/.locks") == ()


def test_writer_without_heartbeat_is_dead() -> None:
    assert not is_alive(MemoryStorage(), T, SystemClock())


def test_writer_that_was_held_up_is_refused_for_good() -> None:
    clock = _Clock()
    with Heartbeat(MemoryStorage(), T, clock) as heartbeat:
        heartbeat.check_alive()
        clock.at += timedelta(milliseconds=120_001)
        with pytest.raises(ConflictError, match="rolled this write back"):
            heartbeat.check_alive()
        clock.at -= timedelta(milliseconds=120_001)
        with pytest.raises(ConflictError, match=f"heartbeat of {T}"):
            heartbeat.check_alive()


@pytest.mark.parametrize("hours", [5, -5])
def test_clock_that_is_set_meanwhile_does_not_end_a_live_writer(monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    """What counts is the time that has passed, on this machine as on the storage."""
    passed = [1000.0]
    monkeypatch.setattr("pyhudi.timeline.clock.elapsed_s", lambda: passed[0])
    monkeypatch.setattr(SystemClock, "now", lambda _: datetime.now(UTC) + timedelta(hours=hours if passed[0] > 1000 else 0))
    with Heartbeat(MemoryStorage(), T, SystemClock()) as heartbeat:
        passed[0] += 119
        heartbeat.check_alive()
        passed[0] += 2
        with pytest.raises(ConflictError, match="expired"):
            heartbeat.check_alive()


@pytest.mark.parametrize("may_be_taken_over", [True, False])
def test_process_that_was_taken_for_dead_leaves_the_heartbeat_of_its_successor(may_be_taken_over: bool) -> None:
    clock, storage = _Clock(), MemoryStorage()
    with Heartbeat(storage, T, clock, may_be_taken_over=may_be_taken_over):
        clock.at += timedelta(milliseconds=120_001)
    assert (storage.stat(heartbeat_path(T)) is not None) is may_be_taken_over


def test_storage_that_takes_no_more_heartbeats_lets_the_writer_expire() -> None:
    class Full(InterceptedStorage):
        writes = 0

        def _pass(self, call: Call, effect, torn=None):
            if call.method == "replace":
                self.writes += 1
                if self.writes > 1:
                    raise StorageError("no space")
            return effect()

    with Heartbeat(Full(MemoryStorage()), T, SystemClock(), HeartbeatSettings(interval_ms=10, tolerable_misses=2)) as heartbeat:
        time.sleep(0.1)
        with pytest.raises(ConflictError, match="expired"):
            heartbeat.check_alive()


def test_error_of_any_kind_is_a_heartbeat_that_is_missing(caplog) -> None:
    class Strange(InterceptedStorage):
        writes = 0

        def _pass(self, call: Call, effect, torn=None):
            if call.method == "replace":
                self.writes += 1
                if self.writes > 1:
                    raise RuntimeError("an error of a driver")
            return effect()

    with Heartbeat(Strange(MemoryStorage()), T, SystemClock(), _SHORT):
        deadline = time.monotonic() + 30
        while "could be written: an error of a driver" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "could be written: an error of a driver" in caplog.text


def test_heartbeat_of_a_writer_that_dies_in_a_schedule_ends_quietly() -> None:
    """pytest fails a test in which a thread ends with an error."""
    ended = threading.Event()

    def writer(storage: Storage) -> None:
        with Heartbeat(storage, T, SystemClock(), HeartbeatSettings(5, 1000)):
            try:
                for number in range(10):
                    storage.create(f"file-{number}", b"")
            finally:
                time.sleep(0.1)  # a heartbeat is due after the death
                ended.set()

    errors = Lockstep(random.Random(1), crashes=1, calls=5).run(MemoryStorage(), [writer])
    assert ended.is_set()
    assert isinstance(errors[0], Crashed)


def test_file_that_cannot_be_deleted_does_not_fail_the_write(caplog) -> None:
    class Stubborn(InterceptedStorage):
        def _pass(self, call: Call, effect, torn=None):
            if call.method == "delete":
                raise StorageError("busy")
            return effect()

    with Heartbeat(Stubborn(MemoryStorage()), T, SystemClock()):
        pass
    assert "left to expire: busy" in caplog.text


def test_settings_are_those_of_the_options() -> None:
    options = resolve({"hoodie.client.heartbeat.interval_in_ms": "5000", "hoodie.client.heartbeat.tolerable.misses": "3"})
    assert heartbeat_settings(options) == HeartbeatSettings(5000, 3)
    assert heartbeat_settings(resolve({})) == HeartbeatSettings(60_000, 2)
    with pytest.raises(OptionError, match="must be 1000 or more"):
        heartbeat_settings(resolve({"hoodie.client.heartbeat.interval_in_ms": "999"}))


def test_write_that_cannot_be_put_on_the_timeline_sends_no_heartbeats_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make_table()
    options = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
    started: list[Renewal] = []
    start = Renewal.start

    def noted(renewal: Renewal) -> None:
        started.append(renewal)
        start(renewal)

    def full(*_: object) -> None:
        raise StorageError("no space is left")

    monkeypatch.setattr(Renewal, "start", noted)
    monkeypatch.setattr("pyhudi.timeline.write_instant.TimelineWriter.request", full)
    with pytest.raises(StorageError, match="no space"):
        table.upsert([ride(1)], options=options)
    assert table.storage.file_names(".hoodie/.heartbeat") == ()
    assert [renewal._end.is_set() for renewal in started] == [True]


@pytest.mark.parametrize("held_up_ms", [0, 200_000])
def test_writer_whose_temporary_file_is_deleted_by_a_rollback_has_lost_to_it(held_up_ms: int, tmp_path, monkeypatch) -> None:
    """Those of others find the file of a process that is stopped while it writes it."""
    table, late = make_table(LocalStorage(str(tmp_path))), [0]
    write_temporary = local_storage._write_temporary

    def stopped(name: str, data: bytes, folder: int) -> str:
        temporary = write_temporary(name, data, folder)
        if name.endswith(".inflight"):
            os.unlink(temporary, dir_fd=folder)
            late[0] = held_up_ms
        return temporary

    monkeypatch.setattr(local_storage, "_write_temporary", stopped)
    monkeypatch.setattr("pyhudi.txn.heartbeats.elapsed_millis", lambda clock: elapsed_millis(clock) + late[0])
    with pytest.raises(ConflictError if held_up_ms else StorageError, match="rolled this write back" if held_up_ms else "No such file"):
        table.upsert([ride(1)], options={"hoodie.write.concurrency.mode": "optimistic_concurrency_control"})
    assert (rows_of(table), garbage(table.storage)) == ([], [])


def test_created_file_whose_temporary_name_was_deleted_is_there(tmp_path, monkeypatch) -> None:
    storage, link = LocalStorage(str(tmp_path)), os.link

    def linked(source: str, target: str, **where: Any) -> None:
        link(source, target, **where)
        os.unlink(source, dir_fd=where["src_dir_fd"])

    monkeypatch.setattr(os, "link", linked)
    storage.create("file", b"content")
    assert storage.read("file") == b"content"
