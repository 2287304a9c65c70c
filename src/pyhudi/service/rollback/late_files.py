"""Files that a writer wrote after others had rolled its write back: it had been held up for so long that it counted as dead.

It deletes them when it finds out at its commit. A writer that is killed before leaves them, and no commit names them; once later commits
are archived, readers that list folders take them for committed. So they are deleted at the end of the rollback and by the next write, as
far as they have markers, and before commits are archived. Rule: `TimelineArchiverV2.deleteAnyLeftOverMarkers` deletes markers then, and
leaves the files.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator

from pyhudi.service.rollback.rollback_plan import listed_files, may_be_deleted
from pyhudi.spec.actions.rollback import RollbackMetadata
from pyhudi.spec.instant import Action, Instant
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline_archive.full_timeline import load_full_timeline
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import delete_markers, marked_files

_log = logging.getLogger(__name__)


def delete_markers_and_late_files(table: LockedTable, requested: str, deleted: Collection[str] = ()) -> None:
    """Delete the markers of an instant that was rolled back, and the files that they name, but those that are deleted already."""
    marked = marked_files(table.storage, requested)
    if marked is not None:
        _delete(table, requested, (path for path in marked.difference(deleted) if table.storage.stat(path) is not None))
        delete_markers(table.storage, requested)


def delete_late_files(table: LockedTable, archived: Collection[Instant]) -> None:
    """Delete late files before instants are archived: those of instants that were rolled back, and precede the first write that stays.

    They are looked for in the folders that completed rollbacks name. An instant that is on the timeline, or in the archive, was not given
    up: a compaction is run again at its time.

    Raises:
        CorruptTableError: a rollback cannot be read, or there are such files and the archive has a gap.
    """
    staying = (one.requested for one in table.timeline.instants if one.action.writes_data and one not in archived)
    late = [(requested, paths) for requested, paths in _late_files(table, min(staying, default=None)) if paths]
    if not late:
        return
    known = {one.requested for one in load_full_timeline(table.storage, table.config).with_archived().instants}
    for requested, paths in late:
        if requested not in known:
            _delete(table, requested, paths)


def _late_files(table: LockedTable, bound: str | None) -> Iterator[tuple[str, list[str]]]:
    for rollback in table.timeline.completed(Action.ROLLBACK):
        done = read_action(table.storage, table.config, rollback)
        if not isinstance(done, RollbackMetadata):
            continue
        for requested in done.commits:
            if bound is None or requested < bound:
                yield requested, list(listed_files(table.storage, done.partitions, requested))


def _delete(table: LockedTable, requested: str, paths: Iterable[str]) -> None:
    late = sorted(path for path in paths if may_be_deleted(path, table.config))
    for path in late:
        table.storage.delete(path)
    if late:
        _log.warning("deleted %s files that the writer of %s wrote after it had been rolled back", len(late), requested)
