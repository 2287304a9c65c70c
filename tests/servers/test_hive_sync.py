"""Synchronisation with a real Hive metastore."""

from __future__ import annotations

import itertools
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from pyhudi import HudiTable
from pyhudi.cli.main import main
from pyhudi.errors import CatalogError, OptionError, UsageError
from pyhudi.sync.open_catalog import open_catalog
from tests.servers.java_server import free_port, hive_metastore
from tests.servers.synced import HIVE, Synced

SCHEMA = pa.schema({"id": pa.int64(), "City": pa.string(), "ts": pa.int64(), "at": pa.timestamp("us", tz="UTC")})
_NUMBERS = itertools.count()


@pytest.fixture
def synced(metastore: str, tmp_path: Path) -> Callable[..., Synced]:
    """Makes a table with two partitions and says where it is synchronised."""

    def make(options: Mapping[str, str] | None = None, schema: pa.Schema = SCHEMA, **arguments: Any) -> Synced:
        given = {"name": "trips", "keys": ["id"], "partition_by": ["City"], "order_by": ["ts"], **arguments}
        table = HudiTable.create(tmp_path / "trips", schema, **given, options=options)
        table.upsert([row(1, "oslo"), row(2, "rome")])
        return Synced(table, metastore, f"db{next(_NUMBERS)}")

    return make


def row(key: int, city: str, **more: object) -> dict[str, object]:
    return {"id": key, "City": city, "ts": 1, "at": None, **more}


def test_a_table_is_described_as_apache_hudi_describes_it(synced) -> None:
    one = synced({"hoodie.datasource.write.hive_style_partitioning": "true"})
    (result,) = one.sync()
    assert (result.action, result.added) == ("created", 2)
    entry = one.entry("trips")
    base = one.table.storage.uri
    columns = [(column.name, column.type) for column in entry.sd.cols]
    assert columns[5:] == [("id", "bigint"), ("ts", "bigint"), ("at", "bigint")]
    assert columns[0] == ("_hoodie_commit_time", "string")
    assert [(column.name, column.type) for column in entry.partitionKeys] == [("city", "string")]
    assert (entry.tableType, entry.sd.location) == ("EXTERNAL_TABLE", f"file:{base}")
    assert entry.sd.inputFormat == "org.apache.hudi.hadoop.HoodieParquetInputFormat"
    assert entry.sd.serdeInfo.parameters == {"path": base, "hoodie.query.as.ro.table": "false", "serialization.format": "1"}
    assert entry.parameters["EXTERNAL"] == "TRUE"
    assert entry.parameters["spark.sql.sources.provider"] == "hudi"
    assert entry.parameters["spark.sql.sources.schema.partCol.0"] == "City"
    fields = json.loads(entry.parameters["spark.sql.sources.schema.part.0"])["fields"]
    assert [(one["name"], one["type"]) for one in fields][-2:] == [("at", "timestamp"), ("City", "string")]
    assert entry.parameters["last_commit_time_sync"] == one.table.to_arrow(columns=["_hoodie_commit_time"])[0][0].as_py()
    assert one.partitions("trips") == {("oslo",): f"file:{base}/City=oslo", ("rome",): f"file:{base}/City=rome"}


def test_a_second_sync_changes_nothing_and_a_commit_adds_what_is_new(synced) -> None:
    one = synced()
    one.sync()
    before = one.entry("trips").parameters
    assert [result.action for result in one.sync()] == ["unchanged"]
    assert one.entry("trips").parameters == before
    one.table.upsert([row(3, "bergen"), row(1, "oslo")])
    (result,) = one.sync()
    assert (result.action, result.added, result.changed, result.dropped) == ("updated", 1, 0, 0)
    assert set(one.partitions("trips")) == {("bergen",), ("oslo",), ("rome",)}
    assert one.entry("trips").parameters["last_commit_time_sync"] > before["last_commit_time_sync"]


def test_a_partition_that_lost_its_rows_is_dropped_and_comes_again(synced) -> None:
    one = synced()
    one.sync()
    one.table.delete(partitions=["oslo"])
    (result,) = one.sync()
    assert (result.dropped, set(one.partitions("trips"))) == (1, {("rome",)})
    one.table.upsert([row(9, "oslo")])
    assert one.sync()[0].added == 1
    one.table.delete(partitions=["oslo"])
    assert one.sync({"hoodie.meta.sync.incremental": "false"})[0].dropped == 1


