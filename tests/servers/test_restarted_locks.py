"""A ZooKeeper that is restarted, or hangs, while a writer works under its lock or waits for it: no wait without an end, no row lost, and
the next writer succeeds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import LockLostError, StorageError
from pyhudi.locks.zookeeper_lock import ZooKeeperProvider
from pyhudi.storage.local_storage import LocalStorage
from tests.slow_cases import slow_cases
from tests.unit.locks.zookeeper_server import ZooKeeperServer, restartable_zookeeper, zookeeper_options

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string()})
OPTIONS = {
    "hoodie.write.lock.wait_time_ms": "30000",
    "hoodie.time.generator.max_expected_clock_skew_ms": "1",
}
#: Options of a writer that takes the lock twice.
OPTIMISTIC = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.write.num.retries.on.conflict.failures": "0",
}
ENDS = (".requested", ".inflight", ".commit")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ZooKeeperServer]:
    pytest.importorskip("kazoo")
    (tmp_path / "zookeeper").mkdir()
    with restartable_zookeeper(tmp_path / "zookeeper") as one:
        yield one


def hang(server: ZooKeeperServer) -> threading.Timer:
    """Let the server hang for longer than a session lasts."""
    server.suspend()
    resume = threading.Timer(11, server.resume)
    resume.start()
    return resume


def strike(monkeypatch: pytest.MonkeyPatch, end: str, strikes: Callable[[], object]) -> None:
    """Call once, before a file of the timeline is created."""
    create, left = LocalStorage.create, [strikes]

    def create_after(self: Any, path: str, data: bytes) -> None:
        if left and path.startswith(".hoodie/timeline/") and path.endswith(end):
            left.pop()()
        create(self, path, data)

    monkeypatch.setattr(LocalStorage, "create", create_after)


def lock_of(server: ZooKeeperServer) -> Any:
    return ZooKeeperProvider(server.address, "/hudi/locks", "t", 8.0, 3.0).lock(LocalStorage("/t"), "")


CASES = [(case, mode, end) for case in ("restart", "hang", "empty") for mode in ("single", "optimistic") for end in ENDS]


@pytest.mark.parametrize("case", slow_cases(CASES, set(CASES[1:])), ids="-".join)
def test_write_during_which_the_server_fails_is_whole_or_leaves_nothing(
    case: tuple[str, str, str], server: ZooKeeperServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    what, mode, end = case
    options = {**OPTIONS, **zookeeper_options(server.address, 8000), **(OPTIMISTIC if mode == "optimistic" else {})}
    HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    HudiTable.open(tmp_path / "t").upsert([{"id": 1, "v": "a"}], options=options)
    timers = []
    strikes = {
        "restart": server.restart,
        "hang": lambda: timers.append(hang(server)),
        "empty": lambda: server.restart(with_data=False),
    }
    strike(monkeypatch, end, strikes[what])
    rows = {1, 2, 3}
    try:
        HudiTable.open(tmp_path / "t").upsert([{"id": 2, "v": "b"}], options=options)
    except (LockLostError, StorageError):
        assert what != "restart", "the session goes on over a restart"
        rows.remove(2)
    for timer in timers:
        timer.join()
    HudiTable.open(tmp_path / "t").upsert([{"id": 3, "v": "c"}], options=options)
    assert set(HudiTable.open(tmp_path / "t").to_arrow()["id"].to_pylist()) == rows
    assert HudiTable.open(tmp_path / "t").inspect.health().to_pylist() == []


def test_wait_for_a_server_that_does_not_come_back_ends(server: ZooKeeperServer) -> None:
    first, second = lock_of(server), lock_of(server)
    assert first.acquire(10)
    threading.Timer(0.5, server.suspend).start()
    began = time.monotonic()
    with pytest.raises(StorageError, match=r"does not give the lock .*Nothing was written.*connection_timeout_ms says how long to wait"):
        second.acquire(2)
    assert time.monotonic() - began < 20
    server.resume()
    first.release()


def test_one_that_waits_gets_the_lock_though_the_server_was_restarted(server: ZooKeeperServer) -> None:
    first, second = lock_of(server), lock_of(server)
    assert first.acquire(10)
    release = threading.Timer(4, first.release)

    def restart() -> None:
        server.restart()
        release.start()

    threading.Timer(0.3, restart).start()
    assert second.acquire(60)
    assert not first.is_held()
    second.release()
