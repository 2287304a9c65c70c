"""Locks of ZooKeeper: options, the order of nodes, and a real server."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import LockTimeoutError, OptionError, StorageError
from pyhudi.locks.choose_lock import lock_provider
from pyhudi.locks.zookeeper_lock import ZooKeeperProvider, implicit_base_path
from pyhudi.locks.zookeeper_node import node_before
from pyhudi.spec.options import resolve
from tests.not_none import not_none
from tests.unit.locks.zookeeper_server import zookeeper_server

KEY = "hoodie.write.lock.zookeeper."
PROVIDER = {"hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider"}
IMPLICIT = {"hoodie.write.lock.provider": "ZookeeperBasedImplicitBasePathLockProvider"}
SERVERS = {f"{KEY}url": "zk:2181"}
BASE = {f"{KEY}base_path": "/hudi/locks"}


def provider_of(**options: str):
    return lock_provider(resolve(options))


def test_options_say_where_the_node_is() -> None:
    whole = {**PROVIDER, **SERVERS, **BASE, f"{KEY}lock_key": "t", f"{KEY}session_timeout_ms": "5000", f"{KEY}port": "2181"}
    assert provider_of(**whole) == ZooKeeperProvider("zk:2181", "/hudi/locks", "t", 5.0, 15.0)
    assert provider_of(**IMPLICIT, **SERVERS) == ZooKeeperProvider("zk:2181")


def test_one_of_several_writers_that_names_servers_has_the_default_class_of_hudi() -> None:
    of_two = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control", **SERVERS, **BASE}
    assert provider_of(**of_two) == ZooKeeperProvider("zk:2181", "/hudi/locks")
    with pytest.raises(OptionError, match="is an option of ZookeeperBasedLockProvider"):
        provider_of(**{**of_two, "hoodie.write.concurrency.mode": "single_writer"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**PROVIDER, **BASE}, r"needs hoodie\.write\.lock\.zookeeper\.url"),
        ({**PROVIDER, **SERVERS}, r"needs hoodie\.write\.lock\.zookeeper\.base_path"),
        ({**PROVIDER, **SERVERS, f"{KEY}base_path": "hudi"}, "an absolute path"),
        ({**PROVIDER, **SERVERS, **BASE, f"{KEY}port": "2182"}, r"port=2182 has no effect.*host:port"),
        ({**IMPLICIT, **SERVERS, **BASE}, "has no effect on ZookeeperBasedImplicitBasePathLockProvider"),
        ({**IMPLICIT}, r"needs hoodie\.write\.lock\.zookeeper\.url"),
        ({**SERVERS}, "is an option of ZookeeperBasedLockProvider"),
        ({**PROVIDER, **BASE, f"{KEY}url": "zk:abc"}, r"url=zk:abc is not possible: 'zk:abc' is no server"),
        ({**PROVIDER, **BASE, f"{KEY}url": "zk1:2181,,zk2:2181"}, "'' is no server"),
        ({**PROVIDER, **BASE, f"{KEY}url": "http://zk:2181"}, "is no server"),
    ],
)
def test_missing_and_contradicting_options_are_refused(options, message) -> None:
    with pytest.raises(OptionError, match=message):
        provider_of(**options)


def test_node_of_a_table_is_named_as_apache_hudi_names_it() -> None:
    assert implicit_base_path("s3://b/t") == implicit_base_path("s3a://b/t") == "/tmp/45205BCC2F82AB53"
    assert implicit_base_path("/tmp/t") == "/tmp/FB88BAF128102D93"


def test_nodes_are_ordered_by_their_numbers_and_not_by_their_ids() -> None:
    nodes = ["_c_a-lock-0000000009", "_c_b-lock-0000000007", "_c_c-lock-0000000008", "other"]
    assert node_before(nodes, "_c_a-lock-0000000009") == "_c_c-lock-0000000008"
    assert node_before(nodes, "_c_b-lock-0000000007") is None
    with pytest.raises(StorageError, match="session has ended"):
        node_before(nodes, "_c_d-lock-0000000006")


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[str]:
    pytest.importorskip("kazoo")
    with zookeeper_server(tmp_path_factory.mktemp("zookeeper")) as url:
        yield url


@pytest.fixture
def table(tmp_path) -> HudiTable:
    return HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64(), "v": pa.int64()}), name="t", keys=["id"])


_HOLDER = """
import sys, time
from pyhudi.locks.zookeeper_lock import ZooKeeperProvider
from pyhudi.storage.local_storage import LocalStorage
assert ZooKeeperProvider(sys.argv[2], "/hudi/locks", "", 4.0, 30.0).lock(LocalStorage(sys.argv[1]), "").acquire(60)
print("held", flush=True)
time.sleep(600)
"""


def a_lock(table: HudiTable, server: str, session_timeout_s: float = 10.0):
    return ZooKeeperProvider(server, "/hudi/locks", "", session_timeout_s, 10.0).lock(table.storage, "")


def test_one_holder_at_a_time(table, server) -> None:
    first, second, third = (a_lock(table, server) for _ in range(3))
    assert first.acquire(10)
    assert first.is_held()
    assert not second.acquire(0)
    threading.Timer(0.2, first.release).start()
    assert third.acquire(60)
    assert not first.is_held()
    third.release()
    assert second.acquire(0)
    second.release()


def test_holder_whose_node_is_deleted_or_whose_session_ends_does_not_hold_the_lock(table, server) -> None:
    lock = a_lock(table, server)
    assert lock.acquire(10)
    lock._node.delete()
    assert not lock.is_held()
    lock.release()
    lock = a_lock(table, server)
    assert lock.acquire(10)
    lock._client.stop()
    assert not lock.is_held()
    lock.release()


def test_lock_of_a_killed_holder_is_taken_over_when_its_session_ends(table, server) -> None:
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER, table.storage.uri, server], stdout=subprocess.PIPE, text=True)
    try:
        assert not_none(holder.stdout).readline() == "held\n"
        other = a_lock(table, server)
        assert not other.acquire(0)
        holder.kill()
        assert other.acquire(120)
        other.release()
    finally:
        holder.kill()
        holder.communicate()


def test_writes_take_the_lock(table, server) -> None:
    options = {**PROVIDER, f"{KEY}url": server, **BASE, "hoodie.time.generator.max_expected_clock_skew_ms": "1"}
    table.upsert([{"id": 1, "v": 1}], options=options)
    other = a_lock(table, server)
    assert other.acquire(10)
    with pytest.raises(LockTimeoutError, match=r"ZookeeperBasedLockProvider at '/hudi/locks/<table name>'.*node '/hudi/locks/t'"):
        table.upsert([{"id": 2, "v": 1}], options={**options, "hoodie.write.lock.wait_time_ms": "300"})
    other.release()
    table.upsert([{"id": 3, "v": 1}], options=options)
    assert sorted(table.to_arrow()["id"].to_pylist()) == [1, 3]


def test_writer_that_waits_for_the_lock_of_another_table_is_told_so(table, server, tmp_path) -> None:
    other = HudiTable.create(tmp_path / "u", pa.schema({"id": pa.int64(), "v": pa.int64()}), name="t", keys=["id"])
    options = {**PROVIDER, f"{KEY}url": server, **BASE, "hoodie.write.lock.wait_time_ms": "300"}
    lock = a_lock(other, server)
    assert lock.acquire(10)
    with pytest.raises(LockTimeoutError, match=rf"the lock of another table, {other.storage.uri}: give each table its own .*lock_key"):
        table.upsert([{"id": 2, "v": 1}], options=options)
    lock.release()


def test_server_that_does_not_answer_is_an_error_and_nothing_is_written(table) -> None:
    pytest.importorskip("kazoo")
    options = {**PROVIDER, f"{KEY}url": "127.0.0.1:1", **BASE, f"{KEY}connection_timeout_ms": "500"}
    with pytest.raises(StorageError, match=r"ZooKeeper 127\.0\.0\.1:1 does not give the lock .*Nothing was written"):
        table.upsert([{"id": 1, "v": 1}], options=options)
    assert table.history().num_rows == 0
