"""One delta commit of the metadata table: records and deletes of some of its partitions, written in step with the data.

Rules: `HoodieBackedTableMetadataWriter.commit`; docs/format/metadata-table.md#what-each-action-records, #log-blocks. It has the instant of
the data table's action and completes before that does; a reader does not see it until then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyhudi.codec.actions.commit_metadata import commit_content
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.metadata_table.write.data_table_changes import ChangesByPartition, PartitionChanges
from pyhudi.metadata_table.write.hfile_log_writer import write_initial_log, write_log
from pyhudi.metadata_table.write.inflight import create_file_groups
from pyhudi.spec.actions.commit import CommitMetadata, WriteStat
from pyhudi.spec.extra_metadata import SCHEMA_KEY
from pyhudi.spec.files.file_group import FileGroupId, FileSlice
from pyhudi.spec.instant import Action

#: What the metadata table does at times of its own; a rollback may have the time of the data table's.
_SERVICES = (Action.COMMIT, Action.CLEAN, Action.COMPACTION, Action.LOG_COMPACTION)


def write_changes(
    mdt: MetadataWriterTable, instant: str, changes: Mapping[str, PartitionChanges], inflight: Collection[str] = ()
) -> MetadataWriterTable:
    """Commit the changes of an action of the data table, by partition of the metadata table, and return the metadata table with them.

    Partitions that are `inflight` are being built.

    Raises:
        CorruptTableError: one of the partitions has no file groups, or a service of the metadata table took the time.
        StorageError: the storage failed; nothing of the commit is visible.
    """
    if taken := [one for one in mdt.timeline.find(instant) if one.action in _SERVICES]:
        raise CorruptTableError(
            f"{taken[0].action} {instant} of the metadata table {mdt.storage.uri} has the time of an action of its data table:"
            " the clock of a writer was behind"
        )
    requested = mdt.writer.request(Action.DELTA_COMMIT, instant)
    begun = mdt.writer.start(requested)
    groups = {name: create_file_groups(mdt, name, instant) if name in inflight else _slices(mdt, name) for name in changes}
    stats = {name: _write_partition(mdt, instant, name, groups[name], change) for name, change in changes.items()}
    metadata = CommitMetadata(
        stats={partition: written for partition, written in stats.items() if written},
        extra_metadata={SCHEMA_KEY: mdt.encoder.schema},
        operation="UPSERT_PREPPED",
    )
    content = commit_content(metadata, mdt.config.layout, sync=mdt.sources.sync_marker())
    return mdt.with_instant(mdt.writer.complete(begun, mdt.next_time(instant), content))


def _slices(mdt: MetadataWriterTable, partition: str) -> Mapping[str, FileSlice]:
    return {slice_.group.file_id: slice_ for slice_ in mdt.slices(partition)}


def _write_partition(
    mdt: MetadataWriterTable, instant: str, partition: str, slices: Mapping[str, FileSlice], changes: PartitionChanges
) -> tuple[WriteStat, ...]:
    if not slices and not isinstance(changes, ChangesByPartition):
        raise CorruptTableError(f"the partition {partition} of the metadata table {mdt.storage.uri} has no files")
    numbers = {file_id: number for number, file_id in enumerate(slices)}
    written = []
    for file_id, change in changes.by_group(tuple(slices)).items():
        slice_ = slices.get(file_id)
        stage = 0 if slice_ is not None else 1  # another name than that of the log file which begins a file group
        if slice_ is None:
            write_initial_log(mdt, partition, file_id, instant)
            slice_ = FileSlice(FileGroupId(partition, file_id), instant, None)
        token = f"{numbers.setdefault(file_id, len(numbers))}-{stage}-0"
        written.append(write_log(mdt, slice_, instant, token, change))
    return tuple(written)
