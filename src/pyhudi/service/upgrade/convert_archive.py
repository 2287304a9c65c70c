"""The archived timeline in the other layout: Avro blocks of version 6 as rows of the archive of later versions, and back.

Rules: `ArchivedTimelineV1`, `LSMTimelineWriter`, `LegacyArchivedMetaEntryReader`. Only completed instants are archived; the plans of those
that had one go along. Neither conversion deletes anything: the archive of the layout that a table had stays, as Apache Hudi leaves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from pyhudi.codec.actions.archived_entry import content_of_entry, entry_of_file
from pyhudi.codec.actions.archived_v1 import archive_records
from pyhudi.codec.avro.avro_record import Record
from pyhudi.errors import CorruptTableError
from pyhudi.service.upgrade.completion_times import completion_times
from pyhudi.spec.instant import COMPLETED_ACTION, Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.timeline.archived_timeline_lsm import ArchivedRow, archived_rows
from pyhudi.timeline.archived_v1_timeline import MAX_ARCHIVE_FILE_BYTES, archive_files
from pyhudi.timeline_archive.archive_v1_writer import add_to_archive
from pyhudi.timeline_archive.archive_writer import MergeLimits, add_to_history, merge_history
from pyhudi.timeline_archive.full_timeline import read_rows
from pyhudi.txn.locked_table import LockedTable

_Key = tuple[str, Action]

#: Instants of one file of the archive that is written from one of another layout.
_ROWS_OF_FILE: Final = 500
#: The action that a pending file had whose instant completed as another one, by what its plan is.
_PLANNED: Final = {Action.COMMIT: Action.COMPACTION, Action.DELTA_COMMIT: Action.LOG_COMPACTION}


def rows_of_layout_1(table: LockedTable, active: Iterable[tuple[Instant, str | None]]) -> tuple[ArchivedRow, ...]:
    """Return the archived instants of a table of version 6 as rows of a later archive, by requested time.

    Args:
        table: the table, locked.
        active: the completed instants that are active, with what is known of their completion: they are not archived once more, and
            bound the times of those that are.

    Raises:
        CorruptTableError: a file of the archive is damaged.
    """
    active = tuple(active)
    entries = _entries_by_instant(table)
    for instant, _ in active:
        entries.pop((instant.requested, instant.action), None)
    known = [(_completed(key), _time_of(states[State.COMPLETED])) for key, states in entries.items()]
    times = completion_times((*known, *active))
    return tuple(_row(key, entries[key], times[key], table.ids.sync_marker()) for key in sorted(entries))


def write_history(table: LockedTable, target: TableConfig, rows: Sequence[ArchivedRow], limits: MergeLimits) -> None:
    """Write rows into the archive of layout 2, which is empty."""
    for first in range(0, len(rows), _ROWS_OF_FILE):
        add_to_history(table.storage, target, rows[first : first + _ROWS_OF_FILE])
    if rows:
        merge_history(table.storage, target, limits)


def rows_to_archive(table: LockedTable, target: TableConfig) -> tuple[ArchivedRow, ...]:
    """Return the rows of a table's archive of layout 2 that its archive of layout 1, left by an upgrade, does not hold."""
    at_target = replace(table, config=target)
    present = _entries_by_instant(at_target).keys()
    rows = archived_rows(table.storage, table.config, read_rows)
    return tuple(row for row in rows if (row.requested, Action(row.action)) not in present)


def write_archive(table: LockedTable, target: TableConfig, rows: Iterable[ArchivedRow]) -> None:
    """Write rows into the archive of layout 1, after those that it holds."""
    add_to_archive(table.storage, target, (entry for row in rows for entry in _entries(row)))


def _entries_by_instant(table: LockedTable) -> dict[_Key, dict[State, Record]]:
    """Return the entries of the completed instants of an archive of layout 1 by instant and state."""
    matches: dict[_Key, dict[State, Record]] = {}
    for file in archive_files(table.storage, table.config):
        for entry in archive_records(table.storage.read(file.path, max_bytes=MAX_ARCHIVE_FILE_BYTES)):
            action, state = _action_of(table, entry), str(entry.get("actionState") or "COMPLETED").upper()
            key = (str(entry.get("commitTime")), COMPLETED_ACTION.get(action, action))
            if state in State.__members__:
                matches.setdefault(key, {})[State[state]] = entry
    return {key: states for key, states in matches.items() if State.COMPLETED in states}


def _action_of(table: LockedTable, entry: Record) -> Action:
    try:
        return Action(str(entry.get("actionType")))
    except ValueError:
        raise CorruptTableError(
            f"the archive of table {table.storage.uri} names the unknown action '{entry.get('actionType')}' at {entry.get('commitTime')}"
        ) from None


def _completed(key: _Key) -> Instant:
    return Instant(key[0], key[1], State.COMPLETED)


def _time_of(entry: Record) -> str | None:
    time = entry.get("stateTransitionTime")
    return time if isinstance(time, str) and time.isdecimal() else None


def _row(key: _Key, states: Mapping[State, Record], time: str, sync: bytes) -> ArchivedRow:
    metadata = content_of_entry(states[State.COMPLETED], _completed(key), sync=sync)
    plan = None
    for state in (State.REQUESTED, State.INFLIGHT):
        if state in states:
            action = Action(str(states[state].get("actionType")))
            if action not in (Action.COMMIT, Action.DELTA_COMMIT):
                plan = content_of_entry(states[state], Instant(key[0], action, state), sync=sync) or plan
    return ArchivedRow(key[0], time, key[1].value, metadata, plan)


def _entries(row: ArchivedRow) -> Iterator[Record]:
    """Yield the entries of the three state files that an archived instant had."""
    action = Action(row.action)
    planned = _PLANNED.get(action, action) if row.plan else action
    requested = Instant(row.requested, planned, State.REQUESTED)
    yield entry_of_file(requested, row.plan or b"", row.requested)
    yield entry_of_file(Instant(row.requested, planned, State.INFLIGHT), b"", row.requested)
    yield entry_of_file(Instant(row.requested, action, State.COMPLETED), row.metadata or b"", row.completed)
