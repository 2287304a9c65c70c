"""Synchronisation by SQL through a HiveServer2-compatible server, Spark's, on a real metastore."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import CatalogError
from pyhudi.spec.options import resolve
from pyhudi.sync.server_client import connect_server
from tests.servers.java_server import free_port
from tests.servers.synced import HIVE, Synced

SCHEMA = pa.schema({"id": pa.int64(), "City": pa.string(), "at": pa.struct({"Place": pa.int32()})})


@pytest.fixture
def synced(metastore: str, server: str, tmp_path: Path) -> Synced:
    table = HudiTable.create(tmp_path / "trips", SCHEMA, name="trips", keys=["id"], partition_by=["City"], table_type="MERGE_ON_READ")
    table.upsert([{"id": 1, "City": "o's lo", "at": None}, {"id": 2, "City": "rome", "at": None}])
    database = f"by_sql_{tmp_path.name}".lower()
    options = {f"{HIVE}.mode": "jdbc", f"{HIVE}.jdbcurl": server, f"{HIVE}.sync_as_datasource": "false"}
    return Synced(table, metastore, database, options)


def test_tables_columns_and_partitions_are_changed_by_sql(synced: Synced) -> None:
    assert [(one.action, one.added) for one in synced.sync()] == [("created", 2)] * 3
    assert synced.names() == ["trips", "trips_ro", "trips_rt"]
    base = f"file:{synced.table.storage.uri}"
    assert synced.partitions("trips_rt") == {("o's lo",): f"{base}/o's lo", ("rome",): f"{base}/rome"}
    entry = synced.entry("trips_ro")
    assert entry.tableType == "EXTERNAL_TABLE"
    assert entry.sd.inputFormat == "org.apache.hudi.hadoop.HoodieParquetInputFormat"
    assert synced.entry("trips_rt").sd.inputFormat == "org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat"
    assert entry.parameters["last_commit_time_sync"]
    assert [one.action for one in synced.sync()] == ["unchanged"] * 3

    synced.table.alter(add={"fare": pa.float64()})
    synced.table.upsert([{"id": 3, "City": "bergen", "at": None, "fare": 1.5}])
    synced.table.delete(partitions=["rome"])
    assert {(one.action, one.added, one.dropped) for one in synced.sync()} == {("updated", 1, 1)}
    assert synced.partitions("trips").keys() == {("o's lo",), ("bergen",)}
    assert [(one.name, one.type) for one in synced.entry("trips").sd.cols][-1] == ("fare", "double")
    assert [one.action for one in synced.sync({f"{HIVE}.mode": "hms"})] == ["unchanged"] * 3

    other = {f"{HIVE}.partition_fields": "town", f"{HIVE}.recreate_table_on_error": "true", f"{HIVE}.mode": "hiveql"}
    assert {(one.action, one.added) for one in synced.sync(other)} == {("recreated", 2)}
    assert synced.table.count() == 2


def test_partitions_go_in_statements_of_batch_num(synced: Synced) -> None:
    synced.table.upsert([{"id": number, "City": f"c{number}", "at": None} for number in range(10, 17)])
    only = {f"{HIVE}.table.strategy": "RO", f"{HIVE}.batch_num": "3"}
    assert synced.sync(only)[0].added == 9
    synced.table.delete(partitions=[f"c{number}" for number in range(10, 15)])
    assert synced.sync(only)[0].dropped == 5
    synced.table.upsert([{"id": 15, "City": "c15", "at": None}])
    assert synced.sync({**only, "hoodie.meta.sync.touch.partitions.enabled": "true"})[0].touched == 1


def test_what_the_server_refuses_is_an_error_and_the_next_sync_goes_on(synced: Synced) -> None:
    with pytest.raises(CatalogError, match="no HiveServer2 answers") as raised:
        synced.sync({f"{HIVE}.jdbcurl": f"jdbc:hive2://127.0.0.1:{free_port()}"})
    assert "jdbcurl" in str(raised.value)
    with pytest.raises(CatalogError, match="refused adding"):
        synced.sync({f"{HIVE}.sync_as_datasource": "true"})
    assert synced.sync({f"{HIVE}.mode": "hms", f"{HIVE}.sync_as_datasource": "true"})[0].added == 2


def test_hudis_hive_input_formats_read_the_tables(synced: Synced, server: str) -> None:
    """Base files in Zstandard, log files with Parquet blocks and delete blocks, an older slice of the file group."""
    synced.table.upsert([{"id": number, "City": "rome", "at": {"Place": number}} for number in range(3, 9)])
    synced.table.upsert([{"id": 4, "City": "rome", "at": {"Place": 40}}])
    synced.table.delete(where="id = 5")
    assert any(Path(synced.table.storage.uri, "rome").glob(".*.log.*"))
    synced.sync()
    keys, column = "count(`_hoodie_record_key`)", "sum(at.place)"
    client = connect_server(resolve({f"{HIVE}.jdbcurl": server}))
    try:
        for name, rows, total in (("trips_ro", 8, 33), ("trips_rt", 7, 64), ("trips", 7, 64)):
            assert client.count(f"SELECT {keys} FROM {synced.database}.{name}", "counting") == rows, name
            assert client.count(f"SELECT {column} FROM {synced.database}.{name}", "adding") == total, name
    finally:
        client.close()
