"""Tables on servers of S3, Google Cloud Storage and Azure: the promises of a storage, its lock, writers that exclude each other, and one
that is killed."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import AlreadyExistsError, StorageError, TableNotFound
from pyhudi.locks.conditional_object import StoreObject, Version
from pyhudi.locks.storage_lock import StorageLock, StorageProvider
from pyhudi.storage.lock_files.lock_record import LOCK_FILE_OPTION
from pyhudi.storage.remote import cloud_client, cloud_storage
from pyhudi.storage.remote.cloud_storage import CloudStorage
from pyhudi.storage.remote.listed_storage import listed_while
from pyhudi.testing.storage_suite import StorageSuite
from tests.not_none import not_none
from tests.servers.gcs_server import Bucket, gcs_server
from tests.servers.java_server import free_port
from tests.servers.s3_server import s3_server
from tests.servers.stores import Store
from tests.unit.storage.cloud_store import CountingObstore

_NUMBERS = itertools.count()
SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string()})


class TestListedStorage(StorageSuite):
    @pytest.fixture
    def storage(self, store: Store, tmp_path: Path) -> Iterator[CloudStorage]:
        with listed_while(_open(store, f"listed/{next(_NUMBERS)}", {LOCK_FILE_OPTION: str(tmp_path / "lock")})) as storage:
            yield storage


class TestStorage(StorageSuite):
    @pytest.fixture
    def storage(self, store: Store, tmp_path: Path) -> CloudStorage:
        return _open(store, f"suite/{next(_NUMBERS)}", {LOCK_FILE_OPTION: str(tmp_path / "lock")})


def _open(store: Store, path: str, more: dict[str, str] | None = None) -> CloudStorage:
    return CloudStorage(store.url(path), tuple(sorted({**store.options, **(more or {})}.items())))


def test_server_decides_who_holds_the_lock(store: Store) -> None:
    one, two = (StoreObject(_open(store, "t"), "lock.json") for _ in range(2))
    assert one.read() is None
    created = one.write(b"1", Version())
    assert created is not None
    assert two.write(b"2", Version()) is None
    assert two.read() == (b"1", created)
    replaced = two.write(b"2", created)
    assert replaced is not None
    assert one.write(b"3", created) is None
    assert one.read() == (b"2", replaced)


def test_object_that_was_created_without_an_answer_is_known_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"created/{next(_NUMBERS)}"
    one, two = _open(store, path), _open(store, path)
    put = cloud_client.obstore_functions().put

    class Repeating(CountingObstore):
        def put(self, *arguments: Any, **named: Any) -> Any:
            put(*arguments, **named)
            return put(*arguments, **named)

    two.create("theirs", b"")
    monkeypatch.setattr(cloud_client, "obstore_functions", Repeating)
    one.create("mine", b"")
    with pytest.raises(AlreadyExistsError):
        one.create("theirs", b"")


_HOLDER = """
import json, sys, time
from pyhudi.locks.conditional_object import StoreObject
from pyhudi.locks.storage_lock import StorageLock, StorageProvider
from pyhudi.storage.remote.cloud_storage import CloudStorage
storage = CloudStorage(sys.argv[1], tuple(json.loads(sys.argv[2]).items()))
lock = StorageLock(StoreObject(storage, "lock.json"), StorageProvider(3, 1), "lock")
assert lock.acquire(60)
print("held", flush=True)
time.sleep(600)
"""


def test_lock_of_a_killed_holder_is_taken_over_when_it_has_expired(slow_store: Store) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, slow_store.url("killed"), json.dumps(slow_store.options)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert not_none(holder.stdout).readline() == "held\n"
        other = StorageLock(StoreObject(_open(slow_store, "killed"), "lock.json"), StorageProvider(60, 6), "lock")
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


def test_server_that_refuses_is_an_error_that_names_the_object(store: Store) -> None:
    url = store.url("t", "missing")
    with pytest.raises(StorageError, match=rf"'lock\.json' of table {url}.*bucket or container"):
        StoreObject(CloudStorage(url, tuple(store.options.items())), "lock.json").write(b"1", Version())


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


def test_writers_on_one_store_lose_and_double_nothing_though_one_is_killed(slow_store: Store) -> None:
    url, options = slow_store.url("shared"), slow_store.options
    HudiTable.create(url, SCHEMA, name="shared", keys=["id"], storage_options=options)
    arguments = [[url, json.dumps(options), str(1000 * writer), str(count)] for writer, count in enumerate((3, 3, 1000))]
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
    keys = HudiTable.open(url, options).to_arrow()["id"].to_pylist()
    assert len(keys) == len(set(keys))
    assert written <= set(keys)
    assert len(set(keys) - written) <= 1, "the killed writer may have completed a commit that it could not report any more"


def test_writes_record_the_lock_where_its_audit_is_on(store: Store) -> None:
    table = HudiTable.create(store.url("audited"), SCHEMA, name="t", keys=["id"], storage_options=store.options)
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


def test_one_row_is_written_by_twenty_requests_and_read_by_five(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = CountingObstore()
    monkeypatch.setattr(cloud_client, "obstore_functions", lambda: counting)
    url = store.url("budget")
    options = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
    HudiTable.create(url, SCHEMA, name="budget", keys=["id"], storage_options=store.options)
    for key in (1, 2, 2):
        counting.requests.clear()
        HudiTable.open(url, store.options).upsert([{"id": key, "v": "x"}], options=options)
        assert len(counting.of_lock()) <= 3
    assert counting.counts() == {"PUT": 13, "LIST": 4, "GET": 2, "DELETE": 1}
    counting.requests.clear()
    assert HudiTable.open(url, store.options).to_arrow().num_rows == 2
    assert counting.counts() == {"LIST": 3, "GET": 2}


def test_the_server_counts_few_requests_with_cleaning_and_archival_on(tmp_path: Path) -> None:
    """Its log has a line for each request, those that a client repeats too."""
    with s3_server(tmp_path / "server", free_port()) as options:
        log = tmp_path / "server" / "server.log"
        url, totals = "s3://bucket/services", []
        HudiTable.create(url, SCHEMA, name="services", keys=["id"], storage_options=options)
        for _ in range(14):
            before = log.read_text().count(" /bucket")
            HudiTable.open(url, options).upsert([{"id": 1, "v": "x"}], options={"hoodie.clean.commits.retained": "3"})
            totals.append(log.read_text().count(" /bucket") - before)
        before = log.read_text().count(" /bucket")
        assert HudiTable.open(url, options).to_arrow().num_rows == 1
        read = log.read_text().count(" /bucket") - before
    assert min(totals) >= 15  # the log is one of requests
    assert sorted(totals)[len(totals) // 2] <= 30, totals  # 1.5 times those of a write alone
    assert read <= 6


def test_missing_bucket_and_wrong_credentials_are_no_damage(store: Store) -> None:
    with pytest.raises(TableNotFound):
        HudiTable.open(store.url("no-table"), store.options)
    missing = store.url("t", "missing")
    with pytest.raises(StorageError, match="bucket or container does not exist"):
        HudiTable.open(missing, store.options)
    with pytest.raises(StorageError, match="bucket or container does not exist"):
        HudiTable.create(missing, SCHEMA, name="t", keys=["id"], storage_options=store.options)


def test_a_file_that_is_sent_in_parts_is_whole_and_replaces_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud_storage, "_ONE_PUT_BYTES", 6 * 1024 * 1024)
    storage, content = _open(store, f"parts/{next(_NUMBERS)}"), os.urandom(12 * 1024 * 1024)
    with storage.open_output("data.parquet") as sink:
        sink.write(content)
    assert storage.read("data.parquet") == content
    with pytest.raises(AlreadyExistsError), storage.open_output("data.parquet") as sink:
        sink.write(content)
    assert [one.path for one in storage.list("")] == ["data.parquet"]


def test_an_upload_whose_request_fails_leaves_neither_file_nor_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud_storage, "_ONE_PUT_BYTES", 6 * 1024 * 1024)
    bucket = Bucket(most_parts=1)
    with gcs_server(bucket) as options:
        storage = _open(Store("gcs", options), "parts")
        with pytest.raises(StorageError, match=r"'data\.parquet'"), storage.open_output("data.parquet") as sink:
            sink.write(bytes(12 * 1024 * 1024))
        assert storage.list("") == []
    assert bucket.uploads == {}
