"""No secret of a write's options or of a storage ends in the table, in the log or in an error."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyhudi.errors import HudiError
from pyhudi.spec.config.config_keys import find_key
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.table.tables import make_table, ride

CANARY = "canary-5f1c0e"
OCC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
#: Options with a secret, each with those without which it has no effect; the servers answer nobody.
WAYS = {
    "key of AWS": {
        "hoodie.write.lock.provider": "DynamoDBBasedLockProvider",
        "hoodie.write.lock.dynamodb.table": "locks",
        "hoodie.write.lock.dynamodb.partition_key": "rides",
        "hoodie.write.lock.dynamodb.region": "eu-north-1",
        "hoodie.write.lock.dynamodb.endpoint_url": "http://127.0.0.1:1",
        "hoodie.write.lock.wait_time_ms": "100",
        "hoodie.aws.access.key": f"{CANARY}-1",
        "hoodie.aws.secret.key": f"{CANARY}-2",
        "hoodie.aws.session.token": f"{CANARY}-3",
    },
    "key of a callback": {
        "hoodie.write.commit.callback.on": "true",
        "hoodie.write.commit.callback.http.url": "http://127.0.0.1:1/done",
        "hoodie.write.commit.callback.http.api.key": f"{CANARY}-4",
        "hoodie.write.commit.callback.http.timeout.seconds": "1",
    },
    "password of a synchronisation": {
        "hoodie.datasource.hive_sync.enable": "true",
        "hoodie.datasource.hive_sync.mode": "jdbc",
        "hoodie.datasource.hive_sync.jdbcurl": "jdbc:hive2://127.0.0.1:1",
        "hoodie.datasource.hive_sync.username": "writer",
        "hoodie.datasource.hive_sync.password": f"{CANARY}-5",
    },
    "wrong value next to a secret": {
        "hoodie.datasource.hive_sync.password": f"{CANARY}-6",
        "hoodie.aws.secret.key": f"{CANARY}-7",
        "hoodie.write.lock.wait_time_ms": "soon",
    },
}


def said_by(error: BaseException) -> Iterator[str]:
    """All that an error and its causes say."""
    current: BaseException | None = error
    while current is not None:
        yield f"{current!r} {current}"
        current = current.__cause__ or current.__context__


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_secrets_of_options_stay_with_the_caller(way: str, kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    options = WAYS[way]
    assert all(find_key(name) is not None for name in options)
    make_table(LocalStorage(str(tmp_path / "t")), table_type=kind)
    with caplog.at_level(logging.DEBUG):
        for more in ({}, OCC):
            try:
                HudiTable.open(tmp_path / "t").upsert([ride(1)], options=options | more)
            except HudiError as error:
                caplog.records.append(logging.makeLogRecord({"msg": " ".join(said_by(error))}))
    assert CANARY not in caplog.text
    assert [record for record in caplog.records if CANARY in record.getMessage()] == []
    written = [path for path in (tmp_path / "t").rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
    assert written == []


def test_secrets_of_a_storage_are_not_in_what_is_printed() -> None:
    url = f"s3://bucket/rides-{CANARY[:6]}"
    with pytest.raises(HudiError) as raised:
        HudiTable.open(
            url, storage_options={"aws_secret_access_key": CANARY, "endpoint_url": "http://127.0.0.1:1", "no_such_option": CANARY}
        )
    assert CANARY not in " ".join(said_by(raised.value))
