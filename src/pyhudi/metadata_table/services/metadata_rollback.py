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


def roll_back_with(own: MetadataWriterTable, storage: Storage, done: RollbackMetadata) -> MetadataWriterTable:
    """Roll back the delta commit of an action that the data table on `storage` rolls back, and return the metadata table as it is then.

    In version 6 a rollback leaves log files, and makes new ones, which are listed from then on. It may be repeated after a cut.

    Raises:
        CorruptTableError: as of `roll_back`.
    """
    if own.config.layout == 1:
        own = _list_logs(own, storage, done)
    return roll_back(own, done.commits[0], done.start)


def roll_back(own: MetadataWriterTable, failed: str, reason: str = "") -> MetadataWriterTable:
    """Roll back the delta commit of a failed action and return the metadata table as it is then.

    Nothing happens when there is none. It may be repeated after a cut. `reason` is the time of the data table's rollback, if there is one.

    Raises:
        CorruptTableError: a compaction has put its records into base files, so that they cannot be rolled back.
    """
    ours = [instant for instant in own.timeline.find(failed) if instant.action is Action.DELTA_COMMIT]
    at = rollback_time(own, failed, reason)
    begun = next((instant for instant in own.timeline.find(at) if instant.action is Action.ROLLBACK), None)
    if not ours and (begun is None or begun.is_completed):
        return own
    _refuse_compacted(own, failed, completed=any(instant.is_completed for instant in ours))
    started = time.perf_counter()
    info = InstantInfo(failed, Action.DELTA_COMMIT.value)
    requests = tuple(_of_files(own, failed) if own.config.layout > 1 else _of_blocks(own, failed))
    if begun is None:
        plan = encode_rollback_plan(RollbackPlan(info, requests), sync=own.sources.sync_marker())
        begun = own.writer.request(Action.ROLLBACK, at, plan)
    if begun.state is State.REQUESTED:
        begun = own.writer.start(begun)
    partitions: dict[str, RollbackPartition] = {}
    for request in requests:
        known = partitions.get(request.partition_path, RollbackPartition(request.partition_path))
        partitions[request.partition_path] = _carried_out(own, at, failed, request, known)
    for instant in ours:
        _forget(own, instant)
    metadata = RollbackMetadata(
        start=at,
        time_taken_ms=int((time.perf_counter() - started) * 1000),
        files_deleted=sum(len(request.files_to_delete) for request in requests),
        commits=(failed,),
        partitions=partitions,
        instants=(info,),
    )
    own.writer.complete(begun, own.next_time(at), encode_rollback_metadata(metadata, sync=own.sources.sync_marker()))
    return own.reloaded()


def _list_logs(own: MetadataWriterTable, storage: Storage, done: RollbackMetadata) -> MetadataWriterTable:
    """List the log files of a rollback of the data table: those by which it rolls back, and those that it leaves."""
    known = [instant for instant in own.timeline.find(done.start) if instant.action is Action.DELTA_COMMIT]
    changes = files_of_rollback(storage, done)
    if any(instant.is_completed for instant in known) or not changes.records:
        return own
    if known:
        own = roll_back(own, done.start)
    write_changes(own, done.start, {FILES: changes})
    return own.reloaded()


def _refuse_compacted(own: MetadataWriterTable, failed: str, *, completed: bool) -> None:
    """Refuse what was put into a base file, or into a log file together with others."""
    done = None if not completed else failed if own.config.layout == 1 else own.timeline.completion_time(failed)
    for instant in own.timeline.completed():
        if done is not None and instant.action is Action.COMMIT and instant.requested >= done:
            raise _too_late(own, failed, instant.requested)
    for log in _joined_logs(own):
        with own.storage.open_input(log.path) as source:
            replaced = (block.header for block in scan_blocks(source, log.path, log.size))
            match = next((header.instant for header in replaced if failed in header.replaces), None)
        if match is not None:
            raise _too_late(own, failed, match)


def _too_late(own: MetadataWriterTable, failed: str, compaction: str) -> CorruptTableError:
    return CorruptTableError(
        f"{failed} cannot be rolled back: the metadata table {own.storage.uri} was compacted at {compaction} with its records. Delete the "
        "metadata table (drop its partitions from hoodie.properties); it is built anew"
    )


def _joined_logs(own: MetadataWriterTable) -> Iterator[LogFile]:
    """Yield the log files that a log compaction may have written."""
    if own.timeline.log_compactions:
        for partition, _ in walk_partitions(own.storage):
            logs = (log for slice_ in own.slices(partition) for log in slice_.logs)
            yield from (log for log in logs if own.config.layout == 1 or log.name.instant in own.timeline.log_compactions)


def _of_files(own: MetadataWriterTable, failed: str) -> Iterator[RollbackRequest]:
    """Yield what to delete: log files with the failed instant's time in their names."""
    for partition, listing in walk_partitions(own.storage):
        for name in sorted(status.name for status in listing):
            parsed = parse_log_file_name(name)
            if parsed is not None and parsed.instant == failed:
                path = _absolute(own, partition, name)
                yield RollbackRequest(partition, parsed.file_id, latest_base_instant=failed, files_to_delete=(path,))


def _of_blocks(own: MetadataWriterTable, failed: str) -> Iterator[RollbackRequest]:
    """Yield what to roll back in log files that stay: those of slices with blocks of the failed instant, whole or cut off."""
    for partition, _ in walk_partitions(own.storage):
        for slice_ in own.slices(partition):
            matches = {log for log in slice_.logs if not {failed, None}.isdisjoint(instants_in(own.storage, log.path, log.size))}
            if matches:
                sizes = {str(log.name): log.size for log in slice_.logs if log in matches}
                yield RollbackRequest(partition, slice_.group.file_id, latest_base_instant=slice_.base_instant, log_blocks_to_delete=sizes)


def _carried_out(own: MetadataWriterTable, at: str, failed: str, request: RollbackRequest, known: RollbackPartition) -> RollbackPartition:
    """Do what a request says, and return what was done in its partition by now."""
    partition, deleted = request.partition_path, request.files_to_delete
    for path in deleted:
        own.storage.delete(join_path(partition, path.rpartition("/")[2]))
    if not request.log_blocks_to_delete:
        return RollbackPartition(partition, deleted=(*known.deleted, *deleted))
    written = append_rollback_blocks(own.storage, at, failed, partition, request.file_id or "", request.latest_base_instant or "")
    return RollbackPartition(
        partition,
        rollback_log_files={**(known.rollback_log_files or {}), f"{own.storage.uri}/{written.path}": written.size},
        failed_log_files={**(known.failed_log_files or {}), **request.log_blocks_to_delete},
    )


def _absolute(own: MetadataWriterTable, partition: str, name: str) -> str:
    return f"{own.storage.uri}/{partition}/{name}"


def _forget(own: MetadataWriterTable, instant: Instant) -> None:
    """Delete an instant's files, the completed one first: what is left is pending, and taken for failed."""
    if instant.is_completed:
        own.storage.delete(instant_path(own.config, instant))
    own.writer.remove(Instant(instant.requested, instant.action, State.INFLIGHT))
