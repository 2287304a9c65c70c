"""The timeline of a table as rows: what `HudiTable.history` gives."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.extra_metadata import ENGINE_KEY
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_version import check_served
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.timeline.moved_timeline import reread_when_moved
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline, read_rows

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


@reread_when_moved
def history(storage: Storage) -> pa.Table:
    """Return one row for each action, archived ones too, oldest first; counts that an action lacks are null.

    Raises:
        CorruptTableError: a file of the timeline or of its archive is damaged.
        UnsupportedError: the table has a version that is not served, or one of its actions is unknown.
    """
    config = TableConfig(load_properties(storage))
    check_served(config.version, for_write=False)
    timeline = load_full_timeline(storage, config)
    instants = timeline.instants
    active = {(instant.requested, instant.action) for instant in instants}
    rows = [
        _row(archived.instant, archived.metadata)
        for archived in archived_instants(storage, config, read_rows)
        if (archived.instant.requested, archived.instant.action) not in active
    ]
    rows += [_row(instant, _metadata(storage, config, timeline, instant)) for instant in instants]
    # An action may be active still that is older than archived ones.
    return pa.Table.from_pylist(sorted(rows, key=lambda row: str(row["requested"])), schema=SCHEMA)


def _metadata(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> CommitMetadata | None:
    wrote = instant.is_completed and instant.action.writes_data
    return load_commit_metadata(storage, config, timeline, instant) if wrote else None


def _row(instant: Instant, metadata: CommitMetadata | None) -> dict[str, object]:
    row: dict[str, object] = {
        "action": instant.action.value,
        "state": instant.state.name.lower(),
        "requested": instant.requested,
        "completed": instant.completed,
    }
    return row if metadata is None else row | _counts(metadata)


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
        "engine": commit.extra_metadata.get(ENGINE_KEY),
    }
