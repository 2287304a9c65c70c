"""The lock of a Hive metastore, against a real one: queue, take-over, expiry, heartbeats, a network that is cut."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.clients.metastore_client import connect
from pyhudi.errors import LockLostError, LockTimeoutError, StorageError
from pyhudi.locks import hive_lock
from pyhudi.locks.hive_lock import HiveLock, HiveProvider
from pyhudi.locks.hive_requests import lock_request
from tests.not_none import not_none
from tests.servers.cut_network import CutNetwork, network_to

KEY = "hoodie.write.lock.hivemetastore."
CLASS = "org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider"


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    return HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64(), "v": pa.int64()}), name="t", keys=["id"])


def options_of(uri: str, name: str) -> dict[str, str]:
    return {
        "hoodie.write.lock.provider": CLASS,
        f"{KEY}uris": uri,
        f"{KEY}database": "default",
        f"{KEY}table": name,
        "hoodie.time.generator.max_expected_clock_skew_ms": "1",
    }


def a_lock(uri: str, name: str, heartbeat_s: float = 60.0, table: str = "/a") -> HiveLock:
    return HiveLock(HiveProvider((uri,), "default", name, heartbeat_s), table)


def test_one_holder_at_a_time_in_the_order_of_requests(metastore: str) -> None:
    first, second, third = (a_lock(metastore, "queue") for _ in range(3))
    assert first.acquire(10)
    assert first.is_held()
    assert not second.acquire(0)
    threading.Timer(0.3, first.release).start()
    assert third.acquire(30)
    assert not first.is_held()
    third.release()
    assert second.acquire(0)
    second.release()


_HOLDER = """
import sys, time
from pyhudi.locks.hive_lock import HiveLock, HiveProvider
assert HiveLock(HiveProvider((sys.argv[1],), "default", "killed", 1.0), "/other").acquire(30)
print("held", flush=True)
time.sleep(600)
"""


def test_lock_of_a_killed_holder_ends_and_heartbeats_keep_that_of_a_live_one(metastore: str) -> None:
    renewed = a_lock(metastore, "kept", heartbeat_s=1.0)
    assert renewed.acquire(10)
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER, metastore], stdout=subprocess.PIPE, text=True)
    try:
        assert not_none(holder.stdout).readline() == "held\n"
        other = a_lock(metastore, "killed")
        assert not other.acquire(0)
        message = other.holder()
        assert f"process {holder.pid}" in message
        assert "the lock of another table, /other" in message
        holder.kill()
        began = time.monotonic()
        assert other.acquire(60)
        assert time.monotonic() - began > 3, "the lock of a process that may still live was taken"
        other.release()
    finally:
        holder.kill()
        holder.communicate()
    assert not a_lock(metastore, "kept").acquire(0), "a lock with heartbeats ended"
    assert renewed.is_held()
    renewed.release()


def test_writes_take_the_lock_and_record_it(metastore: str, table: HudiTable) -> None:
    options = options_of(metastore, "writes")
    table.upsert([{"id": 1, "v": 1}], options=options)
    other = a_lock(metastore, "writes")
    assert other.acquire(10)
    with pytest.raises(LockTimeoutError, match=r"HiveMetastoreBasedLockProvider at 'default\.writes'.*another table, /a: give each table"):
        table.upsert([{"id": 2, "v": 1}], options={**options, "hoodie.write.lock.wait_time_ms": "300"})
    other.release()
    table.upsert([{"id": 3, "v": 1}], options=options)
    assert sorted(table.to_arrow()["id"].to_pylist()) == [1, 3]


def test_lock_of_a_table_whose_uri_is_long(metastore: str) -> None:
    """The database of the metastore holds 128 characters of what a request says of itself."""
    uri = f"/data/{'long' * 40}"
    lock, same, other = (a_lock(metastore, "long", table=table) for table in (uri, uri, f"/other{uri}"))
    assert lock.acquire(10)
    assert "another table" not in same.holder()
    assert "another table, /data/longlong" in other.holder()
    lock.release()


def test_holder_whose_lock_has_ended_does_not_commit(metastore: str, table: HudiTable, monkeypatch: pytest.MonkeyPatch) -> None:
    real = HiveLock.is_held

    def is_held(lock: HiveLock) -> bool:
        not_none(lock._client).calls.unlock(not_none(lock._client).types.UnlockRequest(lockid=lock._lock_id))
        return real(lock)

    monkeypatch.setattr(HiveLock, "is_held", is_held)
    with pytest.raises(LockLostError):
        table.upsert([{"id": 1, "v": 1}], options=options_of(metastore, "lost"))
    assert table.count() == 0


def test_holder_that_the_network_cuts_off_does_not_hold_the_lock(metastore: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hive_lock, "_ANSWER_MS", 500)
    with network_to(not_none(urlsplit(metastore).port)) as network:
        lock = a_lock(f"thrift://127.0.0.1:{network.port}", "cut")
        assert lock.acquire(10)
        assert lock.is_held()
        network.is_cut = True
        assert not lock.is_held()
        assert not a_lock(metastore, "cut").acquire(0), "it may come back before the lock ends"
        network.is_cut = False
        assert lock.is_held(), "a connection that failed is made again"
        network.is_cut = True
        lock.release()
    other = a_lock(metastore, "cut")
    assert other.acquire(60)
    other.release()


def test_wait_for_a_metastore_that_hangs_ends(metastore: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hive_lock, "_ANSWER_MS", 4000)
    monkeypatch.setattr(hive_lock, "_RELEASE_MS", 200)
    holder = a_lock(metastore, "hangs")
    assert holder.acquire(10)
    with network_to(not_none(urlsplit(metastore).port)) as network:
        waiting = a_lock(f"thrift://127.0.0.1:{network.port}", "hangs")
        threading.Timer(0.5, lambda: setattr(network, "is_cut", True)).start()
        began = time.monotonic()
        with pytest.raises(StorageError, match=r"lock default\.hangs of table /a cannot be had: .*read timeout"):
            waiting.acquire(2)
        assert time.monotonic() - began < 8, "the release of the request takes as long as an answer, twice"
    holder.release()


def requests_of(uri: str, name: str) -> list[tuple[str, str]]:
    """The requests in the queue of a lock: which program made them, and in which state they are."""
    with contextlib.closing(connect((uri,), "", 10_000)) as client:
        request = client.types.ShowLocksRequest(dbname="default", tablename=name)
        names = client.types.LockState._VALUES_TO_NAMES
        return [(one.agentInfo.partition(" ")[0], names[one.state]) for one in client.calls.show_locks(request).locks]


def lose_answer(monkeypatch: pytest.MonkeyPatch, network: CutNetwork, *, also_release: bool) -> list[str]:
    """Let the answer to the next request for a lock be lost; with `also_release` the server is not reached for its release either."""
    real, called = HiveLock._call, []

    def call(lock: HiveLock, method: str, request: Any) -> Any:
        called.append(method)
        if called != ["lock"]:
            return real(lock, method, request)
        network.answers_are_lost = True
        try:
            return real(lock, method, request)
        finally:
            network.answers_are_lost = also_release

    monkeypatch.setattr(HiveLock, "_call", call)
    monkeypatch.setattr(hive_lock, "_ANSWER_MS", 1500)
    monkeypatch.setattr(hive_lock, "_RELEASE_MS", 500)
    return called


def test_request_whose_answer_was_lost_is_withdrawn(metastore: str, monkeypatch: pytest.MonkeyPatch) -> None:
    holder = HiveLock(HiveProvider((metastore,), "default", "lost_answer"), "/other")
    assert holder.acquire(10)
    with network_to(not_none(urlsplit(metastore).port)) as network:
        called = lose_answer(monkeypatch, network, also_release=False)
        with pytest.raises(StorageError, match="read timeout"):
            a_lock(f"thrift://127.0.0.1:{network.port}", "lost_answer").acquire(5)
    assert "unlock" in called
    assert requests_of(metastore, "lost_answer") == [("pyhudi", "ACQUIRED")], "that of the holder"
    assert holder.is_held()
    holder.release()


def test_request_that_could_not_be_withdrawn_does_not_keep_the_next_one_of_its_process_waiting(
    metastore: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with network_to(not_none(urlsplit(metastore).port)) as network:
        lose_answer(monkeypatch, network, also_release=True)
        with pytest.raises(StorageError, match="read timeout"):
            a_lock(f"thrift://127.0.0.1:{network.port}", "lost_twice").acquire(5)
    assert requests_of(metastore, "lost_twice") == [("pyhudi", "ACQUIRED")], "nobody knows that it holds the lock"
    with contextlib.closing(connect((metastore,), "", 10_000)) as client:
        of_others = lock_request(client.types, "default", "lost_twice", "/a")
        client.calls.lock(of_others)
    began = time.monotonic()
    waiting = a_lock(metastore, "lost_twice")
    assert not waiting.acquire(0)
    assert time.monotonic() - began < 3
    assert requests_of(metastore, "lost_twice") == [("pyhudi", "WAITING")], "that of another process, which came before"


def test_metastore_that_does_not_answer_is_an_error_and_nothing_is_written(table: HudiTable) -> None:
    with pytest.raises(StorageError, match=r"lock default\.t of table .* cannot be had: no Hive metastore answers .*Nothing was written"):
        table.upsert([{"id": 1, "v": 1}], options=options_of("thrift://127.0.0.1:1", "t"))
    assert table.history().num_rows == 0
