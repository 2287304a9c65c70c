"""pyhudi and Apache Hudi write one table at the same time, under the lock of one provider."""

from __future__ import annotations

import threading
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.locks.group_locks import GroupLocks
from pyhudi.locks.hive_lock import HiveLock, HiveProvider
from pyhudi.locks.zookeeper_lock import ZooKeeperProvider
from pyhudi.spec.files.file_group import FileGroupId
from tests.interop.kinds import Kind, Model, assert_both_read
from tests.interop.reference import ReferenceFailure, ReferenceHudi
from tests.interop.rows import trips
from tests.servers.java_server import free_port, hive_metastore
from tests.unit.locks.zookeeper_server import zookeeper_server

FILE_LOCK = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.num.retries.on.conflict.failures": "20",
    "hoodie.write.lock.client.wait_time_ms_between_retry": "200",
    "hoodie.write.lock.client.num_retries": "600",
    "hoodie.write.lock.wait_time_ms": "120000",
    "hoodie.metadata.enable": "true",  # of both: a writer of Apache Hudi without it deletes the metadata table
    # Apache Hudi builds statistics of partitions, without the lock, as often as pyhudi drops them on merge-on-read tables.
    "hoodie.metadata.index.column.stats.enable": "false",
    # Apache Hudi fails after its commit where the compaction that it would run is being run by another writer ("due to heartbeat").
    "hoodie.compact.inline": "false",
}


def in_rome(rows: pa.Table) -> pa.Table:
    """Return the rows in a partition of their own: both sides may write it, but of these tests one does."""
    return rows.set_column(1, "city", pa.array(["rome"] * rows.num_rows))


@pytest.mark.parametrize(
    ("table_type", "version"),
    [
        ("COPY_ON_WRITE", 9),
        pytest.param("MERGE_ON_READ", 9, marks=pytest.mark.slow),
        pytest.param("COPY_ON_WRITE", 8, marks=pytest.mark.slow),
        pytest.param("MERGE_ON_READ", 8, marks=pytest.mark.slow),
    ],
)
def test_both_write_at_the_same_time_under_the_lock_file(reference: ReferenceHudi, tmp_path: Path, table_type: str, version: int) -> None:
    kind = Kind("shared", table_type=table_type, version=version, order_by=("amount",))
    theirs = Kind("shared", table_type=table_type, version=version, order_by=("amount",), options=FILE_LOCK)
    model, path = Model(kind.order_by), tmp_path / "t"
    table = kind.create(path)
    table.upsert(model.upsert(trips(0, 4)), options=FILE_LOCK)
    theirs.reference_writes(reference, path, "upsert", model.upsert(in_rome(trips(1000, 1004))))
    batches = [in_rome(trips(1002 + number, 1008 + number, amount=number + 2)) for number in range(3)]
    errors: list[BaseException] = []

    def write_with_reference() -> None:
        try:
            for rows in batches:
                theirs.reference_writes(reference, path, "upsert", rows)
        except BaseException as error:  # noqa: BLE001 - the main thread looks at it
            errors.append(error)

    other = threading.Thread(target=write_with_reference)
    other.start()
    written = 0
    while other.is_alive() or written < 3:
        table.upsert(model.upsert(trips(written % 7, written % 7 + 5, amount=written + 2)), options=FILE_LOCK)
        written += 1
    other.join()
    assert errors == []
    for rows in batches:
        model.upsert(rows)
    assert not (path / ".hoodie/lock").exists()
    assert_both_read(reference, path, model.sorted())
    assert HudiTable.open(path).inspect.health().to_pylist() == []


@pytest.mark.slow
def test_lock_of_a_hive_metastore_excludes_the_other_side(reference: ReferenceHudi, tmp_path: Path) -> None:
    pytest.importorskip("pymetastore")
    path, rows = tmp_path / "t", trips(0, 6)
    with hive_metastore(tmp_path / "metastore", free_port()) as uri:
        first = HiveLock(HiveProvider((uri,), "default", "shared"), str(path))
        assert first.acquire(30), "the first lock makes the tables of locks"
        first.release()
    with hive_metastore(tmp_path / "metastore", free_port(), is_test=False) as uri:
        options = {
            "hoodie.write.lock.provider": "org.apache.hudi.hive.transaction.lock.HiveMetastoreBasedLockProvider",
            "hoodie.write.lock.hivemetastore.uris": uri,
            "hoodie.write.lock.hivemetastore.database": "default",
            "hoodie.write.lock.hivemetastore.table": "shared",
            "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
            "hoodie.write.lock.client.num_retries": "2",
            "hoodie.write.lock.client.wait_time_ms_between_retry": "200",
            "hoodie.write.lock.wait_time_ms": "3000",
        }
        theirs = Kind("partitioned", options=options)
        ours = HiveLock(HiveProvider((uri,), "default", "shared", 2.0), str(path))
        assert ours.acquire(30)
        with pytest.raises(ReferenceFailure, match="Unable to acquire the lock"):
            theirs.reference_writes(reference, path, "upsert", rows)
        assert ours.is_held()
        ours.release()
        theirs.reference_writes(reference, path, "upsert", rows)
        HudiTable.open(path).upsert(trips(0, 3, amount=5), options=options)
        theirs.reference_writes(reference, path, "upsert", trips(3, 9))
        assert HudiTable.open(path).count() == 9


@pytest.mark.slow
def test_locks_of_file_groups_exclude_the_other_side(reference: ReferenceHudi, tmp_path: Path) -> None:
    pytest.importorskip("kazoo")
    path, rows = tmp_path / "t", in_rome(trips(0, 6))
    (tmp_path / "zookeeper").mkdir()
    with zookeeper_server(tmp_path / "zookeeper") as server:
        options = {
            "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.ZookeeperBasedLockProvider",
            "hoodie.write.lock.zookeeper.url": server,
            "hoodie.write.lock.zookeeper.base_path": "/hudi/locks",
            "hoodie.write.lock.zookeeper.lock_key": "t",
            "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
            "hoodie.clean.failed.writes.policy": "LAZY",
            "hoodie.write.markers.type": "DIRECT",
            "hoodie.write.concurrency.early.conflict.detection.enable": "true",
            "hoodie.write.concurrency.early.conflict.detection.strategy": (
                "org.apache.hudi.table.marker.SimpleTransactionDirectMarkerBasedDetectionStrategy"
            ),
            "hoodie.write.lock.client.num_retries": "1",
            "hoodie.write.lock.num_retries": "1",
            "hoodie.write.lock.wait_time_ms": "3000",
        }
        theirs = Kind("partitioned", options=options)
        theirs.reference_writes(reference, path, "upsert", rows)
        (base,) = (path / "rome").glob("*.parquet")
        group = FileGroupId("rome", base.name.split("_")[0])
        held = GroupLocks(ZooKeeperProvider(server, "/hudi/locks"), 10.0).hold(HudiTable.open(path).storage, group)
        with held, pytest.raises(ReferenceFailure, match=f"FAILED_TO_ACQUIRE lock .* lock key = rome/{group.file_id}"):
            theirs.reference_writes(reference, path, "upsert", rows)
        theirs.reference_writes(reference, path, "upsert", rows)
        HudiTable.open(path).upsert(in_rome(trips(0, 3, amount=5)), options=options)
        assert HudiTable.open(path).count() == 6
