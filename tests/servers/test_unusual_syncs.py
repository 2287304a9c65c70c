"""Syncs with a real Hive metastore that meet what others did there, odd names and texts, and a metastore that ends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.errors import CatalogError
from pyhudi.sync.hive_metastore import HiveMetastore
from tests.servers.java_server import free_port, hive_metastore
from tests.servers.synced import HIVE, Synced, fill, new_trips
from tests.slow_cases import slow_cases

ENABLE = {f"{HIVE}.enable": "true"}


@pytest.fixture
def synced(metastore: str, tmp_path: Path) -> Callable[..., Synced]:
    """Makes a table and says where it is synchronised."""

    return partial(new_trips, metastore, tmp_path, "unusual")


@pytest.fixture
def filled(synced: Callable[..., Synced]) -> Synced:
    return fill(synced())


def test_properties_of_the_serde_that_another_changed(filled: Synced) -> None:
    """Ours are set again, those of others stay."""
    filled.sync()
    client = filled.client()
    try:
        entry = client.calls.get_table(filled.database, "trips")
        entry.sd.serdeInfo.parameters.update({"hoodie.query.as.ro.table": "true", "path": "/nowhere", "theirs": "1"})
        client.calls.alter_table(filled.database, "trips", entry)
    finally:
        client.close()
    assert filled.sync()[0].action == "updated"
    expected = {"hoodie.query.as.ro.table": "false", "path": filled.table.storage.uri, "theirs": "1", "serialization.format": "1"}
    assert filled.entry("trips").sd.serdeInfo.parameters == expected


def test_partitions_have_the_serde_properties_of_the_user_and_not_those_of_the_table(synced: Callable[..., Synced]) -> None:
    one = fill(synced(options={f"{HIVE}.serde_properties": "theirs=1"}))
    one.sync()
    client = one.client()
    try:
        partitions = client.calls.get_partitions(one.database, "trips", -1)
    finally:
        client.close()
    assert [partition.sd.serdeInfo.parameters for partition in partitions] == [{"theirs": "1"}, {"theirs": "1"}]
    assert {partition.sd.serdeInfo.serializationLib for partition in partitions} == {one.entry("trips").sd.serdeInfo.serializationLib}
    assert one.entry("trips").sd.serdeInfo.parameters["path"] == one.table.storage.uri


COMMENTS = ['it\'s "quoted" `so`', "back\\slash; -- $x {y}", "two\nlines", "ø, 名, \u00e9"]


@pytest.mark.parametrize("way", ["hms", "jdbc"])
def test_comments_with_quotes(synced: Callable[..., Synced], server: str, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    names = [f"c{number}" for number in range(len(COMMENTS))]
    comments = {**dict(zip(names, COMMENTS, strict=True)), "city": "where it's"}
    monkeypatch.setattr("pyhudi.sync.table_description._comments", lambda _: comments)
    one = synced(pa.schema([("id", pa.int64()), *((name, pa.int64()) for name in names), ("city", pa.string())]))
    one.table.upsert([{"id": 1, "city": "oslo", **dict.fromkeys(names, 1)}])
    more = {f"{HIVE}.mode": way, f"{HIVE}.jdbcurl": server, f"{HIVE}.sync_as_datasource": "false", f"{HIVE}.sync_comment": "true"}
    one.sync(more)
    assert [column.comment for column in one.entry("trips").sd.cols[-len(COMMENTS) :]] == COMMENTS
    assert [column.comment for column in one.entry("trips").partitionKeys] == ["where it's"]
    assert one.sync(more)[0].action == "unchanged"


ODD = ["größe", "select", "名前", "_"]


@pytest.mark.parametrize("way", ["hms", "jdbc"])
def test_names_of_columns_with_odd_letters(synced: Callable[..., Synced], server: str, way: str) -> None:
    schema = pa.schema([pa.field("id", pa.int64()), *(pa.field(name, pa.int64()) for name in ODD), pa.field("city", pa.string())])
    one = synced(schema)
    one.table.upsert([{"id": 1, "city": "oslo", **dict.fromkeys(ODD, 1)}])
    more = {f"{HIVE}.mode": way, f"{HIVE}.jdbcurl": server, f"{HIVE}.sync_as_datasource": "false"}
    one.sync(more)
    assert [column.name for column in one.entry("trips").sd.cols[-4:]] == ODD
    assert one.sync(more)[0].action == "unchanged"


def test_a_database_that_is_missing(filled: Synced) -> None:
    strict = {f"{HIVE}.auto_create_database": "false"}
    with pytest.raises(CatalogError, match=f"has no database {filled.database}.*auto_create_database=true"):
        filled.sync(strict)
    result = filled.table.upsert([{"id": 3, "city": "bonn"}], {**filled.sync_options, **strict, **ENABLE})
    assert f"has no database {filled.database}" in str(result.failed_services)
    assert filled.table.count() == 3
    assert filled.sync()[0].added == 3
    assert filled.sync(strict)[0].action == "unchanged"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({f"{HIVE}.database": "my-rides"}, rf"my-rides is not a valid database name.*{HIVE}.database gives another one"),
        ({f"{HIVE}.table": "my-trips"}, rf"my-trips is not a valid object name.*{HIVE}.table gives another one"),
    ],
)
def test_names_that_a_metastore_does_not_take(filled: Synced, options: dict[str, str], match: str) -> None:
    with pytest.raises(CatalogError, match=match) as refused:
        filled.sync(options)
    assert "recreate_table_on_error" not in str(refused.value)
    assert filled.sync()[0].added == 2


def test_a_partition_value_that_is_too_long(filled: Synced) -> None:
    filled.sync()
    long = "/".join(["x" * 200] * 5)
    result = filled.table.upsert([{"id": 3, "city": long}], {**filled.sync_options, **ENABLE})
    assert "has 1004 characters, and Hive metastores take 256 at most" in str(result.failed_services)
    filled.table.delete(partitions=[long])
    assert filled.sync()[0].action == "unchanged"


def test_a_field_that_a_struct_gets_is_refused_by_the_metastore_with_advice(synced: Callable[..., Synced]) -> None:
    def schema(**more: pa.DataType) -> pa.Schema:
        return pa.schema({"id": pa.int64(), "place": pa.struct({"lat": pa.float64(), **more}), "city": pa.string()})

    one = synced(schema())
    one.table.upsert([{"id": 1, "place": {"lat": 1.0}, "city": "oslo"}])
    one.sync()
    one.table.upsert(pa.table({"id": [2], "place": [{"lat": 1.0, "lon": 2.0}], "city": ["rome"]}, schema(lon=pa.float64())))
    with pytest.raises(CatalogError, match=r"(?s)types incompatible.*recreate_table_on_error=true drops .*not its files"):
        one.sync()
    assert one.sync({f"{HIVE}.recreate_table_on_error": "true"})[0].action == "recreated"
    assert [column.type for column in one.entry("trips").sd.cols][-1] == "struct<lat:double,lon:double>"
    assert one.sync()[0].action == "unchanged"


def test_partition_columns_are_found_in_any_case(synced: Callable[..., Synced]) -> None:
    one = synced(pa.schema({"id": pa.int64(), "City": pa.int32(), "x": pa.int64()}), partition_by=["City"])
    one.table.upsert([{"id": 1, "City": 7, "x": 1}])
    one.sync({f"{HIVE}.partition_fields": "CITY"})
    assert [(column.name, column.type) for column in one.entry("trips").partitionKeys] == [("city", "int")]
    assert [column.name for column in one.entry("trips").sd.cols][-2:] == ["id", "x"]
    assert one.sync()[0].action == "unchanged"


@pytest.mark.parametrize(("number", "dropped"), [(120, 110), pytest.param(1200, 1100, marks=pytest.mark.slow)])
def test_many_partitions_and_most_of_them_dropped(
    synced: Callable[..., Synced], monkeypatch: pytest.MonkeyPatch, number: int, dropped: int
) -> None:
    """In several batches, of ten for the few."""
    if number < 1000:
        monkeypatch.setattr("pyhudi.sync.hive_metastore._SMALL_BATCH", 10)
    one = synced()
    one.table.bulk_insert([{"id": part, "city": f"c{part:04}"} for part in range(number)])
    assert one.sync()[0].added == number
    assert len(one.partitions("trips")) == number
    one.table.delete(partitions=[f"c{part:04}" for part in range(dropped)])
    assert one.sync()[0].dropped == dropped
    assert one.partitions("trips").keys() == {(f"c{part:04}",) for part in range(dropped, number)}
    one.table.upsert([{"id": 1, "city": "c0001"}])
    assert one.sync()[0].added == 1
    assert one.sync({"hoodie.meta.sync.incremental": "false"})[0].action == "unchanged"


def test_partitions_that_another_dropped_or_added(filled: Synced) -> None:
    """A complete comparison repairs the catalog; an incremental one looks at what commits have written."""
    filled.sync()
    client = filled.client()
    try:
        client.calls.drop_partition(filled.database, "trips", ["rome"], False)
        table = client.calls.get_table(filled.database, "trips")
        table.sd.location = f"{table.sd.location}/nowhere"
        client.calls.add_partition(client.types.Partition(["nowhere"], filled.database, "trips", sd=table.sd, parameters={}))
    finally:
        client.close()
    assert filled.sync()[0].action == "unchanged"
    (result,) = filled.sync({"hoodie.meta.sync.incremental": "false"})
    assert (result.added, result.dropped) == (1, 1)
    assert filled.partitions("trips").keys() == {("oslo",), ("rome",)}


@pytest.mark.parametrize("call", slow_cases(("create_table", "add_partitions", "set_properties"), {"create_table", "set_properties"}))
def test_a_metastore_that_ends_between_two_calls_of_a_sync(
    filled: Synced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """The commit stays, its result names the sync, and the next one makes up for it."""
    folder, port = tmp_path / "metastore", free_port()
    with contextlib.ExitStack() as stack:
        filled.uri = stack.enter_context(hive_metastore(folder, port))
        method = getattr(HiveMetastore, call)

        def end(*arguments: Any, **more: Any) -> None:
            stack.close()
            method(*arguments, **more)

        with monkeypatch.context() as patched:
            patched.setattr(HiveMetastore, call, end)
            result = filled.table.upsert([{"id": 3, "city": "bonn"}], {**filled.sync_options, **ENABLE})
    assert "did not answer" in str(result.failed_services)
    assert filled.table.count() == 3
    with hive_metastore(folder, port):
        result = filled.table.upsert([{"id": 4, "city": "lima"}], {**filled.sync_options, **ENABLE})
        assert result.failed_services == ()
        assert filled.partitions("trips").keys() == {("bonn",), ("lima",), ("oslo",), ("rome",)}
        assert filled.sync()[0].action == "unchanged"
