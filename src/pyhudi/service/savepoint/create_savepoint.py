"""Making and deleting savepoints.

Rules: `SavepointActionExecutor`, `SavepointHelpers`. A savepoint has the time of its commit and no requested state: an empty inflight file,
then the completed one, which names the files of the newest slices at that commit. It is deleted in the reverse order. Apache Hudi leaves
an inflight file behind when it fails between the two; the next savepoint of that commit, or its deletion, continues from there.
"""

from __future__ import annotations

import functools

from pyhudi.codec.actions.plan_codec import encode_savepoint
from pyhudi.errors import UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.service.savepoint.cleaned_files import earliest_whole, first_cleaned_file, names_of, view_at, writes_in_order
from pyhudi.service.savepoint.savepoint_listing import Savepoint, savepoint_instants, savepoint_of
from pyhudi.spec.actions.savepoint import SavepointMetadata
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.clock import now_millis
from pyhudi.timeline.instant_details import instant_path
from pyhudi.txn.commit_checks import check_lock_held
from pyhudi.txn.locked_table import LockedTable


def create_savepoint(table: LockedTable, time: str | None, user: str, comment: str, *, dry_run: bool = False) -> Savepoint:
    """Make a savepoint of a completed write; None is the latest one.

    Raises:
        UsageError: there is no such write, it has a savepoint already, or a clean has deleted files of it.
    """
    write = _write_of(table, time)
    if any(one.requested == write.requested for one in savepoint_instants(table.timeline)):
        raise UsageError(f"{write.requested} of table {table.storage.uri} has a savepoint already; delete that first to make another one")
    view = view_at(table, write)
    if (cleaned := first_cleaned_file(table, write, view)) is not None:
        raise UsageError(
            f"{write.requested} of table {table.storage.uri} cannot be savepointed: a clean deletes '{cleaned}', which is a file of it;"
            f" {_earliest(table, write)}"
        )
    content = SavepointMetadata(user, now_millis(table.clock), comment, _files(view))
    if not dry_run:
        _publish(table, write.requested, content)
    return savepoint_of(write.requested, content)


def delete_savepoint(table: LockedTable, time: str, *, dry_run: bool = False) -> None:
    """Delete the savepoint of a write, and what one that was cut off left.

    Raises:
        UsageError: there is no such savepoint; names those that there are.
    """
    matches = [one for one in table.timeline.find(time) if one.action is Action.SAVEPOINT]
    if not matches:
        known = ", ".join(one.requested for one in savepoint_instants(table.timeline)) or "none"
        raise UsageError(f"table {table.storage.uri} has no savepoint {time}; its savepoints are: {known}")
    for one in matches if not dry_run else ():
        if one.is_completed:
            table.storage.delete(instant_path(table.config, one))
        table.writer.remove(Instant(time, Action.SAVEPOINT, State.INFLIGHT))


def _write_of(table: LockedTable, time: str | None) -> Instant:
    writes = writes_in_order(table.timeline)
    if time is None:
        # That of the latest requested time, as Apache Hudi takes it: a compaction that completes later has no other rows.
        latest = table.timeline.last_completed()
        if latest is None:
            raise UsageError(f"table {table.storage.uri} has no commit yet that could be savepointed")
        return latest
    match = next((one for one in writes if one.requested == time), None)
    if match is not None:
        return match
    if any(not one.is_completed for one in table.timeline.find(time)):
        problem = "is not completed"
    elif table.timeline.is_committed(time) and table.timeline.archive is not None and table.timeline.archive.find(time):
        problem = "is archived"
    else:
        problem = "is no commit of it"
    earliest = f"; the earliest is {writes[0].requested}" if writes else ""
    raise UsageError(f"{time} of table {table.storage.uri} cannot be savepointed: it {problem}. Take a time of table.history(){earliest}.")


def _earliest(table: LockedTable, write: Instant) -> str:
    earliest = earliest_whole(table, write)
    return "no later commit has all of its files" if earliest is None else f"the earliest commit that has all of its files is {earliest}"


def _files(view: FileSystemView) -> dict[str, tuple[str, ...]]:
    names = {path: tuple(name for one in view.slice_list(path) for name in names_of(one)) for path in view.partition_paths()}
    return {path: listed for path, listed in names.items() if listed}


def _publish(table: LockedTable, time: str, content: SavepointMetadata) -> None:
    inflight = next((one for one in table.timeline.find(time) if one.action is Action.SAVEPOINT), None)
    if inflight is None:
        inflight = table.writer.request(Action.SAVEPOINT, time)
    encoded = encode_savepoint(content, sync=table.ids.sync_marker())
    table.writer.complete(inflight, table.times.next(), encoded, functools.partial(check_lock_held, table, inflight))
