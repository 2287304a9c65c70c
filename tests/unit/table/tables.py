"""Small tables in memory for the tests of writing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.create_new_table import create_table
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.clock import SystemClock

Row = dict[str, Any]

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64(), "at": pa.int64()})


def make_table(
    storage: Storage | None = None,
    *,
    schema: pa.Schema = SCHEMA,
    keys: Sequence[str] = ("id",),
    partition_by: Sequence[str] = (),
    order_by: Sequence[str] = (),
    table_type: str = "COPY_ON_WRITE",
    options: Mapping[str, str] | None = None,
) -> HudiTable:
    storage = storage or MemoryStorage()
    create_table(
        storage,
        schema,
        name="rides",
        keys=keys,
        partition_by=partition_by,
        order_by=order_by,
        table_type=table_type,
        options=options or {},
        clock=SystemClock(),
    )
    return HudiTable(storage, engine=LocalEngine(threads=2))


def copy_of(table: HudiTable) -> HudiTable:
    """A table with the same files, in a storage of its own: cheaper than to write them again."""
    assert isinstance(table.storage, MemoryStorage)
    return HudiTable(table.storage.copy())


def ride(number: int, city: str = "oslo", value: int = 0, at: int = 0) -> Row:
    return {"id": number, "city": city, "value": value, "at": at}


def rows_of(table: HudiTable) -> list[Row]:
    return by_id(table.to_arrow().to_pylist())


def by_id(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row["id"], str(row["city"]), row["value"]))


def after_heartbeats(storage: Storage, seconds: int) -> HudiTable:
    """Open a table so many seconds after the last heartbeats of its writers, by the clock of the storage."""
    for name in storage.file_names(".hoodie/.heartbeat"):
        path = f".hoodie/.heartbeat/{name}"
        status = storage.stat(path)
        assert status is not None
        storage.set_modified(path, status.modified_ms - 1000 * seconds)
    return HudiTable(storage)


def files_of(storage: Storage, folder: str = "") -> list[str]:
    """All files of a table but the lock's, which a refused write may leave."""
    result = []
    for status in storage.list(folder):
        if status.is_dir:
            result += files_of(storage, status.path)
        elif not status.path.startswith(".hoodie/.locks"):
            result.append(status.path)
    return result
