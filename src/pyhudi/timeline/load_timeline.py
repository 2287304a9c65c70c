"""From a table's timeline folder to a `Timeline`.

Rules: Hudi technical specification, "Timeline"; `ActiveTimelineV1/V2`, `InstantComparatorV1/V2`; docs/format/timeline.md#instants,
docs/format/data-files.md#file-system-view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.restore import RestorePlan
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.archived_timeline import History
from pyhudi.timeline.archived_timeline_lsm import RowReader, last_archived
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.moved_timeline import RECREATED_FILE, raise_if_moved
from pyhudi.timeline.never_written import lost_timeline
from pyhudi.timeline.timeline import Timeline
from pyhudi.timeline.timeline_files import consistent_instants, timeline_files


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

    The history is listed after the timeline. So an instant that is archived meanwhile is in one listing or in both; the timeline is listed
    once more where it may show a part of it only (see `consistent_instants`).

    Raises:
        CorruptTableError: two completed files tell of the same action, and not the same; or there is no instant in a table that was
            written to.
        TimelineMovedError: the table was upgraded or downgraded since its properties were read.
        UnsupportedError: a file names an action unknown to table versions 6 to 9.
    """
    names = timeline_files(storage, config) if files is None else files
    active, archived = consistent_instants(storage, config, names)
    if not active.instants and RECREATED_FILE not in names and (damage := lost_timeline(storage, config)) is not None:
        # What was seen may be of a first write that began meanwhile, or of a version to which the table has gone and from which it is back.
        raise_if_moved(storage, config)
        active, archived = consistent_instants(storage, config, timeline_files(storage, config))
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
        _origin(config, instants, archived),
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


def _origin(config: TableConfig, instants: Iterable[Instant], archived: Sequence[str]) -> str | None:
    """Return the time below which what is not on the active timeline was archived; None stands for that of its first write.

    Where the whole life of the table is on its active timeline that is `""`: a file of an unknown older instant is the
    leftover of a failed write, not of an archived one. Only the archive of a table born with layout 2 says it all: those of
    layout 1 were often deleted to save space, and an upgrade or downgrade may leave them behind.

    An active action is no sure bound: those that are archived late or never (savepointed commits, cleans, restores, indexing) may be
    older than archived ones, and an archival that is under way deletes files while the folder is listed.
    """
    if config.layout == 1:
        return None
    last = last_archived(archived)
    born_with_layout_2 = config.initial_version is not None and config.initial_version >= 8
    if last is None:
        return "" if born_with_layout_2 and not archived else None
    first = next((instant.requested for instant in instants if instant.action is not Action.SAVEPOINT), "")
    return f"{last}0" if born_with_layout_2 or first <= last else None
