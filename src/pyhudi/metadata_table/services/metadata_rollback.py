"""Rolling back what an action of the data table wrote to the metadata table, when that action is rolled back.

Rules: `HoodieBackedTableMetadataWriter.update(HoodieRollbackMetadata)`, `HoodieBackedTableMetadataWriterTableVersionSix`;
docs/format/metadata-table.md#what-each-action-records. The instant goes, which no reader has seen: the data table never completed it. So do
its log files; those of version 6 stay, as in the data table: a block in the next log file of the slice rolls back what is in them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from pyhudi.codec.actions.rollback_codec import encode_rollback_metadata, encode_rollback_plan
from pyhudi.codec.log.log_file import scan_blocks
from pyhudi.errors import CorruptTableError
from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.kernels.log_file.rollback_blocks import append_rollback_blocks, instants_in
from pyhudi.metadata_table.format.metadata_partitions import FILES
from pyhudi.metadata_table.indexes.files_kind import files_of_rollback
from pyhudi.metadata_table.read.instant_times import rollback_time
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.metadata_table.write.metadata_commit import write_changes
from pyhudi.spec.actions.rollback import InstantInfo, RollbackMetadata, RollbackPartition, RollbackPlan, RollbackRequest
from pyhudi.spec.files.file_group import LogFile, join_path
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import instant_path


def roll_back_with(mdt: MetadataWriterTable, storage: Storage, done: RollbackMetadata) -> MetadataWriterTable:
    """Roll back the delta commit of an action that the data table on `storage` rolls back, and return the metadata table as it is then.

    In version 6 a rollback leaves log files, and makes new ones, which are listed from then on. It may be repeated after a cut.

    Raises:
        CorruptTableError: as in `roll_back`.
    """
    if mdt.config.layout == 1:
        mdt = _list_logs(mdt, storage, done)
    return roll_back(mdt, done.commits[0], done.start)


def roll_back(mdt: MetadataWriterTable, failed: str, reason: str = "") -> MetadataWriterTable:
    """Roll back the delta commit of a failed action and return the metadata table as it is then.

    Nothing happens when there is none. It may be repeated after a cut. `reason` is the time of the data table's rollback, if there is one.

    Raises:
        CorruptTableError: a compaction has put its records into base files, so that they cannot be rolled back.
    """
    ours = [instant for instant in mdt.timeline.find(failed) if instant.action is Action.DELTA_COMMIT]
    at = rollback_time(mdt, failed, reason)
    begun = next((instant for instant in mdt.timeline.find(at) if instant.action is Action.ROLLBACK), None)
    if not ours and (begun is None or begun.is_completed):
        return mdt
    _refuse_compacted(mdt, failed, completed=any(instant.is_completed for instant in ours))
    started = time.perf_counter()
    info = InstantInfo(failed, Action.DELTA_COMMIT.value)
    requests = tuple(_of_files(mdt, failed) if mdt.config.layout > 1 else _of_blocks(mdt, failed))
    if begun is None:
        plan = encode_rollback_plan(RollbackPlan(info, requests), sync=mdt.sources.sync_marker())
        begun = mdt.writer.request(Action.ROLLBACK, at, plan)
    if begun.state is State.REQUESTED:
        begun = mdt.writer.start(begun)
    partitions: dict[str, RollbackPartition] = {}
    for request in requests:
        known = partitions.get(request.partition_path, RollbackPartition(request.partition_path))
        partitions[request.partition_path] = _execute_request(mdt, at, failed, request, known)
    for instant in ours:
        _forget(mdt, instant)
    metadata = RollbackMetadata(
        start=at,
        time_taken_ms=int((time.perf_counter() - started) * 1000),
        files_deleted=sum(len(request.files_to_delete) for request in requests),
        commits=(failed,),
        partitions=partitions,
        instants=(info,),
    )
    mdt.writer.complete(begun, mdt.next_time(at), encode_rollback_metadata(metadata, sync=mdt.sources.sync_marker()))
    return mdt.reload()


def _list_logs(mdt: MetadataWriterTable, storage: Storage, done: RollbackMetadata) -> MetadataWriterTable:
    """List the log files of a rollback of the data table: those by which it rolls back, and those that it leaves."""
    known = [instant for instant in mdt.timeline.find(done.start) if instant.action is Action.DELTA_COMMIT]
    changes = files_of_rollback(storage, done)
    if any(instant.is_completed for instant in known) or not changes.records:
        return mdt
    if known:
        mdt = roll_back(mdt, done.start)
    write_changes(mdt, done.start, {FILES: changes})
    return mdt.reload()


def _refuse_compacted(mdt: MetadataWriterTable, failed: str, *, completed: bool) -> None:
    """Refuse what was put into a base file, or into a log file together with others."""
    done = None if not completed else failed if mdt.config.layout == 1 else mdt.timeline.completion_time(failed)
    for instant in mdt.timeline.completed():
        if done is not None and instant.action is Action.COMMIT and instant.requested >= done:
            raise _already_compacted_error(mdt, failed, instant.requested)
    for log in _joined_logs(mdt):
        with mdt.storage.open_input(log.path) as source:
            replaced = (block.header for block in scan_blocks(source, log.path, log.size))
            match = next((header.instant for header in replaced if failed in header.replaces), None)
        if match is not None:
            raise _already_compacted_error(mdt, failed, match)


def _already_compacted_error(mdt: MetadataWriterTable, failed: str, compaction: str) -> CorruptTableError:
    return CorruptTableError(
        f"{failed} cannot be rolled back: the metadata table {mdt.storage.uri} was compacted at {compaction} with its records. Delete the "
        "metadata table (drop its partitions from hoodie.properties); it is rebuilt"
    )


def _joined_logs(mdt: MetadataWriterTable) -> Iterator[LogFile]:
    """Yield the log files that a log compaction may have written."""
    if mdt.timeline.log_compactions:
        for partition, _ in walk_partitions(mdt.storage):
            logs = (log for slice_ in mdt.slices(partition) for log in slice_.logs)
            yield from (log for log in logs if mdt.config.layout == 1 or log.name.instant in mdt.timeline.log_compactions)


def _of_files(mdt: MetadataWriterTable, failed: str) -> Iterator[RollbackRequest]:
    """Yield what to delete: log files with the failed instant's time in their names."""
    for partition, listing in walk_partitions(mdt.storage):
        for name in sorted(status.name for status in listing):
            parsed = parse_log_file_name(name)
            if parsed is not None and parsed.instant == failed:
                path = _absolute(mdt, partition, name)
                yield RollbackRequest(partition, parsed.file_id, latest_base_instant=failed, files_to_delete=(path,))


