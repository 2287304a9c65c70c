"""Tables on a real S3 server: the promises of a storage, its lock, writers that exclude each other, and one that is killed."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import StorageError, TableNotFound
from pyhudi.locks.conditional_object import StoreObject, Version
from pyhudi.locks.storage_lock import StorageLock, StorageProvider
from pyhudi.storage.lock_record import LOCK_FILE_OPTION
from pyhudi.storage.remote import cloud_client
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.remote.listed_storage import listed_while
from pyhudi.testing.storage_suite import StorageSuite
from tests.not_none import not_none
from tests.unit.storage.cloud_store import CountingObstore

_NUMBERS = itertools.count()
SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string()})


class TestListedS3Storage(StorageSuite):
    @pytest.fixture
    def storage(self, bucket: dict[str, str], tmp_path: Path) -> Iterator[CloudStorage]:
        options = {**bucket, LOCK_FILE_OPTION: str(tmp_path / "lock")}
        with listed_while(CloudStorage(f"s3://bucket/listed/{next(_NUMBERS)}", tuple(sorted(options.items())))) as storage:
            yield storage


class TestS3Storage(StorageSuite):
    @pytest.fixture
    def storage(self, bucket: dict[str, str], tmp_path: Path) -> CloudStorage:
        options = {**bucket, LOCK_FILE_OPTION: str(tmp_path / "lock")}
        return CloudStorage(f"s3://bucket/suite/{next(_NUMBERS)}", tuple(sorted(options.items())))


def open_bucket(url: str, options: dict[str, str]) -> CloudStorage:
    return CloudStorage(url, tuple(options.items()))


def test_server_decides_who_holds_the_lock(bucket: dict[str, str]) -> None:
    one, two = (StoreObject(open_bucket("s3://bucket/t", bucket), "lock.json") for _ in range(2))
    assert one.read() is None
    created = one.write(b"1", Version())
    assert created is not None
    assert two.write(b"2", Version()) is None
    assert two.read() == (b"1", created)
    replaced = two.write(b"2", created)
    assert replaced is not None
    assert one.write(b"3", created) is None
    assert one.read() == (b"2", replaced)


_HOLDER = """
import json, sys, time
from pyhudi.locks.conditional_object import StoreObject
from pyhudi.locks.storage_lock import StorageLock, StorageProvider
from pyhudi.storage.remote.cloud_storage import CloudStorage
storage = CloudStorage("s3://bucket/killed", tuple(json.loads(sys.argv[1]).items()))
lock = StorageLock(StoreObject(storage, "lock.json"), StorageProvider(3, 1), "lock")
assert lock.acquire(60)
print("held", flush=True)
time.sleep(600)
"""


def test_lock_of_a_killed_holder_is_taken_over_when_it_has_expired(bucket: dict[str, str]) -> None:
    holder = subprocess.Popen([sys.executable, "-c", _HOLDER, json.dumps(bucket)], stdout=subprocess.PIPE, text=True)
    try:
        assert not_none(holder.stdout).readline() == "held\n"
        other = StorageLock(StoreObject(open_bucket("s3://bucket/killed", bucket), "lock.json"), StorageProvider(60, 6), "lock")
        began = time.monotonic()
        while time.monotonic() - began < 4:  # longer than it is valid: it is renewed
            assert not other.acquire(0)
        holder.kill()
        assert other.acquire(120)
        assert other.is_held()
        other.release()
    finally:
        holder.kill()
        holder.communicate()


def test_server_that_refuses_is_an_error_that_names_the_object(bucket: dict[str, str]) -> None:
    with pytest.raises(StorageError, match=r"'lock\.json' of table s3://missing/t.*bucket"):
        StoreObject(open_bucket("s3://missing/t", bucket), "lock.json").write(b"1", Version())


_WRITER = """
import json, sys
from pyhudi import HudiTable
options = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.num.retries.on.conflict.failures": "30",
    "hoodie.write.lock.storage.validity.timeout.secs": "10",
    "hoodie.write.lock.storage.renew.interval.secs": "1",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.client.heartbeat.interval_in_ms": "1000",
}
table, first = HudiTable.open(sys.argv[1], json.loads(sys.argv[2])), int(sys.argv[3])
for key in range(first, first + int(sys.argv[4])):
    table.upsert([{"id": key, "v": "x"}], options=options)
    print(key, flush=True)
"""


def test_writers_on_one_store_lose_and_double_nothing_though_one_is_killed(bucket: dict[str, str]) -> None:
    url = "s3://bucket/shared"
    HudiTable.create(url, SCHEMA, name="shared", keys=["id"], storage_options=bucket)
    arguments = [[url, json.dumps(bucket), str(1000 * writer), str(count)] for writer, count in enumerate((3, 3, 1000))]
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, *one], stdout=subprocess.PIPE, text=True) for one in arguments]
    try:
        assert not_none(writers[2].stdout).readline() == "2000\n"
        writers[2].send_signal(signal.SIGKILL)
        written = {2000}.union(*({int(line) for line in writer.communicate(timeout=300)[0].splitlines()} for writer in writers))
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    assert {0, 1, 2, 1000, 1001, 1002} <= written
    keys = HudiTable.open(url, bucket).to_arrow()["id"].to_pylist()
    assert len(keys) == len(set(keys))
    assert written <= set(keys)
    assert len(set(keys) - written) <= 1, "the killed writer may have completed a commit that it could not report any more"


def test_writes_record_the_lock_where_its_audit_is_on(bucket: dict[str, str]) -> None:
    table = HudiTable.create("s3://bucket/audited", SCHEMA, name="t", keys=["id"], storage_options=bucket)
    table.upsert([{"id": 1, "v": "a"}])
    assert table.services.set_lock_audit(enabled=True).files == 0
    table.upsert([{"id": 2, "v": "b"}])
    table.services.savepoint()
    assert table.services.lock_audit().files > 1
    report = table.services.validate_lock_audit()
    assert (report.result, report.transactions) == ("PASSED", table.services.lock_audit().files)
    table.services.set_lock_audit(enabled=False)
    table.upsert([{"id": 3, "v": "c"}])
    assert table.services.lock_audit().files == report.transactions


def test_one_row_is_written_by_twenty_requests_and_read_by_four(bucket: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    counting = CountingObstore()
    monkeypatch.setattr(cloud_client, "obstore_functions", lambda: counting)
    url = "s3://bucket/budget"
    options = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
    HudiTable.create(url, SCHEMA, name="budget", keys=["id"], storage_options=bucket)
    for key in (1, 2, 2):
        counting.requests.clear()
        HudiTable.open(url, bucket).upsert([{"id": key, "v": "x"}], options=options)
    assert counting.counts() == {"PUT": 13, "LIST": 4, "GET": 2, "DELETE": 1}
    counting.requests.clear()
    assert HudiTable.open(url, bucket).to_arrow().num_rows == 2
    assert counting.counts() == {"LIST": 2, "GET": 2}


def test_missing_bucket_and_wrong_credentials_are_no_damage(bucket: dict[str, str]) -> None:
    with pytest.raises(TableNotFound):
        HudiTable.open("s3://bucket/no-table", bucket)
    with pytest.raises(StorageError, match="bucket or container does not exist"):
        HudiTable.open("s3://missing/t", bucket)
    with pytest.raises(StorageError, match="bucket"):
        HudiTable.create("s3://missing/t", SCHEMA, name="t", keys=["id"], storage_options=bucket)
