"""The locks of DynamoDB, against moto's server: options, tables, take-over, leases, a network that is cut, keys that are refused."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import ConflictError, LockLostError, LockTimeoutError, OptionError, StorageError
from pyhudi.locks.dynamodb_item import connect_dynamodb
from pyhudi.locks.dynamodb_lock import DynamoDBLock, DynamoDBProvider
from pyhudi.locks.lock_provider import hash_of_uri
from pyhudi.storage.local_storage import LocalStorage
from tests.not_none import not_none
from tests.servers.cut_network import network_to
from tests.servers.java_server import free_port
from tests.servers.s3_server import s3_server

KEY = "hoodie.write.lock.dynamodb."
PACKAGE = "org.apache.hudi.aws.transaction.lock."
CREDENTIALS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}


@pytest.fixture(scope="module")
def endpoint(boto3_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3_server(tmp_path_factory.mktemp("dynamodb"), free_port()) as server:
        yield server["endpoint_url"]


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    return HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64(), "v": pa.int64()}), name="trips", keys=["id"])


@pytest.fixture
def options(endpoint: str, tmp_path: Path) -> dict[str, str]:
    return {
        "hoodie.write.lock.provider": f"{PACKAGE}DynamoDBBasedLockProvider",
        f"{KEY}table": tmp_path.name,
        f"{KEY}endpoint_url": endpoint,
        "hoodie.aws.access.key": "test",
        "hoodie.aws.secret.key": "test",
        "hoodie.time.generator.max_expected_clock_skew_ms": "1",
    }


def a_lock(endpoint: str, name: str, path: str = "/a", lease_s: float = 1.5) -> Any:
    provider = DynamoDBProvider(name, "trips", "us-east-1", endpoint, lease_s, credentials=tuple(CREDENTIALS.items()))
    return provider.lock(LocalStorage(path), "")


def items(endpoint: str, name: str) -> list[dict[str, Any]]:
    client, _ = connect_dynamodb("us-east-1", endpoint, tuple(CREDENTIALS.items()), 5.0, 0)
    stored: list[dict[str, Any]] = client.scan(TableName=name)["Items"]
    return stored


def test_one_holder_at_a_time(endpoint: str, tmp_path: Path) -> None:
    first, second, third = (a_lock(endpoint, tmp_path.name) for _ in range(3))
    assert first.acquire(0)
    assert first.is_held()
    assert not second.acquire(0)
    threading.Timer(0.3, first.release).start()
    assert third.acquire(30)
    assert not first.is_held()
    (item,) = items(endpoint, tmp_path.name)
    assert {name: next(iter(value)) for name, value in item.items()} == {
        **dict.fromkeys(("key", "ownerName", "leaseDuration", "recordVersionNumber"), "S"),
        "data": "B",
    }
    assert item["key"] == {"S": "trips"}
    assert item["leaseDuration"] == {"S": "1500"}
    third.release()
    assert items(endpoint, tmp_path.name) == []


def test_lease_is_renewed_while_the_lock_is_held(endpoint: str, tmp_path: Path) -> None:
    holder, other = (a_lock(endpoint, tmp_path.name) for _ in range(2))
    assert holder.acquire(0)
    assert not other.acquire(2.5)
    assert holder.is_held()
    holder.release()


_HOLDER = """
import sys, time
sys.path.append(sys.argv[3])
from pyhudi.locks.dynamodb_lock import DynamoDBProvider
from pyhudi.storage.local_storage import LocalStorage
credentials = (("aws_access_key_id", "test"), ("aws_secret_access_key", "test"))
provider = DynamoDBProvider(sys.argv[2], "trips", "us-east-1", sys.argv[1], 1.5, credentials=credentials)
assert provider.lock(LocalStorage("/other"), "").acquire(30)
print("held", flush=True)
time.sleep(600)
"""


def test_lock_of_a_killed_holder_is_taken_over_after_its_lease(endpoint: str, boto3_path: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HOLDER, endpoint, tmp_path.name, boto3_path]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert not_none(holder.stdout).readline() == "held\n"
        other = a_lock(endpoint, tmp_path.name)
        assert not other.acquire(0)
        assert "the lock of another table, /other" in other.holder()
        holder.kill()
        killed = time.monotonic()
        assert other.acquire(30)
        assert time.monotonic() - killed > 0.9, "the lease of a process that may still live was cut short"
        other.release()
    finally:
        holder.kill()
        holder.communicate()


def test_writes_take_the_lock_by_both_classes(endpoint: str, table: HudiTable, options: dict[str, str], tmp_path: Path) -> None:
    table.upsert([{"id": 1, "v": 1}], options=options)
    other = a_lock(endpoint, tmp_path.name, lease_s=60)
    assert other.acquire(0)
    with pytest.raises(LockTimeoutError, match=r"DynamoDBBasedLockProvider at '<table name>' in table .*another table, /a: give each"):
        table.upsert([{"id": 2, "v": 1}], options={**options, "hoodie.write.lock.wait_time_ms": "300"})
    other.release()
    table.upsert([{"id": 3, "v": 1}], options=options)
    implicit = {**options, "hoodie.write.lock.provider": f"{PACKAGE}DynamoDBBasedImplicitPartitionKeyLockProvider"}
    with pytest.raises(OptionError, match="Writers under two locks destroy a table"):
        table.upsert([{"id": 4, "v": 1}], options=implicit)
    table.inspect.health(fix_lock=True)
    held = DynamoDBProvider(
        tmp_path.name, hash_of_uri(table.storage.uri), "us-east-1", endpoint, 60, credentials=tuple(CREDENTIALS.items())
    )
    lock = held.lock(table.storage, "")
    assert lock.acquire(0)
    with pytest.raises(LockTimeoutError, match=hash_of_uri(table.storage.uri)):
        table.upsert([{"id": 5, "v": 1}], options={**implicit, "hoodie.write.lock.wait_time_ms": "300"})
    lock.release()
    table.upsert([{"id": 6, "v": 1}], options=implicit)
    assert sorted(table.to_arrow()["id"].to_pylist()) == [1, 3, 6]


def test_table_that_is_opened_with_the_options_needs_none_in_the_call(table: HudiTable, options: dict[str, str]) -> None:
    configured = HudiTable.open(table.storage.uri, options)
    configured.upsert([{"id": 1, "v": 1}])
    configured.services.savepoint()
    assert configured.count() == 1


def test_holder_that_the_network_cuts_off_does_not_hold_the_lock(endpoint: str, tmp_path: Path) -> None:
    with network_to(not_none(urlsplit(endpoint).port)) as network:
        lock = a_lock(f"http://127.0.0.1:{network.port}", tmp_path.name, lease_s=3.0)
        assert lock.acquire(0)
        assert lock.is_held()
        network.is_cut = True
        other = a_lock(endpoint, tmp_path.name)
        assert not lock.is_held()
        assert other.acquire(30)
        assert not lock.is_held()
        network.is_cut = False
        assert not lock.is_held(), "another holder has the lock"
        lock.release()
        assert other.is_held()
        other.release()


def test_damaged_item_and_table_of_other_keys_are_errors(endpoint: str, table: HudiTable, options: dict[str, str], tmp_path: Path) -> None:
    table.upsert([{"id": 1, "v": 1}], options=options)
    client, _ = connect_dynamodb("us-east-1", endpoint, tuple(CREDENTIALS.items()), 5.0, 0)
    client.put_item(TableName=tmp_path.name, Item={"key": {"S": "trips"}, "ownerName": {"S": "a"}})
    with pytest.raises(StorageError, match=r"lock 'trips' in table .* is damaged.*delete the item"):
        table.upsert([{"id": 2, "v": 1}], options=options)
    keys = {
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    }
    client.create_table(TableName="trips-of-others", BillingMode="PAY_PER_REQUEST", **keys)
    table.inspect.health(fix_lock=True)
    with pytest.raises(OptionError, match=r"names a table of DynamoDB with the keys \[\('id', 'HASH'\)\]"):
        table.upsert([{"id": 2, "v": 1}], options={**options, f"{KEY}table": "trips-of-others"})
    assert table.count() == 1


def test_server_that_does_not_answer_is_an_error_and_nothing_is_written(table: HudiTable, options: dict[str, str]) -> None:
    with pytest.raises(StorageError, match=r"DynamoDB did not answer while .* at http://127\.0\.0\.1:1"):
        table.upsert([{"id": 1, "v": 1}], options={**options, f"{KEY}endpoint_url": "http://127.0.0.1:1"})
    assert table.history().num_rows == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({f"{KEY}region": "eu-wset-1", f"{KEY}endpoint_url": ""}, r"region is 'eu-wset-1', which is no region .* Did you mean 'eu-west-1'"),
        ({f"{KEY}region": "eu west 1"}, r"region_name 'eu west 1' doesn't match .*dynamodb\.region names the region"),
        ({f"{KEY}endpoint_url": "https://127.0.0.1:1"}, r'Could not connect to the endpoint URL: "https://127\.0\.0\.1:1/"'),
        ({"hoodie.aws.access.key": "", "hoodie.aws.secret.key": ""}, r"Unable to locate credentials\. Give hoodie\.aws\.access\.key and"),
    ],
)
def test_what_does_not_lead_to_dynamodb_is_an_error_that_names_the_option(
    table: HudiTable, options: dict[str, str], wrong: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises((OptionError, StorageError), match=message) as caught:
        table.upsert([{"id": 1, "v": 1}], options={**options, **wrong})
    assert str(caught.value).count("\n") == 0
    assert table.history().num_rows == 0


def test_writer_of_another_region_is_refused(table: HudiTable, options: dict[str, str]) -> None:
    """There is another table of the same name, in which nobody sees this lock."""
    elsewhere = {name: value for name, value in options.items() if name != f"{KEY}endpoint_url"}
    table.upsert([{"id": 1, "v": 1}], options=options)
    with pytest.raises(OptionError, match=r"is written under the lock provider DynamoDB.* and this writer would take .* of eu-west-1"):
        table.upsert([{"id": 2, "v": 1}], options={**elsewhere, f"{KEY}region": "eu-west-1"})
    assert table.count() == 1


def test_table_of_locks_that_is_deleted_while_a_lock_is_held_ends_the_write(
    endpoint: str,
    table: HudiTable,
    options: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    real = DynamoDBLock.is_held

    def is_held(lock: DynamoDBLock) -> bool:
        connect_dynamodb("us-east-1", endpoint, tuple(CREDENTIALS.items()), 5.0, 0)[0].delete_table(TableName=tmp_path.name)
        monkeypatch.setattr(DynamoDBLock, "is_held", real)
        return real(lock)

    monkeypatch.setattr(DynamoDBLock, "is_held", is_held)
    with pytest.raises(LockLostError):
        table.upsert([{"id": 1, "v": 1}], options=options)
    assert "ResourceNotFoundException" in caplog.text
    assert table.count() == 0
    table.upsert([{"id": 2, "v": 1}], options=options)
    assert table.to_arrow()["id"].to_pylist() == [2]


def test_two_tables_on_one_key_wait_for_each_other_and_are_told_so(
    table: HudiTable, options: dict[str, str], endpoint: str, tmp_path: Path
) -> None:
    table.upsert([{"id": 1, "v": 1}], options=options)
    lock = a_lock(endpoint, tmp_path.name, path="/other", lease_s=10.0)
    assert lock.acquire(5)
    with pytest.raises(
        LockTimeoutError, match=r"the lock of another table, /other: give each table its own hoodie\.write\.lock\.dynamodb\."
    ):
        table.upsert([{"id": 2, "v": 1}], options={**options, "hoodie.write.lock.wait_time_ms": "300"})
    lock.release()
    table.upsert([{"id": 2, "v": 1}], options=options)
    assert table.count() == 2


def test_credentials_that_expire_while_the_lock_is_held_end_the_write(
    endpoint: str, table: HudiTable, options: dict[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client, errors = connect_dynamodb("us-east-1", endpoint, tuple(CREDENTIALS.items()), 1.0, 0)

    class Expiring:
        meta = client.meta
        writes = 0

        def __getattr__(self, name: str) -> Any:
            if name in ("put_item", "get_item", "delete_item"):
                self.writes += name == "put_item"
                if self.writes > 1:
                    raise errors.ClientError({"Error": {"Code": "ExpiredTokenException", "Message": "the token is expired"}}, name)
            return getattr(client, name)

    monkeypatch.setattr("pyhudi.locks.dynamodb_lock.connect_dynamodb", lambda *_: (Expiring(), errors))
    with pytest.raises(ConflictError, match="lock"):
        table.upsert([{"id": 1, "v": 1}], options=options)
    assert "ExpiredTokenException: the token is expired" in caplog.text
    assert table.count() == 0
