"""Taking back what an action of the data table wrote to the metadata table, when that action is rolled back.

Rules: `HoodieBackedTableMetadataWriter.update(HoodieRollbackMetadata)`; format notes (metadata table) 2.4. The rollback
has the time of the data table's rollback. It deletes the log files and the instant, which no reader has seen: the data
table never completed it.
"""

from __future__ import annotations

import time

from pyhudi.codec.rollback import encode_rollback_metadata, encode_rollback_plan
from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.own import OwnTable
from pyhudi.spec.file_group import join_path
from pyhudi.spec.file_names import PARTITION_METAFILE, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.rollback import InstantInfo, RollbackMetadata, RollbackPartition, RollbackPlan, RollbackRequest
from pyhudi.timeline.payload import instant_path


def roll_back(own: OwnTable, rollback_time: str, failed: str) -> OwnTable:
    """Take back the delta commit of a failed action and return the metadata table as it is then.

    Nothing happens when there is none. It may be repeated with the same time after a cut.

    Raises:
        CorruptTableError: a compaction has put its records into base files, so that they cannot be taken back.
    """
    ours = [instant for instant in own.timeline.find(failed) if instant.action is Action.DELTA_COMMIT]
    begun = next((instant for instant in own.timeline.find(rollback_time) if instant.action is Action.ROLLBACK), None)
    if not ours and (begun is None or begun.is_completed):
        return own
    _refuse_compacted(own, failed, completed=any(instant.is_completed for instant in ours))
    started = time.perf_counter()
    files = _log_files(own, failed)
    info = InstantInfo(failed, Action.DELTA_COMMIT.value)
    if begun is None:
        begun = own.writer.request(Action.ROLLBACK, rollback_time, _plan(own, info, files))
    if begun.state is State.REQUESTED:
        begun = own.writer.start(begun)
    for partition, names in files.items():
        for name in names:
            own.storage.delete(join_path(partition, name))
    for instant in ours:
        _forget(own, instant)
    metadata = RollbackMetadata(
        start=rollback_time,
        time_taken_ms=int((time.perf_counter() - started) * 1000),
        files_deleted=sum(map(len, files.values())),
        commits=(failed,),
        partitions={name: RollbackPartition(name, deleted=_absolute(own, name, logs)) for name, logs in files.items()},
        instants=(info,),
    )
    own.writer.complete(begun, own.next_time(rollback_time), encode_rollback_metadata(metadata, sync=own.sources.sync_marker()))
    return own.reloaded()


def _refuse_compacted(own: OwnTable, failed: str, *, completed: bool) -> None:
    done = own.timeline.completion_time(failed) if completed else None
    for instant in own.timeline.completed():
        if done is not None and instant.action is Action.COMMIT and instant.requested >= done:
            raise CorruptTableError(
                f"{failed} cannot be rolled back: the metadata table {own.storage.uri} was compacted at {instant.requested} with its"
                " records. Delete the metadata table (drop its partitions from hoodie.properties); it is built anew"
            )


def _log_files(own: OwnTable, failed: str) -> dict[str, tuple[str, ...]]:
    found = {}
    for folder in own.storage.list(""):
        if folder.is_dir and own.storage.stat(join_path(folder.path, PARTITION_METAFILE)) is not None:
            parsed = ((status.name, parse_log_file_name(status.name)) for status in own.storage.list(folder.path))
            names = tuple(name for name, log in parsed if log is not None and log.instant == failed)
            if names:
                found[folder.path] = names
    return found


def _plan(own: OwnTable, info: InstantInfo, files: dict[str, tuple[str, ...]]) -> bytes:
    requests = tuple(
        RollbackRequest(
            partition_path=partition,
            file_id=parsed.file_id,
            latest_base_instant=info.time,
            files_to_delete=_absolute(own, partition, (name,)),
        )
        for partition, names in files.items()
        for name in names
        if (parsed := parse_log_file_name(name))
    )
    return encode_rollback_plan(RollbackPlan(info, requests), sync=own.sources.sync_marker())


def _absolute(own: OwnTable, partition: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{own.storage.uri}/{partition}/{name}" for name in names)


def _forget(own: OwnTable, instant: Instant) -> None:
    """Delete an instant's files, the completed one first: what is left is pending, and taken for failed."""
    if instant.is_completed:
        own.storage.delete(instant_path(own.config, instant))
    own.writer.remove(Instant(instant.requested, instant.action, State.INFLIGHT))
