"""The files of a timeline's folder, and the instants that they tell.

Rules: `ActiveTimelineV1/V2`, `InstantComparatorV1/V2`; docs/format/timeline.md#instants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.spec.instant import DATA_ACTIONS, Action, Instant, State, parse_instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.archived_timeline_lsm import last_archived
from pyhudi.timeline.clock import format_instant, zone_of
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.listed_instants import list_instants
from pyhudi.timeline.moved_timeline import check_not_moved
from pyhudi.timeline.timeline import collapse_states

_PENDING: Final = (".requested", ".inflight")
#: Actions that only delete files, which their plans name: running one twice does no harm.
_DELETING: Final = (Action.CLEAN, Action.ROLLBACK)


def consistent_instants(storage: Storage, config: TableConfig, files: Mapping[str, int | None]) -> tuple[ActiveInstants, tuple[str, ...]]:
    """Return what the files of a timeline's folder tell, and the names of the files in its archive, which is listed after it.

    A file that is deleted while its folder is listed may be in the listing or not: a local folder is read in parts, an object store
    answers in pages, and in layout 1 each file is asked for its time. So a listing concurrent with an archival may show that an action
    was begun and not that it was completed, which would hide its rows. An archival deletes what is of pending states first, then what
    says that actions were completed, from the oldest on. So what is in doubt after one listing and still there in the next was there all
    the time.

    Raises:
        TimelineMovedError: the table was upgraded or downgraded since its properties were read.
    """
    looked_for: set[Instant] = set()
    while True:
        check_not_moved(storage, config, files)
        active = active_instants(storage, config, files)
        archive = () if config.layout == 1 else storage.file_names(config.history_path)
        doubtful = _doubtful(storage, config, active.instants, archive)
        if doubtful <= looked_for:
            return active, archive
        looked_for |= doubtful
        files = timeline_files(storage, config)


def _doubtful(storage: Storage, config: TableConfig, instants: Sequence[Instant], archive: Iterable[str]) -> set[Instant]:
    """Return the instants of a listing that may have been archived meanwhile: what seems to be pending, as far back as archived ones.

    The archive of layout 1 says only by all of its content what is in it. There the oldest completed write tells, which is the first one
    to be archived: while its file is there, the later ones are, and one that is missing is in doubt itself.
    """
    missing: set[Instant] = set()
    if config.layout == 1:
        savepoints = {one.requested for one in instants if one.action is Action.SAVEPOINT}
        writes = (one for one in instants if one.is_completed and one.action in DATA_ACTIONS and one.requested not in savepoints)
        oldest = next(writes, None)
        last = None if oldest is None else oldest.requested
        if oldest is not None and storage.stat(f"{config.timeline_path}/{oldest.file_name(1)}") is None:
            missing.add(oldest)
    else:
        last = last_archived(archive)
    return missing | {one for one in instants if last is not None and not one.is_completed and one.requested <= last}


def timeline_files(storage: Storage, config: TableConfig) -> dict[str, int | None]:
    """Return the names of the files in the timeline's folder, with the time of their last change (epoch milliseconds) where it says when an
    action completed: in layout 1, and of what an upgrade left in layout 2.

    Raises:
        CorruptTableError: a folder, link or pipe has the name of an instant.
    """
    path = config.timeline_path
    if config.layout == 1:
        return {status.name: status.modified_ms for status in storage.list(path) if not status.is_dir}
    files: dict[str, int | None] = dict.fromkeys(storage.file_names(path))
    for name in files:
        if "_" not in name and not name.endswith(_PENDING) and (instant := parse_instant(name, 2)) is not None and instant.is_completed:
            status = storage.stat(f"{path}/{name}")
            files[name] = None if status is None else status.modified_ms
    return files


@dataclass(frozen=True, slots=True)
class ActiveInstants:
    """What the files of a timeline tell; the fields are those of `Timeline`, `times` those that files have and names have not."""

    instants: tuple[Instant, ...]
    times: Mapping[str, str]
    log_compactions: frozenset[str]
    services: frozenset[str]
    repeated: tuple[Instant, ...]


def active_instants(storage: Storage, config: TableConfig, files: Mapping[str, int | None]) -> ActiveInstants:
    """Return what the files of a timeline's folder tell, given as `timeline_files` returns them.

    Raises:
        CorruptTableError: two completed files tell of the same action, and not the same.
        UnsupportedError: a file names an action unknown to table versions 6 to 9.
    """
    if set(files.values()) <= {None}:
        listed = list_instants(f"{storage.uri}/{config.timeline_path}", files, config.layout)
        if listed is not None:
            return ActiveInstants(tuple(listed.highest.values()), {}, listed.log_compactions, listed.services, ())
    every = _instants(files, config.layout)
    repeated = _repeated_completions(storage, config, [instant for instant, _ in every])
    matches = [(instant, modified_ms) for instant, modified_ms in every if instant not in repeated] if repeated else every
    return ActiveInstants(
        collapse_states(instant for instant, _ in matches),
        _times_of_files(matches, config),
        frozenset(instant.requested for instant, _ in matches if instant.action is Action.LOG_COMPACTION),
        frozenset(instant.requested for instant, _ in matches if instant.action in (Action.COMPACTION, Action.CLUSTERING)),
        tuple(sorted(repeated)),
    )


def _instants(files: Mapping[str, int | None], layout: int) -> list[tuple[Instant, int | None]]:
    parsed = ((parse_instant(name, layout), modified_ms) for name, modified_ms in files.items())
    return [(instant, modified_ms) for instant, modified_ms in parsed if instant is not None]


def _repeated_completions(storage: Storage, config: TableConfig, instants: Iterable[Instant]) -> frozenset[Instant]:
    """Return the completions of actions that were completed before: the first time counts.

    Apache Hudi completes the replace commit by which it drops expired partitions twice, with the same content. Of several writers two may
    run one pending clean or rollback, since Apache Hudi runs them outside the lock: both delete what its plan names, and the second finds
    less to delete.
    """
    completed = [instant for instant in instants if instant.state is State.COMPLETED]
    if len({(instant.requested, instant.action) for instant in completed}) == len(completed):
        return frozenset()
    by_action: dict[tuple[str, Action], list[Instant]] = {}
    for instant in completed:
        by_action.setdefault((instant.requested, instant.action), []).append(instant)
    repeated: set[Instant] = set()
    for completions in by_action.values():
        if len(completions) > 1:
            first, *others = sorted(completions, key=lambda instant: instant.completed or "")
            if first.action not in _DELETING:
                for other in others:
                    _check_same_content(storage, config, first, other)
            repeated.update(others)
    return frozenset(repeated)


def _check_same_content(storage: Storage, config: TableConfig, first: Instant, other: Instant) -> None:
    try:
        same = read_action(storage, config, first) == read_action(storage, config, other)
    except FileNotFoundError:
        return  # it is being archived, which is done with the files of a completed action alone
    if not same:
        raise CorruptTableError(
            f"the timeline of table {storage.uri} completes {first.action} {first.requested} twice, at {first.completed} and "
            f"{other.completed}, and the two differ: two writers collided; keep the file whose rows are right"
        )


def _times_of_files(files: Iterable[tuple[Instant, int | None]], config: TableConfig) -> dict[str, str]:
    """Completion times of instants whose names hold none: the time of the last change of their files, as Hudi takes
    it.
    """
    # Layout 2 has such names only as left-overs of an upgrade, stamped in the zone of the process that did it.
    zone = zone_of(config.timeline_zone if config.layout == 1 else "LOCAL")
    return {
        instant.requested: format_instant(datetime.fromtimestamp(modified_ms / 1000, UTC), zone)
        for instant, modified_ms in files
        if modified_ms is not None and instant.is_completed and instant.completed is None and instant.action is not Action.SAVEPOINT
    }
