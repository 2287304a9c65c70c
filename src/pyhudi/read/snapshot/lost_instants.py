"""Completed writes that a later commit notes and that the timeline does not have any more: their file was lost.

Writes leave a timeline by archival, oldest first, and by rollbacks and restores, which leave an instant that names them. What left
otherwise is damage: its rows are missing, and the next writer would roll it back and delete them.
"""

from __future__ import annotations

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.restore import RestoreMetadata
from pyhudi.spec.actions.rollback import RollbackMetadata
from pyhudi.spec.committed_instants import noted_instants
from pyhudi.spec.extra_metadata import COMMITTED_KEY
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.archived_v1_timeline import archived_instants
from pyhudi.timeline.instant_details import instant_path, load_action_metadata
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline_archive.full_timeline import read_rows


def check_no_instant_lost(
    storage: Storage, config: TableConfig, timeline: Timeline, instant: Instant, note: str, given_up: frozenset[str]
) -> None:
    """Compare a timeline with the completed writes that one of its commits notes (`pyhudi.spec.committed_instants`).

    Args:
        storage: the table's.
        config: its properties.
        timeline: the table's.
        instant: the commit with the note.
        note: the note.
        given_up: requested times of writes that may be missing.

    Raises:
        CorruptTableError: a completed write is missing, or the note is damaged.
    """
    names = noted_instants(note)
    if names is None:
        raise CorruptTableError(
            f"the extra metadata of '{instant_path(config, instant)}' of table {storage.uri} is damaged: the CRC of '{COMMITTED_KEY}' does"
            " not hold. Restore that file from a copy."
        )
    committed = {one.requested for one in timeline.data_instants()} | timeline.hidden | given_up
    # Whatever is older than the first active write counts as archived.
    start = timeline.archive_boundary or ""
    requested_times = {_requested(name): name for name in names}
    missing = {time: name for time, name in requested_times.items() if time >= start and time not in committed}
    if missing:
        missing = _unexplained(storage, config, timeline, missing)
    if missing:
        time, name = min(missing.items())
        raise CorruptTableError(
            f"'{config.timeline_path}/{name}' of table {storage.uri} is missing: {instant.action} {instant.requested} notes that write as"
            " completed, and it was neither archived nor rolled back. Restore the file from a copy. If there is none and the rows of that"
            f" write are to be given up, {_way_to_give_up(timeline, config, time, name)}table.services.rollback('{time}') deletes them."
        )


def _requested(name: str) -> str:
    return name.partition(".")[0].partition("_")[0]


def _way_to_give_up(timeline: Timeline, config: TableConfig, time: str, name: str) -> str:
    """Return what comes before a rollback where nothing of the write is on the timeline."""
    if timeline.find(time):
        return ""
    return f"create the empty file '{config.timeline_path}/{time}{name[name.index('.') :]}.requested'; then "


def _unexplained(storage: Storage, config: TableConfig, timeline: Timeline, missing: dict[str, str]) -> dict[str, str]:
    """Return those that were neither archived out of order, as behind a savepoint, nor rolled back."""
    known = {one.instant.requested for one in archived_instants(storage, config, read_rows)}
    known.update(_rolled_back(storage, config, timeline.with_archived()))
    return {requested: name for requested, name in missing.items() if requested not in known}


def _rolled_back(storage: Storage, config: TableConfig, timeline: Timeline) -> set[str]:
    result: set[str] = set()
    for instant in timeline.completed(Action.ROLLBACK, Action.RESTORE):
        details = load_action_metadata(storage, config, timeline, instant)
        if isinstance(details, RollbackMetadata):
            result.update(details.commits)
        elif isinstance(details, RestoreMetadata):
            result.update((*details.rolled_back, *(info.time for info in details.instants)))
    return result
