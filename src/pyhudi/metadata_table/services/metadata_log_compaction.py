"""Log compaction of the metadata table: what the log files of a slice say together goes into one, deletes included.

Rules: `HoodieBackedTableMetadataWriter.compactIfNecessary`, `HoodieLogCompactionPlanGenerator`;
docs/format/metadata-table.md#services-of-the-metadata-table. The log files that are joined stay until a compaction and a clean; the blocks
of the new one name the instants that they replace. The data table's lock is held. A run that was cut off is thrown away as a compaction is.

Order. Log files of version 8 and later apply in the order of the times in their names, and an action of the data table that is pending
now may tell of older rows than the newest log file does. So only what comes before the first of these is joined, and the new file has the
time that follows on the newest of its parts: whether a reader puts it in their place or takes it for one more of them, the order is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from pyhudi.codec.actions.commit_metadata import commit_content
from pyhudi.codec.actions.plan_codec import encode_compaction_plan
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.metadata_table.read.instant_times import Service, delta_commits_since, is_built, service_time
from pyhudi.metadata_table.read.slice_reader import SliceReader
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.metadata_table.services.metadata_compaction import EXPECTED_BASE_BYTES, LARGE_BYTES, last_compaction, may_compact
from pyhudi.metadata_table.write.hfile_log_writer import write_joined_log
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat, stats_by_partition
from pyhudi.spec.actions.compaction import LOG_COMPACTION_STRATEGY, CompactionPlan, operation_of
from pyhudi.spec.extra_metadata import SCHEMA_KEY
from pyhudi.spec.files.file_group import FileSlice, LogFile
from pyhudi.spec.instant import Action
from pyhudi.timeline.clock import following
from pyhudi.timeline.timeline import Timeline

_END_OF_TIME = "9" * 17


def log_compact_if_due(mdt: MetadataWriterTable, data: Timeline, blocks: int, inflight: Collection[str] = ()) -> MetadataWriterTable:
    """Join the log files of the slices that have many, and return the metadata table as it is then.

    Args:
        mdt: the metadata table, with nothing pending.
        data: the data table's timeline.
        blocks: delta commits since the last compaction or log compaction from which on it is worth looking, and log files or blocks of a
            slice from which on they are joined.
        inflight: partitions that are being built; they stay as they are.

    Raises:
        CorruptTableError: a log file is damaged or missing.
        StorageError: the storage failed; the metadata table is as good as before.
    """
    if unjoined_delta_commits(mdt) < blocks or not may_compact(mdt, data):
        return mdt
    bound = _first_pending(mdt, data)
    slices = [slice_ for slice_ in _with_logs(mdt, bound, inflight) if _is_worth_it(mdt, slice_, blocks)]
    time = _time(mdt, data, slices, bound)
    return mdt if time is None else _log_compact(mdt, slices, time)


def unjoined_delta_commits(mdt: MetadataWriterTable) -> int:
    """Return how many delta commits were completed since the last compaction began or log compaction was completed."""
    done = (instant for instant in mdt.timeline.completed() if instant.requested in mdt.timeline.log_compactions)
    return delta_commits_since(mdt, max((instant.completed or instant.requested for instant in done), default=last_compaction(mdt)))


def _first_pending(mdt: MetadataWriterTable, data: Timeline) -> str:
    """Return the time of the first action of the data table that is still to be recorded here."""
    recorded = {instant.requested for instant in mdt.timeline.completed()}
    pending = (one.requested for one in data.pending() if one.action is not Action.INDEXING and one.requested not in recorded)
    return min(pending, default=_END_OF_TIME)


def _with_logs(mdt: MetadataWriterTable, bound: str, inflight: Collection[str]) -> Iterator[FileSlice]:
    """Yield the slices with those of their log files that may be joined."""
    partitions = (partition for partition, _ in walk_partitions(mdt.storage) if partition not in inflight)
    for slice_ in (slice_ for partition in partitions for slice_ in mdt.slices(partition)):
        logs = tuple(log for log in slice_.logs if mdt.config.layout == 1 or _comes_before(mdt, log, bound))
        if len(logs) > 1:
            yield replace(slice_, logs=logs)


def _comes_before(mdt: MetadataWriterTable, log: LogFile, bound: str) -> bool:
    """Tell whether a log file comes before a pending action; one that was joined does, whatever its time: its parts did."""
    return log.name.instant < bound or log.name.instant in mdt.timeline.log_compactions


def _is_worth_it(mdt: MetadataWriterTable, slice_: FileSlice, blocks: int) -> bool:
    blocks_of_slice = SliceReader(mdt.storage, slice_, mdt.timeline).blocks()
    parts = {block.header.instant for block in blocks_of_slice}
    return len(parts) > 1 and (len(slice_.logs) >= blocks or len(blocks_of_slice) >= blocks)


def _time(mdt: MetadataWriterTable, data: Timeline, slices: Collection[FileSlice], bound: str) -> str | None:
    """Return the time of the log compaction; None when there is nothing to do, or no time for it now."""
    if mdt.config.layout == 1:
        return service_time(mdt, Service.LOG_COMPACTION) if slices else None
    newest = max((log.name.instant for slice_ in slices for log in slice_.logs), default="")
    if not newest or is_built(newest):
        return None
    time = following(newest)
    return time if time < bound and not mdt.timeline.find(time) and not data.find(time) else None


def _log_compact(mdt: MetadataWriterTable, slices: Collection[FileSlice], time: str) -> MetadataWriterTable:
    plan = CompactionPlan(
        tuple(operation_of(slice_, EXPECTED_BASE_BYTES) for slice_ in slices),
        extra_metadata={},
        strategy=LOG_COMPACTION_STRATEGY,
        preserve_meta_columns=True,
        missing_partitions=(),
    )
    requested = mdt.writer.request(Action.LOG_COMPACTION, time, encode_compaction_plan(plan, sync=mdt.sources.sync_marker()))
    begun = mdt.writer.start(requested)
    is_large = sum(log.size for slice_ in slices for log in slice_.logs) > LARGE_BYTES
    engine = LocalEngine() if is_large else LocalEngine(threads=1)
    written = engine.run(lambda one: _join(mdt, one[1], time, f"{one[0]}-0-0"), list(enumerate(slices)))
    metadata = CommitMetadata(
        stats=stats_by_partition(written), extra_metadata={SCHEMA_KEY: mdt.encoder.schema}, operation=Operation.LOG_COMPACT, compacted=True
    )
    mdt.writer.complete(begun, mdt.next_time(time), commit_content(metadata, mdt.config.layout, sync=mdt.sources.sync_marker()))
    return mdt.reload()


def _join(mdt: MetadataWriterTable, slice_: FileSlice, time: str, token: str) -> WriteStat:
    blocks, joined = SliceReader(mdt.storage, slice_, mdt.timeline).joined()
    return write_joined_log(mdt, slice_, time, token, blocks, joined)
