"""Histories of tables without a metadata table, recorded again action by action into one."""

from __future__ import annotations

from typing import Any

from pyhudi.codec.actions.action_files import decode
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.format.merge_records import is_tombstone
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.metadata_table.lifecycle.metadata_sync import MetadataSync
from pyhudi.metadata_table.lifecycle.prepare_metadata import prepare
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.metadata_table.read.writer_table import TimeAndIds, open_writer_table
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.spec.actions.clean import CleanMetadata
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.timeline.clock import Clock, SystemClock
from pyhudi.timeline.instant_details import read_bytes, read_commit
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from pyhudi.txn.ids import SystemIds


def sources(clock: Clock | None = None) -> TimeAndIds:
    return TimeAndIds(clock or SystemClock(), "UTC", SystemIds().sync_marker)


def timeline_of(storage: Storage) -> Timeline:
    return load_full_timeline(storage, TableConfig(load_properties(storage)))


def prepared(storage: Storage, timeline: Timeline, clock: Clock | None = None) -> MetadataSync:
    """The table as of a timeline of its past, with a metadata table."""
    config = TableConfig(load_properties(storage))
    last = timeline_of(storage).last_completed()
    assert last is not None
    schema = avro_to_arrow(read_commit(storage, config, last).schema_json or "")
    _, in_step = prepare(storage, config, timeline, schema, sources(clock))
    assert in_step is not None
    return in_step


def record(storage: Storage, instant: Instant, max_delta_commits: int = 10, log_compaction_blocks: int | None = None) -> None:
    """Record one completed action, over the table as it was before it."""
    config = TableConfig(load_properties(storage))
    timeline = timeline_of(storage)
    before = max((one.requested for one in timeline.instants if one.requested < instant.requested), default="")
    mdt = open_writer_table(storage, sources())
    assert mdt is not None
    view = FileSystemView(storage, config, timeline.requested_by(before))
    settings = MetadataSettings(max_delta_commits=max_delta_commits, log_compaction_blocks=log_compaction_blocks)
    in_step = MetadataSync(storage, config, view, mdt, settings)
    if instant.action is Action.CLEAN:
        metadata = decode(instant.action, instant.state, read_bytes(storage, config, instant))
        assert isinstance(metadata, CleanMetadata)
        in_step = in_step.record_clean(instant.requested, metadata)
    else:
        in_step = record_commit(in_step, instant.requested, read_commit(storage, config, instant))
    in_step.maintain()


def record_commit(in_step: MetadataSync, requested: str, metadata: CommitMetadata) -> MetadataSync:
    return in_step.record_commit(requested, metadata, avro_to_arrow(metadata.schema_json) if metadata.schema_json else None)


def replay(storage: Storage, max_delta_commits: int = 10, log_compaction_blocks: int | None = None) -> None:
    """Build a metadata table before the first action, then record each."""
    timeline = timeline_of(storage)
    prepared(storage, timeline.requested_by("0"))
    for instant in timeline.completed():
        if instant.action.writes_data or instant.action is Action.CLEAN:
            record(storage, instant, max_delta_commits, log_compaction_blocks)


def metadata_table(storage: Storage) -> MetadataTable:
    return MetadataTable.open(storage, TableConfig(load_properties(storage)), timeline_of(storage))


def contents(storage: Storage) -> dict[str, dict[str, Any]]:
    """Every record of the metadata table, by partition and key."""
    table = metadata_table(storage)
    return {name: dict(table.partition(name).scan()) for name in table.partitions}


def live_contents(storage: Storage) -> dict[str, dict[str, Any]]:
    """The same without tombstones, which a compaction leaves out."""
    return {name: {key: one for key, one in records.items() if not is_tombstone(one)} for name, records in contents(storage).items()}
