"""From a table's timeline folder to a `Timeline`.

Rules: Hudi technical specification, "Timeline"; `ActiveTimelineV1/V2`, `InstantComparatorV1/V2`; docs/format/timeline.md#instants,
docs/format/data-files.md#file-system-view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.restore import RestorePlan
from pyhudi.spec.instant import Action, Instant, State, parse_instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.archived_timeline import History
from pyhudi.timeline.archived_timeline_lsm import RowReader, last_archived
from pyhudi.timeline.clock import format_instant, zone_of
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.listed_instants import list_instants
from pyhudi.timeline.moved_timeline import RECREATED_FILE, check_not_moved, raise_if_moved
from pyhudi.timeline.never_written import lost_timeline
from pyhudi.timeline.timeline import Timeline, collapse_states

_PENDING: Final = (".requested", ".inflight")
#: Actions that only delete files, which their plans name: running one twice does no harm.
_DELETING: Final = (Action.CLEAN, Action.ROLLBACK)


def load_timeline(
    storage: Storage,
    config: TableConfig,
    rows: RowReader | None = None,
    *,
    files: Mapping[str, int | None] | None = None,
) -> Timeline:
    """Read the active timeline: one listing of its folder, and one of the history's where the table has one.

    With `rows`, which reads Parquet files, the timeline answers about archived instants too (see `history.History`);
    `files` are those of the timeline's folder (see `timeline_files`), where the caller has them already.

    The history is listed after the timeline. So an instant that is archived meanwhile is in one listing or in both.

    Raises:
        CorruptTableError: two completed files tell of the same action, and not the same; or there is no instant in a table that was
            written to.
        TimelineMovedError: the table was upgraded or downgraded since its properties were read.
        UnsupportedError: a file names an action unknown to table versions 6 to 9.
    """
    names = timeline_files(storage, config) if files is None else files
    check_not_moved(storage, config, names)
    active = _active(storage, config, names)
    if not active.instants and RECREATED_FILE not in names and (damage := lost_timeline(storage, config)) is not None:
        active = _active(storage, config, timeline_files(storage, config))  # what was seen may be of a first write that began meanwhile
        if not active.instants:
            raise_if_moved(storage, config)
            raise damage
    instants = active.instants
    first = instants[0].requested if instants else ""
    archive = None if rows is None or config.layout == 1 else History(storage, config, rows, active.times, first)
    timeline = Timeline(
        instants,
        config.layout,
        active.times if archive is None else archive,
        _origin(storage, config, instants),
        archive=archive,
        log_compactions=active.log_compactions,
        services=active.services,
        repeated=active.repeated,
    )
    restore = next((one for one in instants if one.action is Action.RESTORE and one.state is State.INFLIGHT), None)
    return timeline if restore is None else timeline.without(times_to_restore(storage, config, restore))


def times_to_restore(storage: Storage, config: TableConfig, restore: Instant) -> frozenset[str]:
    """Return the requested times of the actions that a pending restore rolls back.

    Raises:
        CorruptTableError: it has no readable plan.
    """
    try:
        plan = read_action(storage, config, Instant(restore.requested, Action.RESTORE, State.REQUESTED))
    except FileNotFoundError:
        plan = None
    if not isinstance(plan, RestorePlan):
        raise CorruptTableError(
            f"restore {restore.requested} of table {storage.uri} is inflight and has no readable plan: nobody can tell which commits count."
            f" Restore the file '{config.timeline_path}/{restore.requested}.restore.requested' from a copy."
        )
    return frozenset(one.time for one in plan.instants)


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
class _Active:
    """What the files of a timeline tell; the fields are those of `Timeline`, `times` those that files have and names have not."""

    instants: tuple[Instant, ...]
    times: Mapping[str, str]
    log_compactions: frozenset[str]
    services: frozenset[str]
    repeated: tuple[Instant, ...]


def _active(storage: Storage, config: TableConfig, files: Mapping[str, int | None]) -> _Active:
    if set(files.values()) <= {None}:
        listed = list_instants(f"{storage.uri}/{config.timeline_path}", files, config.layout)
        if listed is not None:
            return _Active(tuple(listed.highest.values()), {}, listed.log_compactions, listed.services, ())
    every = _instants(files, config.layout)
    repeated = _repeated_completions(storage, config, [instant for instant, _ in every])
    matches = [(instant, modified_ms) for instant, modified_ms in every if instant not in repeated] if repeated else every
    return _Active(
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


def _origin(storage: Storage, config: TableConfig, instants: Iterable[Instant]) -> str | None:
    """Return the time below which what is not on the active timeline was archived; None stands for that of its first write.

    Where the whole life of the table is on its active timeline that is `""`: a file of an unknown older instant is the
    leftover of a failed write, not of an archived one. Only the archive of a table born with layout 2 says it all: those of
    layout 1 were often deleted to save space, and an upgrade or downgrade may leave them behind.

    An active action is no sure bound: those that are archived late or never (savepointed commits, cleans, restores, indexing) may be
    older than archived ones, and an archival that is under way deletes files while the folder is listed.
    """
    if config.layout == 1:
        return None
    names = storage.file_names(config.history_path)
    last = last_archived(names)
    born_with_layout_2 = config.initial_version is not None and config.initial_version >= 8
    if last is None:
        return "" if born_with_layout_2 and not names else None
    first = next((instant.requested for instant in instants if instant.action is not Action.SAVEPOINT), "")
    return f"{last}0" if born_with_layout_2 or first <= last else None
