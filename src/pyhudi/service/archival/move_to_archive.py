"""From the active timeline to the archive: what is archived is deleted only once readers find it there.

Rules: `TimelineArchiverV1`, `TimelineArchiverV2.deleteArchivedActions`, `MetadataConversionUtils.createLSMTimelineInstant`;
docs/format/timeline.md#history-of-layout-2. A run that was cut after the archive had its instants left some of them in both places, where
readers count them once; the next run deletes these first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pyhudi.codec.actions.archived_entry import entry_of_file
from pyhudi.codec.avro.avro_record import Record
from pyhudi.service.archival.archived_restores import archived_action, row_of_restore
from pyhudi.spec.instant import Action, Instant, State, parse_instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.archived_timeline import History
from pyhudi.timeline.archived_timeline_lsm import ArchivedRow
from pyhudi.timeline.instant_details import read_bytes
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.archive_v1_writer import add_to_archive, archived_lately, join_small_files
from pyhudi.timeline_archive.archive_writer import MergeLimits, add_to_history, merge_history
from pyhudi.timeline_archive.full_timeline import read_rows

#: Under which requested time and completed action all states of an instant meet.
_Key: TypeAlias = tuple[str, Action]
_Files: TypeAlias = Mapping[_Key, list[tuple[Instant, str]]]
_WITH_PLAN = frozenset({Action.CLEAN, Action.COMPACTION, Action.LOG_COMPACTION})
_REPLACING = frozenset({Action.REPLACE_COMMIT, Action.CLUSTERING})


def drop_archived(storage: Storage, config: TableConfig, timeline: Timeline) -> bool:
    """Delete the files of active instants that are archived already, and tell whether there were any.

    An instant with the requested time of an archived one that completed at another time is another action: Apache Hudi builds partitions of
    the metadata table at times from the year 0 on, and takes those again that are in the archive.
    """
    active = timeline.completed()
    if not active:
        return False
    if config.layout == 1:
        lately = archived_lately(storage, config)
        both = [one for one in active if (one.requested, archived_action(one.action)) in lately]
    else:
        history = History(storage, config, read_rows).instants(since=active[0].requested)
        archived = {(one.requested, one.action, one.completed) for one in history}
        both = [one for one in active if (one.requested, archived_action(one.action), _completed(timeline, one)) in archived]
    if both:
        _delete(storage, _files(storage, config), both)
    return bool(both)


def move_to_archive(storage: Storage, config: TableConfig, timeline: Timeline, instants: Sequence[Instant], merge: MergeLimits) -> None:
    """Archive completed instants, sorted by requested time; the caller holds the table's lock.

    Raises:
        StorageError: the storage failed. Each instant is on the active timeline, in the archive, or in both.
    """
    files = _files(storage, config)
    if config.layout == 1:
        add_to_archive(storage, config, _entries(storage, config, timeline, files, instants))
        _delete(storage, files, instants)
        join_small_files(storage, config, merge.files)
        return
    in_archive = [one for one in instants if archived_action(one.action) is not None]
    rows = [_row(storage, config, timeline, one, [state for state, _ in files[_key(one)]]) for one in in_archive]
    add_to_history(storage, config, rows)
    _delete(storage, files, instants)
    merge_history(storage, config, merge)


def _entries(storage: Storage, config: TableConfig, timeline: Timeline, files: _Files, instants: Sequence[Instant]) -> Iterator[Record]:
    """Yield an entry for each state file of the instants, in the order in which an instant passes its states."""
    for instant in instants:
        for state, _ in sorted(files[_key(instant)], key=lambda file: file[0].state):
            time = (timeline.completion_time(state.requested) if state.is_completed else None) or state.requested
            yield entry_of_file(state, read_bytes(storage, config, state), time)


def _row(storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant, states: Iterable[Instant]) -> ArchivedRow:
    completed = _completed(timeline, instant)
    if instant.action is Action.RESTORE:
        return row_of_restore(storage, config, instant, completed)
    metadata = read_bytes(storage, config, instant) or None
    return ArchivedRow(instant.requested, completed, instant.action.value, metadata, _plan(storage, config, states))


def _completed(timeline: Timeline, instant: Instant) -> str | None:
    return instant.completed or timeline.completion_time(instant.requested)


def _plan(storage: Storage, config: TableConfig, states: Iterable[Instant]) -> bytes | None:
    """Return what an instant planned: its requested file, of a replacecommit rather the inflight one if that says something."""
    plan = None
    for state in sorted((one for one in states if not one.is_completed), key=lambda one: one.state):
        if state.action in _REPLACING or (state.action in _WITH_PLAN and state.state is State.REQUESTED):
            plan = read_bytes(storage, config, state) or plan
    return plan


def _delete(storage: Storage, files: _Files, instants: Sequence[Instant]) -> None:
    """Delete all state files: the pending ones first, since without its completed file an instant would seem to be under way;
    the completed ones from the oldest on, so that a cut leaves no hole.
    """
    for pending in (True, False):
        for instant in instants:
            for state, path in files[_key(instant)]:
                if pending is not state.is_completed:
                    storage.delete(path)


def _files(storage: Storage, config: TableConfig) -> _Files:
    """Return the state files of all active instants; the table's lock is held, so they stay what they are."""
    result: dict[_Key, list[tuple[Instant, str]]] = {}
    for status in storage.list(config.timeline_path):
        state = None if status.is_dir else parse_instant(status.name, config.layout)
        if state is not None:
            result.setdefault(_key(state), []).append((state, status.path))
    return result


def _key(instant: Instant) -> _Key:
    return instant.requested, instant.comparable_action
