"""The strategy of early detection that locks each file group in ZooKeeper, on a real server."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import LockTimeoutError, WriteConflictError
from pyhudi.locks.group_locks import GroupLocks
from pyhudi.locks.zookeeper_lock import ZooKeeperProvider
from pyhudi.markers.marker_route import DIRECT_MARKERS, MarkerRoute
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.files.marker import TEMP_FOLDER, MarkerType, marker_path
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.clock import SystemClock
from pyhudi.txn.conflicts.checked_markers import CheckedMarkers
from pyhudi.txn.conflicts.early_detection import ConflictDetector, EarlyDetection
from pyhudi.txn.heartbeat_settings import HeartbeatSettings
from pyhudi.txn.heartbeats import heartbeat_path
from tests.unit.locks.zookeeper_server import zookeeper_server
from tests.unit.table.tables import files_of
from tests.unit.txn.test_early_detection import DETECTS, STRATEGY, TRANSACTIONAL

EARLIER, LATER = "20990101000000000", "20990101000000001"
FILE_ID = "aaaaaaaa-0000-0000-0000-000000000000-0"
GROUP = FileGroupId("oslo", FILE_ID)
SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "v": pa.int64()})
ROWS = [{"id": 1, "city": "oslo", "v": 1}]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("kazoo")
    with zookeeper_server(tmp_path_factory.mktemp("zookeeper")) as url:
        yield url


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    return HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"])


def provider(server: str) -> ZooKeeperProvider:
    return ZooKeeperProvider(server, "/hudi/locks", "", 10.0, 10.0)


def options(server: str, **more: str) -> dict[str, str]:
    return DETECTS | {
        STRATEGY: f"org.apache.hudi.table.marker.{TRANSACTIONAL}",
        "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
        "hoodie.write.lock.zookeeper.url": server,
        "hoodie.write.lock.zookeeper.base_path": "/hudi/locks",
        "hoodie.time.generator.max_expected_clock_skew_ms": "1",
        **more,
    }


def markers_of_writer(table: HudiTable, server: str, instant: str, route: MarkerRoute = DIRECT_MARKERS) -> CheckedMarkers:
    detector = ConflictDetector(table.config, instant, EarlyDetection(HeartbeatSettings()), SystemClock())
    return CheckedMarkers(route, detector, GroupLocks(provider(server), 30.0))


def mark(markers: CheckedMarkers, storage: Storage, instant: str) -> None:
    storage.replace(heartbeat_path(instant), b"")
    markers.create(storage, instant, f"oslo/{FILE_ID}_0-0-0_{instant}.parquet", MarkerType.MERGE)


class Held:
    """A route whose writer is held up between its look at the others and its marker."""

    def __init__(self) -> None:
        self.has_looked, self.goes_on = threading.Event(), threading.Event()

    def create(self, storage, instant, data_path, kind) -> None:
        self.has_looked.set()
        assert self.goes_on.wait(60)
        DIRECT_MARKERS.create(storage, instant, data_path, kind)


def test_writer_that_looks_while_another_one_is_about_to_make_its_marker_waits_for_it(table: HudiTable, server: str) -> None:
    held, errors = Held(), []

    def write_later() -> None:
        try:
            mark(markers_of_writer(table, server, LATER), table.storage, LATER)
        except WriteConflictError as error:
            errors.append(str(error))

    first = threading.Thread(target=mark, args=(markers_of_writer(table, server, EARLIER, held), table.storage, EARLIER))
    first.start()
    assert held.has_looked.wait(60)
    second = threading.Thread(target=write_later)
    second.start()
    second.join(0.2)
    assert second.is_alive()
    held.goes_on.set()
    first.join(60)
    second.join(60)
    assert len(errors) == 1
    assert f"{EARLIER} of table" in errors[0]
    names = files_of(table.storage, TEMP_FOLDER)
    assert names == [marker_path(EARLIER, f"oslo/{FILE_ID}_0-0-0_{EARLIER}.parquet", MarkerType.MERGE)]


def test_writes_lock_the_file_groups_that_they_change(table: HudiTable, server: str) -> None:
    table.upsert([*ROWS, {"id": 2, "city": "rome", "v": 1}], options=options(server))
    (name,) = [path for path in files_of(table.storage, "") if path.endswith(".parquet") and "oslo/" in path]
    changed = name.rpartition("/")[2].split("_")[0]
    with GroupLocks(provider(server), 10.0).hold(table.storage, FileGroupId("oslo", changed)):
        text = rf"the lock of file group {changed} in 'oslo' .* for 0\.3 s\. .*'/hudi/locks/oslo/{changed}'"
        with pytest.raises(LockTimeoutError, match=text):
            table.upsert([{"id": 1, "city": "oslo", "v": 2}], options=options(server, **{"hoodie.write.lock.wait_time_ms": "300"}))
        table.upsert([{"id": 2, "city": "rome", "v": 3}], options=options(server))
    assert [row["v"] for row in table.to_arrow().sort_by("id").to_pylist()] == [1, 3]
    table.upsert([{"id": 1, "city": "oslo", "v": 4}], options=options(server))
    assert [row["v"] for row in table.to_arrow().sort_by("id").to_pylist()] == [4, 3]


def test_markers_go_to_tasks_in_other_processes(table: HudiTable, server: str) -> None:
    markers = markers_of_writer(table, server, EARLIER)
    copy = pickle.loads(pickle.dumps(markers))
    assert (copy.route, copy.locks) == (markers.route, markers.locks)
    mark(copy, table.storage, EARLIER)
    with pytest.raises(WriteConflictError):
        mark(pickle.loads(pickle.dumps(markers_of_writer(table, server, LATER))), table.storage, LATER)
