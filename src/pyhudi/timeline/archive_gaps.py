"""Whether the archive of layout 1 lost a file: completed writes that others name, and that neither archive nor timeline hold.

Nothing lists the files of that archive, and their numbers have gaps since small files are joined. But each write names older ones:
those of this package note the writes completed before them (`pyhudi.spec.committed_instants`), and all state the previous commit of each
file that they wrote (`prevCommit` of `HoodieWriteStat`). The oldest files may be deleted to save space, so a name counts from the oldest
archived write on; older names are reported to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.actions.restore import RestoreMetadata
from pyhudi.spec.actions.rollback import RollbackMetadata
from pyhudi.spec.committed_instants import noted_instants
from pyhudi.spec.extra_metadata import COMMITTED_KEY
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import read_action

_log = logging.getLogger(__name__)

_NO_COMMIT: Final = ("", "null")


def check_no_gap(
    storage: Storage,
    config: TableConfig,
    writes: Mapping[str, tuple[str, CommitMetadata]],
    known: Collection[str],
    active: Sequence[Instant],
    empty: Sequence[str],
) -> None:
    """Check that the archive holds each completed write that archived or active ones name.

    Args:
        storage: the table's.
        config: its properties.
        writes: the archived writes by requested time, each with the path of its archive file.
        known: requested times of all archived actions, and of what archived rollbacks rolled back.
        active: the instants that were active before the archive was read. One that is not completed lost its completed file, which is no
            matter of the archive: reading the table says so.
        empty: paths of the archive's files without a byte; a writer that died leaves one whose instants are all active.

    Raises:
        CorruptTableError: a write is missing.
    """
    if not writes and not empty:
        return
    completed = [one for one in active if one.is_completed]
    names = {named: requested for requested, (_, commit) in sorted(writes.items(), reverse=True) for named in _named(commit)}
    names |= {named: one.requested for one, commit in _first_and_last(storage, config, completed) for named in _named(commit)}
    missing = sorted(names.keys() - set(known) - {one.requested for one in active})
    if not missing:
        return
    if empty:
        _check_nothing_lost_in(empty, storage, {time: names[time] for time in missing}, _rolled_back(storage, config, completed))
    if not writes:
        return
    oldest = min(writes)
    if older := [time for time in missing if time < oldest]:
        _log.info("the archive of table %s begins at %s: older writes, such as %s, are in no history", storage.uri, oldest, older[-1])
    if (lost := [time for time in missing if time > oldest]) and (
        lost := sorted(set(lost) - set(_rolled_back(storage, config, completed)))
    ):
        before = sorted({path for requested, (path, _) in writes.items() if requested < lost[0]})
        raise CorruptTableError(
            f"the archive '{config.archive_path}' of table {storage.uri} lost a file: write {lost[0]}, which {names[lost[0]]} names, is"
            f" neither in it nor on the timeline, although older ones are in '{before[-1]}'. Restore the file from a copy. If there is"
            f" none, move {_listed(before)} to a folder outside the table: the history then begins after the gap, and no row changes."
        )


def _check_nothing_lost_in(empty: Sequence[str], storage: Storage, missing: Mapping[str, str], rolled_back: Iterable[str]) -> None:
    lost = max(missing.keys() - set(rolled_back), default=None)
    if lost is not None:
        raise CorruptTableError(
            f"the archive file {_listed(empty)} of table {storage.uri} has 0 bytes, and write {lost}, which {missing[lost]} names, is"
            f" neither in the archive nor on the timeline. Restore {_listed(empty)} from a copy. If there is none, move it to a folder"
            " outside the table: the history is then without what was in it, and no row changes."
        )


def _listed(paths: Sequence[str]) -> str:
    return ", ".join(f"'{path}'" for path in paths)


def _named(commit: CommitMetadata) -> Iterator[str]:
    """Yield the requested times of the writes that a write names as completed before it."""
    for stat in commit.all_stats():
        if stat.prev_commit is not None and stat.prev_commit not in _NO_COMMIT:
            yield stat.prev_commit
    for name in noted_instants(commit.extra_metadata.get(COMMITTED_KEY, "")) or ():
        yield name.partition(".")[0].partition("_")[0]


def _first_and_last(storage: Storage, config: TableConfig, active: Sequence[Instant]) -> Iterator[tuple[Instant, CommitMetadata]]:
    """Yield the oldest and the newest active write: they name the last archived ones."""
    written = [one for one in active if one.action.writes_data]
    for instant in {*written[:1], *written[-1:]}:
        try:
            details = read_action(storage, config, instant)
        except FileNotFoundError:  # archived meanwhile
            continue
        if isinstance(details, CommitMetadata):
            yield instant, details


def _rolled_back(storage: Storage, config: TableConfig, active: Sequence[Instant]) -> Iterator[str]:
    for instant in active:
        if instant.action in (Action.ROLLBACK, Action.RESTORE):
            details = read_action(storage, config, instant)
            if isinstance(details, RollbackMetadata):
                yield from details.commits
            elif isinstance(details, RestoreMetadata):
                yield from (*details.rolled_back, *(info.time for info in details.instants))
