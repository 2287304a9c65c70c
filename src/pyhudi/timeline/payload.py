"""What instants say: their files read and decoded."""

from __future__ import annotations

from pyhudi.codec.action_files import decode
from pyhudi.codec.commit_metadata import decode_commit
from pyhudi.errors import CorruptTableError
from pyhudi.spec.commit import CommitMetadata
from pyhudi.spec.instant import Instant
from pyhudi.spec.table_config import TableConfig
from pyhudi.storage.protocol import Storage

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
    """Return the metadata of a commit, deltacommit or replacecommit; an empty file means empty metadata.

    Raises:
        CorruptTableError: the bytes are no commit metadata.
        FileNotFoundError: there is no such file.
    """
    data = read_bytes(storage, config, instant)
    try:
        return decode_commit(data)
    except CorruptTableError as error:
        raise _located(storage, config, instant, error) from error


def read_action(storage: Storage, config: TableConfig, instant: Instant) -> object:
    """Return the payload of any action's file, as the value of `pyhudi.spec` that belongs to its action and state.

    Raises:
        CorruptTableError: the bytes are not what such a file holds.
        FileNotFoundError: there is no such file.
    """
    data = read_bytes(storage, config, instant)
    try:
        return decode(instant.action, instant.state, data)
    except CorruptTableError as error:
        raise _located(storage, config, instant, error) from error


def _located(storage: Storage, config: TableConfig, instant: Instant, error: CorruptTableError) -> CorruptTableError:
    return CorruptTableError(f"file '{instant_path(config, instant)}' of table {storage.uri}: {error}")
