"""The active timeline in the other layout: which files it has there, and what they hold.

Rules: `SevenToEightUpgradeHandler`, `EightToSevenDowngradeHandler`. Commits, delta commits and replace commits are JSON in layout 1 and
Avro in layout 2, in every state but that of a requested replace commit, which is a plan. A requested commit is written empty, and holds an
empty record once Apache Hudi has upgraded the table. Completed names of layout 2 hold a completion time, for which layout 1 has the time of
the file's last change; clusterings are replace commits in layout 1. All other files keep their bytes. Files of the other layout are written
next to those that are there, whose bytes are not touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyhudi.codec.actions.commit_metadata import commit_content, decode_commit
from pyhudi.errors import CorruptTableError
from pyhudi.service.upgrade.completion_times import time_of_file
from pyhudi.spec.instant import Action, Instant, State, parse_instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import FileStatus
from pyhudi.timeline.clock import instant_millis
from pyhudi.timeline.instant_details import instant_path, read_bytes
from pyhudi.timeline.pending_clustering import clustering_plan
from pyhudi.txn.locked_table import LockedTable

_WITH_METADATA = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT})


@dataclass(frozen=True, slots=True)
class StateFile:
    """One file of an active timeline: the instant in its state, and where the file is."""

    instant: Instant
    status: FileStatus


def state_files(table: LockedTable) -> tuple[StateFile, ...]:
    """Return the files of a table's active timeline; a second completion of the same action is left out."""
    listing = (status for status in table.storage.list(table.config.timeline_path) if not status.is_dir)
    parsed = ((parse_instant(status.name, table.config.layout), status) for status in listing)
    repeated = set(table.timeline.repeated)
    return tuple(StateFile(instant, status) for instant, status in parsed if instant is not None and instant not in repeated)


def known_completions(table: LockedTable, files: Sequence[StateFile]) -> Iterator[tuple[Instant, str | None]]:
    """Yield the completed instants of a timeline, each with the time at which it completed: in layout 1 that of the file's last change."""
    for file in files:
        if file.instant.is_completed:
            yield file.instant, file.instant.completed or time_of_file(file.status.modified_ms, table.config.timeline_zone)


def write_converted(table: LockedTable, files: Sequence[StateFile], target: TableConfig, times: Mapping[tuple[str, Action], str]) -> None:
    """Write the files of an active timeline in the layout of `target`, where no file of that layout is.

    Args:
        table: the table, locked.
        files: its timeline's files, as `state_files` returns them.
        target: the properties that the table is to have.
        times: the completion times of completed instants.

    Raises:
        CorruptTableError: a completed file does not hold what it should.
        StorageError: the storage failed; what was written is of no effect.
    """
    clusterings = _clusterings(table, files) if target.layout > 1 else frozenset()
    for file in files:
        instant = file.instant
        completed = times.get((instant.requested, instant.action)) if instant.is_completed else None
        content = _content(table, instant, target.layout)
        converted = _in_layout(instant, target.layout, completed, is_clustering=instant.requested in clusterings)
        path = instant_path(target, converted)
        table.storage.create(path, content)
        if target.layout == 1 and completed is not None:
            table.storage.set_modified(path, instant_millis(completed, target.timeline_zone))


def _in_layout(instant: Instant, layout: int, completed: str | None, *, is_clustering: bool) -> Instant:
    if instant.is_completed:
        return replace(instant, completed=completed if layout > 1 else None)
    return replace(instant, action=Action.CLUSTERING) if is_clustering and instant.action is Action.REPLACE_COMMIT else instant


def _clusterings(table: LockedTable, files: Sequence[StateFile]) -> frozenset[str]:
    """Return the requested times of the replace commits that are clusterings."""
    replacing = {file.instant for file in files if file.instant.action is Action.REPLACE_COMMIT and file.instant.state is State.REQUESTED}
    return frozenset(one.requested for one in replacing if clustering_plan(table.storage, table.config, one) is not None)


def _content(table: LockedTable, instant: Instant, layout: int) -> bytes:
    data = read_bytes(table.storage, table.config, instant)
    is_plan = instant.action is Action.REPLACE_COMMIT and instant.state is State.REQUESTED
    if instant.action not in _WITH_METADATA or is_plan:
        return data
    if not data:
        if instant.is_completed:
            path = instant_path(table.config, instant)
            raise CorruptTableError(f"file '{path}' of table {table.storage.uri} is empty: it was cut off. Restore it from a copy.")
        return data
    try:
        return commit_content(decode_commit(data), layout, sync=table.ids.sync_marker())
    except CorruptTableError as error:
        if instant.is_completed:
            path = instant_path(table.config, instant)
            raise CorruptTableError(f"file '{path}' of table {table.storage.uri}: {error}") from error
        return data  # nobody reads what a pending file holds
