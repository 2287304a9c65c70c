"""The timeline of a table as rows: what `HudiTable.history` gives."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from pyhudi.spec.commit import CommitMetadata
from pyhudi.spec.instant import Instant
from pyhudi.spec.table_config import TableConfig
from pyhudi.storage.protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.load import load_timeline
from pyhudi.timeline.payload import read_commit

SCHEMA: Final = pa.schema(
    {
        "action": pa.string(),
        "state": pa.string(),
        "requested": pa.string(),
        "completed": pa.string(),
        "operation": pa.string(),
        "inserted": pa.int64(),
        "updated": pa.int64(),
        "deleted": pa.int64(),
        "files_written": pa.int64(),
        "bytes_written": pa.int64(),
        "file_groups_replaced": pa.int64(),
        "engine": pa.string(),
    }
)


def history(storage: Storage) -> pa.Table:
    """Return one row for each action of the active timeline, oldest first; counts that an action lacks are null."""
    config = TableConfig(load_properties(storage))
    timeline = load_timeline(storage, config)
    return pa.Table.from_pylist([_row(storage, config, instant) for instant in timeline.instants], schema=SCHEMA)


def _row(storage: Storage, config: TableConfig, instant: Instant) -> dict[str, object]:
    row: dict[str, object] = {
        "action": instant.action.value,
        "state": instant.state.name.lower(),
        "requested": instant.requested,
        "completed": instant.completed,
    }
    if instant.is_completed and instant.action.writes_data:
        row.update(_counts(read_commit(storage, config, instant)))
    return row


def _counts(commit: CommitMetadata) -> dict[str, object]:
    stats = tuple(commit.all_stats())
    return {
        "operation": commit.operation,
        "inserted": sum(stat.num_inserts for stat in stats),
        "updated": sum(stat.num_update_writes for stat in stats),
        "deleted": sum(stat.num_deletes for stat in stats),
        "files_written": len(stats),
        "bytes_written": sum(stat.total_write_bytes for stat in stats),
        "file_groups_replaced": sum(map(len, (commit.replaced or {}).values())),
        "engine": commit.extra.get("pyhudi.engine"),
    }