def _of_blocks(mdt: MetadataWriterTable, failed: str) -> Iterator[RollbackRequest]:
    """Yield what to roll back in log files that stay: those of slices with blocks of the failed instant, whole or cut off."""
    for partition, _ in walk_partitions(mdt.storage):
        for slice_ in mdt.slices(partition):
            matches = {log for log in slice_.logs if not {failed, None}.isdisjoint(instants_in(mdt.storage, log.path, log.size))}
            if matches:
                sizes = {str(log.name): log.size for log in slice_.logs if log in matches}
                yield RollbackRequest(partition, slice_.group.file_id, latest_base_instant=slice_.base_instant, log_blocks_to_delete=sizes)


def _execute_request(
    mdt: MetadataWriterTable, at: str, failed: str, request: RollbackRequest, known: RollbackPartition
) -> RollbackPartition:
    """Do what a request says, and return what was done in its partition by now."""
    partition, deleted = request.partition_path, request.files_to_delete
    for path in deleted:
        mdt.storage.delete(join_path(partition, path.rpartition("/")[2]))
    if not request.log_blocks_to_delete:
        return RollbackPartition(partition, deleted=(*known.deleted, *deleted))
    written = append_rollback_blocks(mdt.storage, at, failed, partition, request.file_id or "", request.latest_base_instant or "")
    return RollbackPartition(
        partition,
        rollback_log_files={**(known.rollback_log_files or {}), f"{mdt.storage.uri}/{written.path}": written.size},
        failed_log_files={**(known.failed_log_files or {}), **request.log_blocks_to_delete},
    )


def _absolute(mdt: MetadataWriterTable, partition: str, name: str) -> str:
    return f"{mdt.storage.uri}/{partition}/{name}"


def _forget(mdt: MetadataWriterTable, instant: Instant) -> None:
    """Delete an instant's files, the completed one first: what is left is pending, and taken for failed."""
    if instant.is_completed:
        mdt.storage.delete(instant_path(mdt.config, instant))
    mdt.writer.remove(Instant(instant.requested, instant.action, State.INFLIGHT))
