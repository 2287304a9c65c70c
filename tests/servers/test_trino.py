"""Trino reads the tables that a sync with AWS Glue registered, from S3. `make test-trino` fetches Trino, which needs Java 25."""

from __future__ import annotations

import datetime
import decimal
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from pyhudi import HudiTable
from tests.servers.glue_options import glue_options
from tests.servers.java_server import free_port
from tests.servers.s3_server import s3_server
from tests.servers.synced import HIVE
from tests.servers.trino_shell import Trino, trino_shell

pytestmark = pytest.mark.skipif("PYHUDI_TRINO" not in os.environ, reason="PYHUDI_TRINO is not set; `make test-trino` sets it")

SCHEMA = pa.schema({"id": pa.int64(), "fare": pa.float64(), "city": pa.string()})
FEW = {"hoodie.keep.min.commits": "4", "hoodie.keep.max.commits": "5", "hoodie.clean.commits.retained": "2"}


@pytest.fixture(scope="module")
def server(boto3_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with s3_server(tmp_path_factory.mktemp("s3"), free_port()) as options:
        yield options


@pytest.fixture(scope="module")
def trino(server: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trino]:
    with trino_shell(tmp_path_factory.mktemp("trino"), server) as shell:
        yield shell


@pytest.fixture
def synced(server: dict[str, str]) -> dict[str, str]:
    """Options of a write that registers the table in the database `rides`."""
    return {f"{HIVE}.enable": "true", f"{HIVE}.database": "rides", **glue_options(server)}


def make(server: Mapping[str, str], synced: Mapping[str, str], name: str, options: Mapping[str, str], **kind: Any) -> HudiTable:
    table = HudiTable.create(
        f"s3://bucket/{name}",
        SCHEMA,
        name=name,
        keys=["id"],
        partition_by=["city"],
        order_by=["fare"],
        options=dict(options),
        storage_options=dict(server),
        **kind,
    )
    rows = [{"id": number, "fare": float(number), "city": "oslo" if number % 2 else "rome"} for number in range(10)]
    assert table.upsert(rows, options=dict(synced)).failed_services == ()
    table.upsert([{"id": 3, "fare": 30.0, "city": "oslo"}, {"id": 99, "fare": 1.0, "city": "lima"}], options=dict(synced))
    assert table.delete([{"id": 4, "city": "rome"}], options=dict(synced)).failed_services == ()
    return table


def fares(trino: Trino, name: str, where: str = "true") -> list[str]:
    return trino.rows(f"SELECT id, fare, city FROM rides.{name} WHERE {where} ORDER BY id")


def as_texts(table: HudiTable, **query: Any) -> list[str]:
    rows = table.to_arrow(columns=["id", "fare", "city"], **query).sort_by("id").to_pylist()
    return [f"[{row['id']}, {row['fare']}, {row['city']}]" for row in rows]


@pytest.mark.parametrize("version", ["6", "8", "9"])
def test_copy_on_write_of_each_version(trino: Trino, server: dict[str, str], synced: dict[str, str], version: str) -> None:
    name = f"cow{version}"
    table = make(server, synced, name, {"hoodie.write.table.version": version})
    assert fares(trino, name) == as_texts(table)
    assert fares(trino, name, "city = 'oslo' AND fare > 5") == as_texts(table, filter="city = 'oslo' AND fare > 5")


def test_a_table_with_services_and_an_archived_timeline(trino: Trino, server: dict[str, str], synced: dict[str, str]) -> None:
    table = make(server, synced, "served", {"hoodie.datasource.write.hive_style_partitioning": "true"})
    for number in range(12):
        row = {"id": number, "fare": 100.0 + number, "city": "oslo" if number % 2 else "rome"}
        table.upsert([row], options={**synced, **FEW})
    table.services.cluster()
    table.services.clean(options=FEW)
    table.services.archive(options=FEW)
    table.upsert([{"id": 0, "fare": 1000.0, "city": "rome"}], options=synced)
    assert fares(trino, "served") == as_texts(table)


def test_a_merge_on_read_table_is_read_optimized(trino: Trino, server: dict[str, str], synced: dict[str, str]) -> None:
    """Trino 483 merges no log files, whatever name it is asked by: what is not compacted is not seen."""
    table = make(server, synced, "mor", {}, table_type="MERGE_ON_READ")
    base_files = as_texts(table, mode="read_optimized")
    assert base_files != as_texts(table)
    for name in ("mor_ro", "mor_rt", "mor"):
        assert fares(trino, name) == base_files
    table.services.compact()
    assert fares(trino, "mor_ro") == as_texts(table)


def test_types(trino: Trino, server: dict[str, str], synced: dict[str, str]) -> None:
    values: dict[str, tuple[pa.DataType, object]] = {
        "id": (pa.int64(), 1),
        "day": (pa.date32(), datetime.date(2026, 1, 2)),
        "at": (pa.timestamp("us", tz="UTC"), datetime.datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=datetime.UTC)),
        "price": (pa.decimal128(10, 2), decimal.Decimal("12.30")),
        "numbers": (pa.list_(pa.int32()), [1, None]),
        "place": (pa.struct({"a": pa.string(), "b": pa.int32()}), {"a": "x", "b": 2}),
        "counts": (pa.map_(pa.string(), pa.int64()), [("k", 5)]),
        "flag": (pa.bool_(), True),
        "share": (pa.float32(), 1.5),
    }
    schema = pa.schema({name: kind for name, (kind, _) in values.items()})
    table = HudiTable.create("s3://bucket/types", schema, name="types", keys=["id"], storage_options=server)
    rows = pa.Table.from_pylist([{name: value for name, (_, value) in values.items()}, {"id": 2}], schema=schema)
    assert table.upsert(rows, options={**synced, f"{HIVE}.support_timestamp": "true"}).failed_services == ()
    read = trino.rows(f"SELECT {', '.join(values)} FROM rides.types ORDER BY id")
    full = "[1, 2026-01-02, 2026-01-02 03:04:05.123456000, 12.30, [1, null], [x, 2], {k=5}, true, 1.5]"
    assert read == [full, "[2, " + ", ".join(["null"] * 8) + "]"]


def test_a_bootstrapped_table(trino: Trino, server: dict[str, str], synced: dict[str, str], tmp_path: Path) -> None:
    """Of files that stay in the source Trino reads the data, and no meta columns."""
    plain = fs.S3FileSystem(
        access_key=server["key"], secret_key=server["secret"], endpoint_override=server["endpoint_url"], region=server["region"]
    )
    for number, city in enumerate(["lima", "oslo"]):
        rows = pa.table({"id": [number * 2, number * 2 + 1], "fare": [1.0, 2.0], "city": [city, city]})
        pq.write_table(rows, f"bucket/plain/{city}/a.parquet", filesystem=plain)
    table = HudiTable.bootstrap(
        "s3://bucket/plain_rides",
        "s3://bucket/plain",
        name="plain_rides",
        keys=["id"],
        partition_by=["city"],
        options=synced,
        storage_options=server,
    )
    assert fares(trino, "plain_rides") == as_texts(table)
    assert set(trino.rows("SELECT _hoodie_record_key FROM rides.plain_rides")) == {"[null]"}
    table.upsert([{"id": 1, "fare": 9.0, "city": "lima"}], options=synced)
    assert fares(trino, "plain_rides") == as_texts(table)
