"""Tables for the tests of changes of version and type, and what readers see of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from pyhudi import HudiTable
from pyhudi.errors import UsageError

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "ts": pa.int64(), "v": pa.int64()})
COMMIT_TIME = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"}
QUIET = {"hoodie.compact.inline": "false", "hoodie.archive.automatic": "false"}


def make(path: Path, kind: str = "COPY_ON_WRITE", version: int = 6, **options: str) -> HudiTable:
    created = {"hoodie.write.table.version": str(version), **options}
    table = HudiTable.create(
        path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], order_by=["ts"], table_type=kind, options=created
    )
    for number in range(3):
        table.upsert([ride(1, number), ride(number + 5, number)], options=QUIET)
    return table


def ride(number: int, ts: int) -> dict[str, Any]:
    return {"id": number, "city": "oslo" if number % 2 else "rome", "ts": ts, "v": ts}


def state(path: str | Path) -> list[object]:
    """Rows of the time of each write, and of now."""
    table = HudiTable.open(path)
    writes = ("commit", "deltacommit", "replacecommit")
    times = [one["requested"] for one in table.history().to_pylist() if one["action"] in writes and one["operation"] != "COMPACT"]
    return [*((time, rows(table, time)) for time in times), rows(table)]


def rows(table: HudiTable, time: str | None = None) -> list[str] | str:
    try:
        return sorted(map(repr, table.to_arrow(as_of=time).to_pylist()))
    except UsageError as error:  # files of that time are cleaned
        return str(error)
