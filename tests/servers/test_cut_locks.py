"""The network is cut between a writer that holds a lock and the server of the lock: another writer takes over, and the first one neither
believes in its lock nor makes anything visible, also when the network is back.

DynamoDB and Hive: `test_dynamodb_lock.py`, `test_hive_lock.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, LockLostError, StorageError
from pyhudi.locks.choose_lock import lock_provider
from pyhudi.spec.options import resolve
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.remote.cloud_storage import CloudStorage
from tests.not_none import not_none
from tests.servers.cut_network import CutNetwork, network_to
from tests.servers.java_server import free_port
from tests.servers.s3_server import s3_server
from tests.unit.locks.zookeeper_server import zookeeper_options, zookeeper_server

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string()})
OF_STORE = {"hoodie.write.lock.storage.validity.timeout.secs": "10", "hoodie.write.lock.storage.renew.interval.secs": "1"}
WAITING = {"hoodie.write.lock.wait_time_ms": "90000"}


class Cutting:
    """Cuts the network once a writer's instant is inflight, lets another one have the lock, and restores the network."""

    def __init__(self, network: CutNetwork, other: Callable[[], object]) -> None:
        self.network, self.other, self.begun = network, other, threading.Event()

    def after(self, path: str) -> None:
        if path.startswith(".hoodie/timeline/") and path.endswith(".inflight") and not self.begun.is_set():
            self.begun.set()
            self.network.is_cut = True
            self.other()
            self.network.is_cut = False


def cut_in(monkeypatch: pytest.MonkeyPatch, storage: type[Any], cutting: Cutting) -> None:
    create = storage.create

    def create_and_cut(self: Any, path: str, data: bytes) -> None:
        create(self, path, data)
        if threading.current_thread() is threading.main_thread():
            cutting.after(path)

    monkeypatch.setattr(storage, "create", create_and_cut)


@pytest.fixture
def zookeeper(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("kazoo")
    with zookeeper_server(tmp_path) as address:
        yield address


#: Another writer must be another process: the threads of one know of each other without a server.
_OTHER = """
import json, sys
from pyhudi import HudiTable
HudiTable.open(sys.argv[1], json.loads(sys.argv[2])).upsert([{"id": 3, "v": "c"}], options=json.loads(sys.argv[3]))
"""


def test_writer_that_is_cut_off_from_zookeeper_commits_nothing(zookeeper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t"
    HudiTable.create(path, SCHEMA, name="t", keys=["id"])
    port = int(zookeeper.rpartition(":")[2])
    direct = zookeeper_options(zookeeper, 3000)
    with network_to(port) as network:
        cut = zookeeper_options(f"127.0.0.1:{network.port}", 3000)
        HudiTable.open(path).upsert([{"id": 1, "v": "a"}], options=cut)
        lock = provided(path, direct)
        cut_in(monkeypatch, LocalStorage, Cutting(network, lambda: lock.acquire(60)))
        with pytest.raises(LockLostError):
            HudiTable.open(path).upsert([{"id": 2, "v": "b"}], options=cut)
        lock.release()
    HudiTable.open(path).upsert([{"id": 3, "v": "c"}], options={**direct, **WAITING})
    assert sorted(HudiTable.open(path).to_arrow()["id"].to_pylist()) == [1, 3]
    assert HudiTable.open(path).inspect.health().to_pylist() == []


def provided(path: Path, options: dict[str, str]) -> Any:
    return not_none(lock_provider(resolve(options))).lock(LocalStorage(str(path)), "t")


def test_writer_that_is_cut_off_from_the_object_store_commits_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "s3://bucket/cut"
    with s3_server(tmp_path / "server", free_port()) as direct:
        with network_to(not_none(urlsplit(direct["endpoint_url"]).port)) as network:
            cut = {**direct, "endpoint_url": f"http://127.0.0.1:{network.port}"}
            HudiTable.create(url, SCHEMA, name="t", keys=["id"], storage_options=direct)
            HudiTable.open(url, cut).upsert([{"id": 1, "v": "a"}], options=OF_STORE)
            command = [sys.executable, "-c", _OTHER, url, json.dumps(direct), json.dumps({**OF_STORE, **WAITING})]
            cutting = Cutting(network, lambda: subprocess.run(command, check=True, timeout=120))
            cut_in(monkeypatch, CloudStorage, cutting)
            with pytest.raises((ConflictError, StorageError)):
                HudiTable.open(url, cut).upsert([{"id": 2, "v": "b"}], options=OF_STORE)
        monkeypatch.undo()
        assert sorted(HudiTable.open(url, direct).to_arrow()["id"].to_pylist()) == [1, 3]
        HudiTable.open(url, direct).upsert([{"id": 4, "v": "d"}], options={**OF_STORE, **WAITING})
        assert sorted(HudiTable.open(url, direct).to_arrow()["id"].to_pylist()) == [1, 3, 4]
        assert HudiTable.open(url, direct).inspect.health().to_pylist() == []
