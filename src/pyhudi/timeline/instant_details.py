"""What instants say: their files read and decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from pyhudi.codec.actions.action_files import check_not_empty, decode
from pyhudi.codec.actions.commit_metadata import decode_commit, decode_extra_metadata, decode_written_paths
from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.moved_timeline import InstantMovedError, TimelineMovedError, moved_path, raise_if_moved
from pyhudi.timeline.timeline import Timeline

_Payload = TypeVar("_Payload")
#: No action file is longer: a commit of a million files stays below.
MAX_ACTION_FILE_BYTES = 1 << 30


def instant_path(config: TableConfig, instant: Instant) -> str:
    """Return the path of an instant's file, relative to the table's base."""
    return f"{config.timeline_path}/{instant.file_name(config.layout)}"


def read_bytes(storage: Storage, config: TableConfig, instant: Instant) -> bytes:
    """Return the content of an instant's file.

    Raises:
        FileNotFoundError: there is no such file; it may have been archived or rolled back since the timeline was
        loaded.
    """
    return storage.read(instant_path(config, instant), max_bytes=MAX_ACTION_FILE_BYTES)


def read_commit(storage: Storage, config: TableConfig, instant: Instant) -> CommitMetadata:
    """Return the metadata of a commit, deltacommit or replacecommit; an empty file of a pending one means empty metadata.

    Raises:
        CorruptTableError: the bytes are no commit metadata, or the file of a completed instant is empty.
        FileNotFoundError: there is no such file.
    """
    return decode_commit_of(storage, config, instant, read_bytes(storage, config, instant))


def read_details(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> bytes:
    """Return what an instant of a timeline says, from the archive when it is there by now, or where an upgrade has moved it.

    Raises:
        FileNotFoundError: there is no such file, and the archive is not known or does not hold the instant; an `InstantMovedError` where
            the table became another one since its properties were read.
    """
    try:
        return read_bytes(storage, config, instant)
    except FileNotFoundError:
        path = moved_path(storage, config, instant)
        if path is not None:
            return storage.read(path, max_bytes=MAX_ACTION_FILE_BYTES)
        try:
            if timeline.archive is None:
                raise
            return timeline.archive.content(instant)
        except FileNotFoundError:
            _raise_if_moved(storage, config)
            raise


def _raise_if_moved(storage: Storage, config: TableConfig) -> None:
    try:
        raise_if_moved(storage, config)
    except TimelineMovedError as error:
        raise InstantMovedError(str(error)) from None


def load_commit_metadata(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> CommitMetadata:
    """Return the metadata of a completed commit, deltacommit or replacecommit; errors as in `read_details` and `read_commit`."""
    return decode_commit_of(storage, config, instant, read_details(storage, config, timeline, instant))


def load_written_paths(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> CommitMetadata:
    """Return the same as far as `decode_written_paths` does."""
    content = read_details(storage, config, timeline, instant)
    return _decode_details(storage, config, instant, content, partial(_not_empty, instant, decode_written_paths))


def load_extra_metadata(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> Mapping[str, str]:
    """Return the extra metadata of a completed commit alone; errors as in `load_commit_metadata`, of what is decoded."""
    content = read_details(storage, config, timeline, instant)
    return _decode_details(storage, config, instant, content, partial(_not_empty, instant, decode_extra_metadata))


def decode_commit_of(storage: Storage, config: TableConfig, instant: Instant, data: bytes) -> CommitMetadata:
    """Return the metadata in the file of a commit, deltacommit or replacecommit; errors as in `read_commit`."""
    return _decode_details(storage, config, instant, data, partial(_not_empty, instant, decode_commit))


def find_commit_metadata(storage: Storage, config: TableConfig, timeline: Timeline, requested: str) -> CommitMetadata | None:
    """Return the metadata of the completed write of a requested time, archived or not; None when unknown. Errors as above."""
    match = timeline.find(requested)
    if not match and timeline.archive is not None and timeline.is_committed(requested):
        match = timeline.archive.find(requested)
    done = next((one for one in match if one.is_completed and one.action.writes_data), None)
    return None if done is None else load_commit_metadata(storage, config, timeline, done)


def read_action(storage: Storage, config: TableConfig, instant: Instant) -> object:
    """Return the payload of any action's file, as the value of `pyhudi.spec` that belongs to its action and state.

    Raises:
        CorruptTableError: the bytes are not what such a file holds.
        FileNotFoundError: there is no such file.
    """
    return decode_action_of(storage, config, instant, read_bytes(storage, config, instant))


def decode_action_of(storage: Storage, config: TableConfig, instant: Instant, data: bytes) -> object:
    """Return the payload in the file of any action; errors as in `read_action`."""
    return _decode_details(storage, config, instant, data, partial(decode, instant.action, instant.state))


def load_action_metadata(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant) -> object:
    """Return the same of an instant of a timeline; errors as in `read_details` and `read_action`."""
    return decode_action_of(storage, config, instant, read_details(storage, config, timeline, instant))


def _not_empty(instant: Instant, how: Callable[[bytes], _Payload], data: bytes) -> _Payload:
    check_not_empty(instant.action, instant.state, data)
    return how(data)


def _decode_details(storage: Storage, config: TableConfig, instant: Instant, data: bytes, how: Callable[[bytes], _Payload]) -> _Payload:
    try:
        return how(data)
    except CorruptTableError as error:
        raise CorruptTableError(f"file '{instant_path(config, instant)}' of table {storage.uri}: {error}") from error
