"""Small tables that the tests of cleans write and clean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.create_new_table import create_table
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from tests.unit.crash.tables import SCHEMA, CountedIds, StoppedClock

OFF = {"hoodie.clean.automatic": "false"}


TIMELINE = ".hoodie/timeline"


def new_table(
    storage: Storage, *, partition_by: tuple[str, ...] = ("city",), table_type: str = "COPY_ON_WRITE", **options: str
) -> HudiTable:
    given = {name.replace("__", "."): value for name, value in options.items()}
    create_table(
        storage,
        SCHEMA,
        name="rides",
        keys=("id",),
        partition_by=partition_by,
        order_by=(),
        table_type=table_type,
        options=given,
        clock=StoppedClock(),
    )
    return HudiTable(storage, clock=StoppedClock(), ids=CountedIds())


def upsert(table: HudiTable, value: int, *, ids: tuple[int, ...] = (1,), city: str = "oslo", **options: str) -> str:
    given = {**OFF, **{name.replace("__", "."): text for name, text in options.items()}}
    rows = pa.Table.from_pylist([{"id": id_, "city": city, "value": value} for id_ in ids], schema=SCHEMA)
    return str(table.upsert(rows, options=given).instant)


def files(storage: Storage, partition: str = "oslo") -> list[str]:
    return [one.name for one in storage.list(partition) if one.name.endswith(".parquet") or ".log." in one.name]


def cleans(table: HudiTable) -> list[dict[str, Any]]:
    return [one for one in table.history().to_pylist() if one["action"] == "clean"]


def clean(table: HudiTable, **options: str) -> list[int]:
    given: Mapping[str, str] = {f"hoodie.clean.{name.replace('__', '.')}": value for name, value in options.items()}
    return [result.total_files for result in table.services.clean(options=given)]


def metadata_agrees(table: HudiTable) -> None:
    assert table.inspect.health().to_pylist() == []
    storage, config = table.storage, TableConfig(load_properties(table.storage))
    view = FileSystemView(storage, config, load_full_timeline(storage, config))
    by_listing = {base.path for path in view.partition_paths() for base in view.latest_base_files(path)}
    assert {one for one in table.inspect.files()["path"].to_pylist() if one.endswith(".parquet")} == by_listing
