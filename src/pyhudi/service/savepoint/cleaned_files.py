"""Whether the files of an earlier state of a table are all there, or cleans have deleted some of them.

Rules: `SavepointActionExecutor` (last commit retained), `CleanPlanner`. Apache Hudi goes by the earliest commit that the last clean
retained, which a clean by versions does not state, so that it makes savepoints of states that cannot be read any more. Here the names of
the deleted files decide: a file group whose newest slice of that time was deleted, or is planned to be, is not whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.spec.actions.clean import CleanMetadata, CleanPlan
from pyhudi.spec.files.file_group import FileGroupId, FileSlice, join_path
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.instant_details import load_action_metadata, read_action
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable


def view_at(table: LockedTable, instant: Instant) -> FileSystemView:
    """Return the view of a table as it was when a completed write of its active timeline became visible."""
    return open_view(table.storage, table.config, table.timeline.through(instant))


def first_cleaned_file(table: LockedTable, instant: Instant, view: FileSystemView) -> str | None:
    """Return a data file that the state after a completed write needs and a clean deleted; None when all are there.

    Args:
        table: the table.
        instant: the completed write.
        view: as `view_at` returned it.
    """
    slices: dict[str, dict[str, FileSlice]] = {}
    for partition, name in _cleaned_later(table, instant):
        parsed = parse_base_file_name(name) or parse_log_file_name(name)
        if parsed is None or not view.timeline.is_committed(parsed.instant):
            continue
        if FileGroupId(partition, parsed.file_id) in view.replaced:
            continue
        if partition not in slices:
            slices[partition] = {one.group.file_id: one for one in view.latest_slices(partition)}
        present = slices[partition].get(parsed.file_id)
        if present is None or present.base_instant < parsed.instant or name in names_of(present):
            return join_path(partition, name)
    return None


def names_of(file_slice: FileSlice) -> list[str]:
    """Return the names of the files of a slice: its base file, if it has one, and its log files."""
    base = [] if file_slice.base is None else [file_slice.base.path]
    return [path.rpartition("/")[2] for path in (*base, *(log.path for log in file_slice.logs))]


def earliest_whole(table: LockedTable, after: Instant) -> str | None:
    """Return the requested time of the first completed write after another whose state is whole; None when there is none."""
    for instant in writes_in_order(table.timeline):
        if table.timeline.effect(instant) > table.timeline.effect(after):
            view = view_at(table, instant)
            if first_cleaned_file(table, instant, view) is None:
                return instant.requested
    return None


def writes_in_order(timeline: Timeline) -> list[Instant]:
    """Return the completed writes of the active timeline in the order in which they became visible."""
    return sorted(timeline.data_instants(), key=timeline.effect)


def _cleaned_later(table: LockedTable, instant: Instant) -> Iterator[tuple[str, str]]:
    """Yield partition path and name of each file that cleans deleted, or are to delete, which began after a write became visible."""
    since, _ = table.timeline.effect(instant)
    for clean in table.timeline.with_actions(Action.CLEAN).instants:
        if clean.requested <= since:
            continue
        if clean.is_completed:
            done = load_action_metadata(table.storage, table.config, table.timeline, clean)
            if isinstance(done, CleanMetadata):
                yield from ((path, name.rpartition("/")[2]) for path, part in done.partitions.items() for name in part.deleted)
        else:
            plan = read_action(table.storage, table.config, Instant(clean.requested, Action.CLEAN, State.REQUESTED))
            if isinstance(plan, CleanPlan):
                yield from ((path, name.rpartition("/")[2]) for path, names in plan.files.items() for name in names)
