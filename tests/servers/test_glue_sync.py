"""Synchronisation with AWS Glue, against moto's server. boto3 comes from the environment of the servers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from pyhudi import HudiTable
from pyhudi.cli.main import main
from pyhudi.errors import CatalogError, OptionError
from pyhudi.spec.options import resolve
from pyhudi.sync import SyncedTable
from pyhudi.sync.glue_client import connect_glue
from tests.servers.glue_options import glue_options
from tests.servers.java_server import free_port
from tests.servers.s3_server import s3_server
from tests.servers.synced import HIVE

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string()})
GLUE = "hoodie.datasource.meta.sync.glue"


@pytest.fixture(scope="module")
def glue(boto3_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The options of a sync with Glue."""
    with s3_server(tmp_path_factory.mktemp("glue"), free_port()) as server:
        yield glue_options(server)


@pytest.fixture
def table(tmp_path: Path) -> HudiTable:
    table = HudiTable.create(tmp_path / "trips", SCHEMA, name="trips", keys=["id"], partition_by=["city"])
    table.upsert([{"id": 1, "city": "oslo"}, {"id": 2, "city": "rome"}])
    return table


@pytest.fixture
def sync(glue: dict[str, str], table: HudiTable, tmp_path: Path) -> Callable[..., tuple[SyncedTable, ...]]:
    def run(options: dict[str, str] | None = None) -> tuple[SyncedTable, ...]:
        (result,) = table.services.sync(options={**glue, f"{GLUE}.database_name": tmp_path.name, **(options or {})})
        return result.tables

    return run


def catalog_table(glue: dict[str, str], database: str, name: str = "trips") -> dict[str, Any]:
    return dict(connect_glue(resolve(glue)).client.get_table(DatabaseName=database, Name=name)["Table"])


def partitions(glue: dict[str, str], database: str) -> dict[tuple[str, ...], dict[str, Any]]:
    stored = connect_glue(resolve(glue)).client.get_partitions(DatabaseName=database, TableName="trips")["Partitions"]
    return {tuple(one["Values"]): one["StorageDescriptor"] for one in stored}


def test_a_table_is_described_as_in_a_metastore(glue, sync, table, tmp_path: Path) -> None:
    assert [str(one) for one in sync()] == ["trips created (partitions: 2 added)"]
    entry = catalog_table(glue, tmp_path.name)
    assert entry["StorageDescriptor"]["Location"] == f"file:{table.storage.uri}"
    assert [(one["Name"], one["Type"]) for one in entry["StorageDescriptor"]["Columns"]][-1] == ("id", "bigint")
    assert entry["PartitionKeys"] == [{"Name": "city", "Type": "string"}]
    assert entry["StorageDescriptor"]["InputFormat"] == "org.apache.hudi.hadoop.HoodieParquetInputFormat"
    assert entry["Parameters"]["spark.sql.sources.provider"] == "hudi"
    assert entry["Parameters"]["hudi.metadata-listing-enabled"] == "FALSE"
    assert entry["Parameters"]["last_commit_time_sync"]
    assert {key: one["Location"] for key, one in partitions(glue, tmp_path.name).items()} == {
        ("oslo",): f"file:{table.storage.uri}/oslo",
        ("rome",): f"file:{table.storage.uri}/rome",
    }


def test_the_command_registers_a_table(glue: dict[str, str], table: HudiTable, tmp_path: Path) -> None:
    database = f"by_command_{tmp_path.name}"
    stated = {**glue, f"{GLUE}.database_name": database}
    flags = [word for name, value in stated.items() if name != f"{HIVE}.mode" for word in ("--hoodie-conf", f"{name}={value}")]
    done = CliRunner().invoke(main, ["sync", "glue", table.storage.uri, *flags])
    assert done.exit_code == 0, done.output
    assert partitions(glue, database).keys() == {("oslo",), ("rome",)}
    again = CliRunner().invoke(main, ["sync", "glue", table.storage.uri, *flags, "--json"])
    assert (again.exit_code, "unchanged" in again.output or '"added": 0' in again.output) == (0, True), again.output


def test_later_commits_change_columns_and_partitions(glue, sync, table, tmp_path: Path) -> None:
    sync()
    assert [str(one) for one in sync()] == ["trips unchanged"]
    table.alter(add={"fare": pa.float64()})
    table.upsert([{"id": 3, "city": "bergen", "fare": 1.0}])
    table.delete(partitions=["rome"])
    assert [str(one) for one in sync()] == ["trips updated (partitions: 1 added, 1 dropped)"]
    changed = partitions(glue, tmp_path.name)
    assert changed.keys() == {("oslo",), ("bergen",)}
    assert {one["Columns"][-1]["Name"] for one in changed.values()} == {"fare"}
    table.upsert([{"id": 1, "city": "oslo", "fare": 2.0}])
    assert sync({"hoodie.meta.sync.touch.partitions.enabled": "true"})[0].touched == 1
    assert [str(one) for one in sync({f"{GLUE}.metadata_file_listing": "true"})] == ["trips updated"]
    assert catalog_table(glue, tmp_path.name)["Parameters"]["hudi.metadata-listing-enabled"] == "TRUE"


