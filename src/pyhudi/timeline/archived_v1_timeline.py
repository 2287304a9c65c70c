"""Instants that left the active timeline, of either layout, as one kind of value.

Rules: `ArchivedTimelineV1/V2`; docs/format/timeline.md#archived-timeline. Only completed instants are archived. One that is active still
(an archival was cut before it deleted the files) comes from here as well; callers that show both drop it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyhudi.codec.actions.archived_v1 import ARCHIVE_FILE, ArchivedEntry, decode_archive
from pyhudi.codec.actions.commit_metadata import decode_commit
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.instant import Action, Instant, State, parse_instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.timeline.archive_gaps import check_no_gap
from pyhudi.timeline.archived_timeline_lsm import RowReader, archived_rows

#: Hudi rolls its archive files at a small part of this.
MAX_ARCHIVE_FILE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class ArchivedInstant:
    """A completed instant of the archive; `metadata` is there for actions that write data.

    `transition_time` is when the archive of layout 1 says that it was completed, by the clock of the storage: it is only shown.
    """

    instant: Instant
    metadata: CommitMetadata | None = None
    transition_time: str | None = None


def archived_instants(storage: Storage, config: TableConfig, rows: RowReader) -> Iterator[ArchivedInstant]:
    """Yield the archived instants by requested time. `rows` reads Parquet; layout 1 has none.

    Raises:
        CorruptTableError: a file of the archive is damaged, or missing in the midst of others.
        UnsupportedError: it holds an action unknown to table versions 6 to 9.
    """
    return _of_layout_1(storage, config) if config.layout == 1 else _of_layout_2(storage, config, rows)


def _of_layout_2(storage: Storage, config: TableConfig, rows: RowReader) -> Iterator[ArchivedInstant]:
    for row in archived_rows(storage, config, rows):
        instant = Instant(row.requested, _action(storage, row.action), State.COMPLETED, row.completed)
        yield ArchivedInstant(instant, decode_commit(row.metadata or b"") if instant.action.writes_data else None)


def _of_layout_1(storage: Storage, config: TableConfig) -> Iterator[ArchivedInstant]:
    active = _active(storage, config)  # first, so that an instant that is archived meanwhile is in one of the two or in both
    by_key: dict[tuple[str, str], ArchivedInstant] = {}
    writes: dict[str, tuple[str, CommitMetadata]] = {}
    known: set[str] = set()
    files = archive_files(storage, config)
    for file in files:
        for entry in _entries(storage, file):
            if entry.state.upper() == State.COMPLETED.name:
                instant = Instant(entry.requested, _action(storage, entry.action), State.COMPLETED)
                by_key[entry.requested, entry.action] = ArchivedInstant(instant, entry.metadata, entry.transition_time)
                known.update((entry.requested, *entry.rolled_back))
                if entry.metadata is not None:
                    writes[entry.requested] = (file.path, entry.metadata)
    check_no_gap(storage, config, writes, known, active, [file.path for file in files if not file.size])
    for key in sorted(by_key):
        yield by_key[key]


def _entries(storage: Storage, file: FileStatus) -> list[ArchivedEntry]:
    try:
        return list(decode_archive(storage.read(file.path, max_bytes=MAX_ARCHIVE_FILE_BYTES)))
    except CorruptTableError as error:
        raise CorruptTableError(f"'{file.path}' of table {storage.uri} is damaged: {error}") from error


def _active(storage: Storage, config: TableConfig) -> list[Instant]:
    """Return the instants of the timeline's folder, the oldest first: of each action those of all states that it went through."""
    instants = (parse_instant(status.name, config.layout) for status in storage.list(config.timeline_path) if not status.is_dir)
    return sorted((one for one in instants if one is not None), key=lambda one: one.requested)


def archive_files(storage: Storage, config: TableConfig) -> list[FileStatus]:
    """Return the files of the archive of layout 1, the oldest first."""
    return sorted((status for status in storage.list(config.archive_path) if ARCHIVE_FILE.fullmatch(status.name)), key=archive_number)


def archive_number(file: FileStatus) -> int:
    """Return the number in the name of an archive file: a newer file has a greater one."""
    match = ARCHIVE_FILE.fullmatch(file.name)
    assert match is not None, "only archive files are collected"
    return int(match[1])


def _action(storage: Storage, text: str) -> Action:
    try:
        return Action(text)
    except ValueError:
        raise UnsupportedError(f"the archived timeline of table {storage.uri} names the unknown action '{text}'") from None
