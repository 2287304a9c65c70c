"""One delta commit of the metadata table: records and deletes of some of its partitions, written in step with the data.

Rules: `HoodieBackedTableMetadataWriter.commit`; format notes (metadata table) 2.4 and 2.6. It has the instant of the
data table's action and completes before that does; a reader does not see it until then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from pyhudi.codec.commit_metadata import commit_content
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.files_of_groups import write_log
from pyhudi.metadata_table.keys import shard
from pyhudi.metadata_table.own import OwnTable
from pyhudi.metadata_table.record import MetadataRecord
from pyhudi.spec.commit import CommitMetadata, WriteStat
from pyhudi.spec.instant import Action


@dataclass(frozen=True, slots=True)
class Changes:
    """What an action changes in one partition of the metadata table: records by key, and keys that are gone."""

    records: Mapping[str, MetadataRecord] = field(default_factory=dict)
    deleted: Collection[str] = ()


def write_changes(own: OwnTable, instant: str, changes: Mapping[str, Changes]) -> None:
    """Commit the changes of an action of the data table, by partition of the metadata table.

    Raises:
        CorruptTableError: one of the partitions has no file groups.
        StorageError: the storage failed; nothing of the commit is visible.
    """
    requested = own.writer.request(Action.DELTA_COMMIT, instant)
    inflight = own.writer.start(requested)
    stats = {partition: _write_partition(own, instant, partition, change) for partition, change in changes.items()}
    metadata = CommitMetadata(
        stats={partition: written for partition, written in stats.items() if written},
        extra={"schema": own.encoder.schema},
        operation="UPSERT_PREPPED",
    )
    content = commit_content(metadata, own.config.layout, sync=own.sources.sync_marker())
    own.writer.complete(inflight, own.next_time(instant), content)


def _write_partition(own: OwnTable, instant: str, partition: str, change: Changes) -> tuple[WriteStat, ...]:
    slices = own.slices(partition)
    if not slices:
        raise CorruptTableError(f"the partition {partition} of the metadata table {own.storage.uri} has no files")
    records: dict[int, dict[str, MetadataRecord]] = defaultdict(dict)
    deleted: dict[int, list[str]] = defaultdict(list)
    for key, record in change.records.items():
        records[shard(key, len(slices))][key] = record
    for key in change.deleted:
        deleted[shard(key, len(slices))].append(key)
    return tuple(
        write_log(own, slices[number], instant, f"{number}-0-0", records[number], deleted[number])
        for number in sorted(records.keys() | deleted.keys())
    )
