"""What a sync must not do to files and to entries of others, on a real Hive metastore and through a HiveServer2."""

from __future__ import annotations

import logging
import shutil
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.errors import CatalogError
from pyhudi.sync.server_client import ServerClient
from tests.servers.synced import HIVE, Synced, fill, new_trips

RECREATE = f"{HIVE}.recreate_table_on_error"
MANAGED = {f"{HIVE}.create_managed_table": "true"}


@pytest.fixture
def synced(metastore: str, tmp_path: Path) -> Callable[..., Synced]:
    """Makes a table with two partitions; its options say that it is not Spark's, whose server changes no such table by SQL."""

    return partial(new_trips, metastore, tmp_path, "defects", options={f"{HIVE}.sync_as_datasource": "false"})


@pytest.fixture
def filled(synced: Callable[..., Synced]) -> Synced:
    return fill(synced())


def ways(server: str) -> dict[str, dict[str, str]]:
    return {mode: {f"{HIVE}.mode": mode, f"{HIVE}.jdbcurl": server} for mode in ("jdbc", "hiveql")} | {"hms": {}}


def change_entry(one: Synced, name: str, change: Callable[[Any], None]) -> None:
    client = one.client()
    try:
        entry = client.calls.get_table(one.database, name)
        change(entry)
        client.calls.alter_table(one.database, name, entry)
    finally:
        client.close()


@pytest.mark.parametrize("way", ["jdbc", "hiveql", "hms"])
def test_a_managed_table_that_is_made_again_keeps_its_files(filled: Synced, server: str, way: str) -> None:
    """By SQL, too, where Spark's server makes an external table of it."""
    assert filled.sync(MANAGED)[0].action == "created"
    assert filled.entry("trips").tableType == "MANAGED_TABLE"
    options = {**ways(server)[way], **MANAGED}
    again = {**options, f"{HIVE}.partition_fields": "town", RECREATE: "true"}
    assert filled.sync(again)[0].action == "recreated"
    assert filled.entry("trips").tableType == ("MANAGED_TABLE" if way == "hms" else "EXTERNAL_TABLE")
    assert sorted(row["id"] for row in filled.table.to_arrow(columns=["id"]).to_pylist()) == [1, 2]


@pytest.mark.parametrize("way", ["jdbc", "hms"])
def test_a_partition_of_a_managed_table_that_is_dropped_keeps_its_files(filled: Synced, server: str, way: str) -> None:
    """The folder still holds what older commits wrote, for reads of the past; with another decoding it even holds the rows of now."""
    filled.sync(MANAGED)
    options = {**ways(server)[way], **MANAGED}
    first = filled.entry("trips").parameters["last_commit_time_sync"]
    filled.table.delete(partitions=["rome"])
    assert filled.sync(options)[0].dropped == 1
    assert list(Path(filled.table.storage.uri, "rome").glob("*.parquet"))
    assert filled.table.to_arrow(as_of=first).num_rows == 2


def test_a_table_to_purge_is_not_when_it_is_dropped(filled: Synced, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """This metastore purges no external tables; newer ones go by the property."""
    options = ways(server)["jdbc"]
    filled.sync(options)
    change_entry(filled, "trips", lambda entry: entry.parameters.update({"external.table.purge": "TRUE"}))
    dropped: list[dict[str, str]] = []
    execute = ServerClient.execute

    def look(client: ServerClient, sql: str, action: str) -> None:
        if " DROP " in f" {sql} ":
            dropped.append(dict(filled.entry("trips").parameters))
        execute(client, sql, action)

    monkeypatch.setattr(ServerClient, "execute", look)
    filled.table.delete(partitions=["rome"])
    assert filled.sync(options)[0].dropped == 1
    assert dropped == []  # a partition by the metastore, which is told to leave the files
    assert filled.sync({**options, f"{HIVE}.partition_fields": "town", RECREATE: "true"})[0].action == "recreated"
    assert ["external.table.purge" in one for one in dropped] == [False]


@pytest.mark.parametrize("way", ["hms", "jdbc"])
@pytest.mark.parametrize("kind", ["a view", "a table at file:.* that is none of Hudi"])
def test_a_name_that_something_else_has_is_refused(filled: Synced, server: str, way: str, kind: str) -> None:
    """Also to make it again, and also at the same place."""
    client = filled.client()
    types, location = client.types, f"file:{filled.table.storage.uri}"
    is_view = kind == "a view"
    storage = types.StorageDescriptor(
        cols=[types.FieldSchema("id", "bigint", "")],
        location=None if is_view else location,
        inputFormat="org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        serdeInfo=types.SerDeInfo(serializationLib="org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", parameters={}),
    )
    definition = {"viewOriginalText": "SELECT 1 AS id", "viewExpandedText": "SELECT 1 AS id"} if is_view else {}
    try:
        client.calls.create_database(types.Database(name=filled.database, parameters={}))
        entry = types.Table(
            tableName="trips",
            dbName=filled.database,
            sd=storage,
            partitionKeys=[],
            parameters={} if is_view else {"EXTERNAL": "TRUE"},
            tableType="VIRTUAL_VIEW" if is_view else "EXTERNAL_TABLE",
            **definition,
        )
        client.calls.create_table(entry)
    finally:
        client.close()
    before = filled.entry("trips")
    for recreate in ("false", "true"):
        with pytest.raises(CatalogError, match=f"trips in the catalog is {kind}.*hive_sync.table") as raised:
            filled.sync({**ways(server)[way], RECREATE: recreate})
        assert len(traceback.format_exception_only(raised.value)) == 1  # as a user sees it, without a further note
    assert filled.entry("trips") == before
    result = filled.table.upsert([{"id": 3, "city": "oslo"}], {**filled.sync_options, f"{HIVE}.enable": "true"})
    assert "that is none of Hudi" in str(result.failed_services) or "is a view" in str(result.failed_services)
    assert filled.sync({f"{HIVE}.table": "rides"})[0].action == "created"


@pytest.mark.parametrize("way", ["hms", "jdbc"])
def test_the_type_of_a_partition_column_changes_with_the_table(synced: Callable[..., Synced], server: str, way: str) -> None:
    one = synced(pa.schema({"id": pa.int64(), "year": pa.int32()}), partition_by=["year"])
    one.table.upsert([{"id": 1, "year": 2025}])
    options = ways(server)[way]
    one.sync(options)
    assert [column.type for column in one.entry("trips").partitionKeys] == ["int"]
    one.table.upsert(pa.table({"id": [2], "year": pa.array([2**40], pa.int64())}))
    assert one.sync(options)[0].action == "updated"
    assert [column.type for column in one.entry("trips").partitionKeys] == ["bigint"]
    assert one.partitions("trips").keys() == {("2025",), (str(2**40),)}
    assert one.sync(options)[0].action == "unchanged"


def test_entries_of_a_former_table_type_are_named(synced: Callable[..., Synced], tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    one = synced(table_type="MERGE_ON_READ")
    one.table.upsert([{"id": 1, "city": "oslo"}])
    assert len(one.sync()) == 3
    shutil.rmtree(tmp_path / "trips")
    one = synced()
    one.table.upsert([{"id": 1, "city": "oslo"}])
    with caplog.at_level(logging.WARNING):
        (result,) = one.table.services.sync(options=one.sync_options)
    assert result.leftovers == ("trips_ro", "trips_rt")
    assert "left over: trips_ro, trips_rt" in str(result)
    assert f"{one.database}.trips_ro, {one.database}.trips_rt" in caplog.text
    assert one.entry("trips").sd.inputFormat == "org.apache.hudi.hadoop.HoodieParquetInputFormat"
