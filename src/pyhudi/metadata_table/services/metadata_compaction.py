"""Compaction of the metadata table: its log files become base files, once there have been enough delta commits.

Rules: `HoodieBackedTableMetadataWriter.compactIfNecessary`; docs/format/metadata-table.md#services-of-the-metadata-table. All slices with
log files are in one plan. The data table's lock is held, so that no process writes meanwhile. A run that was cut off is thrown away and
planned again: its files were never seen, and log files of version 8 and later do not name the base file they lie on. Those of version 6
do; there it also waits for actions of the data table that began before the last delta commit, as Apache Hudi does.
"""

from __future__ import annotations

from collections.abc import Collection

from pyhudi.codec.actions.commit_metadata import commit_content
from pyhudi.codec.actions.plan_codec import encode_compaction_plan
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import CorruptTableError
from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.kernels.log_file.rollback_blocks import instants_in
from pyhudi.metadata_table.read.instant_times import Service, delta_commits_since, last_delta_commit, service_time
from pyhudi.metadata_table.read.slice_reader import SliceReader
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.metadata_table.write.hfile_base_writer import rewrite_base
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat, stats_by_partition
from pyhudi.spec.actions.compaction import CompactionPlan, operation_of
from pyhudi.spec.extra_metadata import SCHEMA_KEY
from pyhudi.spec.files.file_group import FileSlice, join_path
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant
from pyhudi.storage.storage_protocol import FileStatus
from pyhudi.timeline.timeline import Timeline

#: `hoodie.metadata.compact.max.delta.commits`
MAX_DELTA_COMMITS = 10
#: What Hudi's plans take for the size of a base file that does not exist yet.
EXPECTED_BASE_BYTES = 120 << 20
#: Small slices are done before threads have begun.
LARGE_BYTES = 8 << 20


def compact_if_due(
    mdt: MetadataWriterTable, max_delta_commits: int = MAX_DELTA_COMMITS, inflight: Collection[str] = ()
) -> MetadataWriterTable:
    """Compact the metadata table if so many delta commits were made since the last time, and return it as it is then.

    The data table must have no action under way that is recorded already: it could not be rolled back any more. Partitions that are being
    built stay out: a base file of what writers told them would hide the one that is being written.

    Raises:
        CorruptTableError: as in `roll_back_compactions`.
    """
    mdt = roll_back_compactions(mdt)
    return _compact(mdt, inflight) if delta_commits(mdt) >= max_delta_commits else mdt


def roll_back_compactions(mdt: MetadataWriterTable) -> MetadataWriterTable:
    """Throw away compactions and log compactions that were cut off, and return the metadata table as it is then.

    Raises:
        CorruptTableError: log files of version 6 lie on top of one; only a metadata table rebuilt helps.
    """
    for instant in mdt.timeline.pending():
        if instant.action in (Action.COMPACTION, Action.LOG_COMPACTION):
            _throw_away(mdt, instant)
            mdt = mdt.reload()
    return mdt


def delta_commits(mdt: MetadataWriterTable) -> int:
    """Return how many delta commits were completed since the last compaction began: the log files on top of its files."""
    return delta_commits_since(mdt, last_compaction(mdt))


def last_compaction(mdt: MetadataWriterTable) -> str:
    """Return when the last completed compaction began, `""` when there is none."""
    return max((instant.requested for instant in mdt.timeline.completed() if instant.action is Action.COMMIT), default="")


def may_compact(mdt: MetadataWriterTable, data: Timeline) -> bool:
    """Tell whether the state of the data table lets the metadata table be compacted."""
    return mdt.config.layout > 1 or not any(instant.requested <= last_delta_commit(mdt) for instant in data.pending())


def compact_partitions(mdt: MetadataWriterTable, names: Collection[str]) -> MetadataWriterTable:
    """Compact some partitions of the metadata table, and return it as it is then.

    Raises:
        CorruptTableError: as in `roll_back_compactions`.
    """
    return _compact_slices(roll_back_compactions(mdt), names)


def _compact(mdt: MetadataWriterTable, inflight: Collection[str]) -> MetadataWriterTable:
    return _compact_slices(mdt, [partition for partition, _ in walk_partitions(mdt.storage) if partition not in inflight])


def _compact_slices(mdt: MetadataWriterTable, partitions: Collection[str]) -> MetadataWriterTable:
    slices = [slice_ for partition in partitions for slice_ in mdt.slices(partition) if slice_.logs]
    plan = CompactionPlan(
        tuple(operation_of(slice_, EXPECTED_BASE_BYTES) for slice_ in slices),
        extra_metadata={},
        preserve_meta_columns=False,
        missing_partitions=(),
    )
    time = service_time(mdt, Service.COMPACTION)
    requested = mdt.writer.request(Action.COMPACTION, time, encode_compaction_plan(plan, sync=mdt.sources.sync_marker()))
    begun = mdt.writer.start(requested)
    is_large = sum(file.size for slice_ in slices for file in (slice_.base, *slice_.logs) if file is not None) > LARGE_BYTES
    engine = LocalEngine() if is_large else LocalEngine(threads=1)
    written = engine.run(lambda one: _compact_slice(mdt, one[1], time, f"{one[0]}-0-0"), list(enumerate(slices)))
    metadata = CommitMetadata(
        stats=stats_by_partition(written), extra_metadata={SCHEMA_KEY: mdt.encoder.schema}, operation=Operation.COMPACT, compacted=True
    )
    content = commit_content(metadata, mdt.config.layout, sync=mdt.sources.sync_marker())
    mdt.writer.complete(begun, mdt.next_time(time), content)
    return mdt.reload()


def _compact_slice(mdt: MetadataWriterTable, slice_: FileSlice, instant: str, token: str) -> WriteStat:
    with SliceReader(mdt.storage, slice_, mdt.timeline).rewrite(mdt.encoder) as rewrite:
        return rewrite_base(mdt, slice_.group.partition_path, slice_.group.file_id, instant, token, rewrite)


def _throw_away(mdt: MetadataWriterTable, instant: Instant) -> None:
    """Delete what a compaction or log compaction wrote that is not complete, then its instant."""
    for partition, listing in walk_partitions(mdt.storage):
        for status in listing:
            if _wrote(mdt, instant, status):
                mdt.storage.delete(join_path(partition, status.name))
    mdt.writer.remove(instant)


def _wrote(mdt: MetadataWriterTable, instant: Instant, status: FileStatus) -> bool:
    base, log = parse_base_file_name(status.name), parse_log_file_name(status.name)
    if log is None or mdt.config.layout > 1:
        name = base or log
        return name is not None and name.instant == instant.requested
    if log.instant == instant.requested:
        raise CorruptTableError(f"compaction {instant.requested} of {mdt.storage.uri} was cut off; '{status.path}' is on top of it")
    return instant.action is Action.LOG_COMPACTION and instants_in(mdt.storage, status.path, status.size) == {instant.requested}