def test_more_partitions_than_one_request_takes(glue, sync, table, tmp_path: Path) -> None:
    table.upsert([{"id": number, "city": f"c{number:03}"} for number in range(10, 240)])
    assert sync()[0].added == 232
    table.delete(partitions=[f"c{number:03}" for number in range(10, 100)])
    assert sync()[0].dropped == 90
    assert len(partitions(glue, tmp_path.name)) == 142
    assert sync({"hoodie.meta.sync.incremental": "false"})[0].action == "unchanged"


def test_a_partition_that_is_there_already_does_no_harm(glue, sync, table, tmp_path: Path, monkeypatch) -> None:
    sync()
    monkeypatch.setattr("pyhudi.sync.glue_catalog.GlueCatalog.partitions", lambda *_: {})
    table.upsert([{"id": 1, "city": "oslo"}])
    assert sync()[0].added == 1
    assert len(partitions(glue, tmp_path.name)) == 2


CALLS = (
    *("CreateDatabase", "CreateTable", "UpdateTable"),
    *("BatchCreatePartition", "BatchUpdatePartition", "BatchDeletePartition"),
)


def test_what_another_process_changes_meanwhile_is_changed_again(glue, sync, table, tmp_path: Path, monkeypatch) -> None:
    """Each call is refused twice before Glue sees it, with the error that boto3 makes of Glue's answer."""
    monkeypatch.setattr("pyhudi.repeated_calls._PAUSES", (0.01, 0.01))
    api = importlib.import_module("botocore.client").BaseClient
    sent, error = api._make_api_call, importlib.import_module("botocore.exceptions").ClientError
    refused: list[str] = []

    def call(client: Any, operation: str, request: dict[str, Any]) -> Any:
        if operation in CALLS and refused.count(operation) < 2:
            refused.append(operation)
            raise error({"Error": {"Code": "ConcurrentModificationException", "Message": "another changes it"}}, operation)
        return sent(client, operation, request)

    monkeypatch.setattr(api, "_make_api_call", call)
    sync()
    table.alter(add={"fare": pa.float64()})
    table.upsert([{"id": 3, "city": "bergen", "fare": 1.0}])
    table.delete(partitions=["rome"])
    assert [str(one) for one in sync()] == ["trips updated (partitions: 1 added, 1 dropped)"]
    assert sorted(refused) == sorted([*CALLS, *CALLS])
    assert partitions(glue, tmp_path.name).keys() == {("oslo",), ("bergen",)}
    refused.clear()
    table.delete(partitions=["bergen"])
    with monkeypatch.context() as patched:
        patched.setattr("pyhudi.repeated_calls._PAUSES", (0.01,))
        with pytest.raises(CatalogError, match=r"refused dropping 1 partition.*ConcurrentModificationException"):
            sync()
    assert sync()[0].dropped == 1


def test_other_partition_columns_are_refused_unless_the_table_is_made_again(sync, table) -> None:
    sync()
    other = {f"{HIVE}.partition_fields": "town"}
    with pytest.raises(CatalogError, match="cannot be changed"):
        sync(other)
    assert sync({**other, f"{GLUE}.recreate_table_on_error": "true"})[0].action == "recreated"


def test_both_catalogs_get_the_table_and_one_that_is_down_is_named(glue, metastore: str, table, tmp_path: Path) -> None:
    tools = "org.apache.hudi.hive.HiveSyncTool,org.apache.hudi.aws.sync.AwsGlueCatalogSyncTool"
    both = {
        **{key: value for key, value in glue.items() if key != f"{HIVE}.mode"},
        "hoodie.meta.sync.client.tool.class": tools,
        f"{HIVE}.metastore.uris": metastore,
        f"{HIVE}.database": tmp_path.name,
    }
    hive, of_glue = table.services.sync(options=both)
    assert (hive.tables[0].added, of_glue.tables[0].added) == (2, 2)
    table.upsert([{"id": 3, "city": "bergen"}])
    with pytest.raises(CatalogError, match="AWS Glue did not answer"):
        table.services.sync(options={**both, "hoodie.aws.glue.endpoint": f"http://127.0.0.1:{free_port()}"})
    hive, of_glue = table.services.sync(options=both)
    assert (hive.tables[0].added, of_glue.tables[0].added) == (0, 1)


def test_the_region_is_asked_for(glue, table, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    options = {key: value for key, value in glue.items() if not key.endswith("region")}
    with pytest.raises(OptionError, match=r"hoodie\.aws\.glue\.region"):
        table.services.sync(options=options)