def test_columns_are_appended_in_the_order_of_the_catalog_and_partitions_get_them(synced) -> None:
    one = synced()
    one.sync()
    one.table.alter(add={"fare": pa.float64()})
    assert one.sync()[0].action == "updated"
    assert [column.name for column in one.entry("trips").sd.cols][-2:] == ["at", "fare"]
    client = one.client()
    try:
        assert {one.sd.cols[-1].name for one in client.calls.get_partitions(one.database, "trips", -1)} == {"fare"}
    finally:
        client.close()


def test_what_others_set_on_the_entry_stays(synced) -> None:
    one = synced()
    one.sync()
    client = one.client()
    try:
        entry = client.calls.get_table(one.database, "trips")
        entry.parameters["steward"] = "ann"
        entry.sd.cols[-1].comment = "when"
        client.calls.alter_table(one.database, "trips", entry)
    finally:
        client.close()
    one.table.upsert([row(3, "bergen")])
    one.sync()
    assert one.entry("trips").parameters["steward"] == "ann"
    assert one.entry("trips").sd.cols[-1].comment == "when"


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, {"trips": False, "trips_ro": True, "trips_rt": False}),
        ({"hoodie.meta.sync.sync_snapshot_with_table_name": "false"}, {"trips_ro": True, "trips_rt": False}),
        ({f"{HIVE}.skip_ro_suffix": "true"}, {"trips": True, "trips_rt": False}),
        ({f"{HIVE}.table.strategy": "RO"}, {"trips": True}),
        ({f"{HIVE}.table.strategy": "RT"}, {"trips": False}),
    ],
)
def test_a_merge_on_read_table_has_the_names_of_its_strategy(synced, options, names) -> None:
    one = synced(table_type="MERGE_ON_READ")
    one.sync(options)
    assert one.names() == sorted(names)
    for name, is_read_optimized in names.items():
        storage = one.entry(name).sd
        assert storage.serdeInfo.parameters["hoodie.query.as.ro.table"] == str(is_read_optimized).lower()
        assert ("Realtime" in storage.inputFormat) is not is_read_optimized
        assert set(one.partitions(name)) == {("oslo",), ("rome",)}


def test_other_options_of_partitions_compare_all_of_them(synced) -> None:
    one = synced({"hoodie.datasource.write.partitionpath.urlencode": "true"})
    one.table.upsert([row(3, "a/b")])
    one.sync()
    assert ("a%2Fb",) in one.partitions("trips")
    (result,) = one.sync({"hoodie.meta.sync.decode_partition": "true"})
    assert (result.added, result.dropped) == (1, 1)
    assert set(one.partitions("trips")) == {("a/b",), ("oslo",), ("rome",)}


def test_the_extractor_that_does_not_fit_leaves_the_catalog_as_it_was(synced) -> None:
    one = synced()
    day = {f"{HIVE}.partition_extractor_class": "org.apache.hudi.hive.SlashEncodedDayPartitionValueExtractor"}
    with pytest.raises(UsageError, match="cannot take the partition path 'oslo'"):
        one.sync(day)
    assert one.names() == []
    one.sync()
    one.table.upsert([row(3, "bergen")])
    with pytest.raises(UsageError, match="partition_extractor_class"):
        one.sync(day)
    assert one.sync()[0].added == 1


def test_every_write_synchronises_when_its_options_say_so(synced, caplog) -> None:
    one = synced()
    options = {**one.sync_options, f"{HIVE}.enable": "true"}
    one.table.upsert([row(3, "bergen")], options=options)
    assert set(one.partitions("trips")) == {("bergen",), ("oslo",), ("rome",)}
    with pytest.raises(OptionError, match="NoSuchExtractor"):
        one.table.upsert([row(4, "oslo")], options={**options, f"{HIVE}.partition_extractor_class": "NoSuchExtractor"})
    assert one.table.count() == 3
    down = {**options, f"{HIVE}.metastore.uris": f"thrift://127.0.0.1:{free_port()}"}
    with caplog.at_level(logging.WARNING):
        assert one.table.upsert([row(5, "paris")], options=down).instant
    assert any("is committed" in record.message and "no Hive metastore answers" in record.message for record in caplog.records)
    one.table.upsert([row(6, "oslo")], options=options)
    assert ("paris",) in one.partitions("trips")


def test_the_command_takes_the_flags_of_hudis_tool(synced) -> None:
    one = synced()
    flags = ["--base-path", one.table.storage.uri, "--metastore-uris", one.uri, "--database", one.database, "--table", "Rides"]
    result = CliRunner().invoke(main, ["sync", "hive", *flags, "--support-timestamp", "--omit-metadata-fields", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["tables"][0]["action"] == "created"
    assert [(column.name, column.type) for column in one.entry("rides").sd.cols][-1] == ("at", "timestamp")


def test_partition_columns_of_the_catalog_cannot_change_but_the_table_can_be_made_again(synced) -> None:
    one = synced()
    one.sync()
    other = {f"{HIVE}.partition_fields": "town"}
    with pytest.raises(CatalogError, match="cannot be changed") as raised:
        one.sync(other)
    assert "recreate_table_on_error" in str(raised.value)
    assert one.sync({**other, f"{HIVE}.recreate_table_on_error": "true"})[0].action == "recreated"
    assert [column.name for column in one.entry("trips").partitionKeys] == ["town"]
    assert one.table.count() == 2


def test_a_bootstrap_registers_the_table_it_makes(metastore, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "source" / "one.parquet")
    one = Synced(None, metastore, f"db{next(_NUMBERS)}")  # type: ignore[arg-type]
    options = {**one.sync_options, f"{HIVE}.enable": "true"}
    with pytest.raises(OptionError, match="NoSuch"):
        HudiTable.bootstrap(
            tmp_path / "t", tmp_path / "source", name="t", keys=["id"], options={**options, f"{HIVE}.partition_extractor_class": "NoSuch"}
        )
    HudiTable.bootstrap(tmp_path / "t", tmp_path / "source", name="t", keys=["id"], options=options)
    assert one.names() == ["t"]
    assert one.entry("t").parameters["last_commit_time_sync"] == "00000000000001"


class Cut:
    """A catalog whose n-th change fails, before or after it was done."""

    def __init__(self, catalog: Any, changes: Iterator[int], at: int, *, is_done: bool) -> None:
        self._catalog, self._changes, self._at, self._is_done = catalog, changes, at, is_done

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._catalog, name)
        if name in ("close", "table", "partitions", "has_database"):
            return method

        def call(*arguments: Any, **more: Any) -> Any:
            is_cut = next(self._changes) == self._at
            if not is_cut or self._is_done:
                method(*arguments, **more)
            if is_cut:
                raise CatalogError("the metastore is down")

        return call


@pytest.mark.parametrize("is_done", [False, True])
def test_a_sync_that_is_cut_anywhere_is_finished_by_the_next(synced, monkeypatch, is_done: bool) -> None:
    one = synced()
    cutting = _Cutting(is_done=is_done)
    monkeypatch.setattr("pyhudi.sync.run_sync.open_catalog", cutting)
    one.table.delete(partitions=["rome"])
    expected = {("oslo",), ("bergen",)}
    one.table.upsert([row(3, "bergen")])
    for at in itertools.count():
        one.database = f"cut{is_done}{at}".lower()
        one.sync()
        one.table.alter(add={f"extra{at}": pa.int64()})
        one.table.upsert([{**row(100 + at, f"new{at}"), **{f"extra{n}": None for n in range(at + 1)}}])
        expected |= {(f"new{at}",)}
        cutting.at, cutting.changes = at, itertools.count()
        try:
            one.sync()
            is_cut = False
        except CatalogError:
            is_cut = True
        cutting.at = -1
        one.sync()
        assert set(one.partitions("trips")) == expected
        assert one.entry("trips").sd.cols[-1].name == f"extra{at}"
        if not is_cut:
            break
    assert at == 3  # columns, partitions, the times of the last commit


class _Cutting:
    """Stands for `open_catalog`."""

    def __init__(self, *, is_done: bool) -> None:
        self.is_done = is_done
        self.at, self.changes = -1, itertools.count()

    def __call__(self, *arguments: Any) -> Any:
        return Cut(open_catalog(*arguments), self.changes, self.at, is_done=self.is_done)


@pytest.mark.slow
def test_a_metastore_that_went_down_gets_what_it_missed(synced, tmp_path: Path) -> None:
    one = synced()
    port = free_port()
    folder = tmp_path / "metastore"
    with hive_metastore(folder, port) as uri:
        one.uri = uri
        one.sync()
    options = {**one.sync_options, f"{HIVE}.enable": "true"}
    one.table.upsert([row(3, "bergen")], options=options)
    with pytest.raises(CatalogError, match="answers"):
        one.sync()
    assert "answers" in str(one.table.services.sync(options={**one.sync_options, f"{HIVE}.ignore_exceptions": "true"})[0])
    with hive_metastore(folder, port):
        assert one.sync()[0].added == 1
        assert ("bergen",) in one.partitions("trips")
