"""Rolling back completed commits: which files go, and how the commit becomes one that is pending.

Rules: `ListingBasedRollbackStrategy`, `BaseRollbackActionExecutor`. In layout 2 each file has the time of its commit in its name. In layout
1 log files have that of their slice: those of a slice that the commit began go with it, in others a block rolls back what it appended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pyhudi.errors import CorruptTableError, UnsupportedError, UsageError
from pyhudi.index.consistent_hashing import hashing_metadata_file, is_consistently_hashed, mark_file
from pyhudi.kernels.base_file.partition_folder import PARTITION_BASE_METAFILE, read_partition_metafile
from pyhudi.service.rollback.append_rollback_block import log_requests
from pyhudi.service.rollback.rollback_plan import request_of
from pyhudi.spec.actions.commit import CommitMetadata
from pyhudi.spec.actions.rollback import InstantInfo, RollbackPlan, RollbackRequest
from pyhudi.spec.files import partition_path
from pyhudi.spec.files.file_names import PARTITION_METAFILE
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.timeline.instant_details import instant_path, read_commit
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import is_file_of

_METAFILES = {PARTITION_METAFILE, PARTITION_BASE_METAFILE}


def plan_commit_rollback(table: LockedTable, commit: Instant) -> RollbackPlan:
    """Return the plan that rolls back a completed commit, deltacommit or replacecommit.

    Raises:
        UnsupportedError: it was written before the table was upgraded, so that its files do not name it.
    """
    metadata = read_commit(table.storage, table.config, commit)
    files = sorted(set(_files(table, commit, metadata)))
    requests = [request_of(table, path, commit.requested) for path in files]
    requests += [RollbackRequest(path) for path in sorted((metadata.replaced or {}).keys() - metadata.stats.keys())]
    if table.config.layout == 1:
        requests += [one for one in log_requests(table, commit) if one.latest_base_instant != commit.requested]
    return RollbackPlan(InstantInfo(commit.requested, commit.action.value), tuple(requests))


def check_last(table: LockedTable, commit: Instant) -> None:
    """Refuse to roll back a completed commit that is not the latest one, or that has a savepoint.

    Raises:
        UsageError: names the later commit, or the savepoint.
    """
    timeline = table.timeline
    where = f"{commit.action} {commit.requested} of table {table.storage.uri} cannot be rolled back"
    if any(one.action is Action.SAVEPOINT and one.is_completed for one in timeline.find(commit.requested)):
        raise UsageError(f"{where}: it has a savepoint; delete that first, table.services.delete_savepoint('{commit.requested}')")
    writes = [one for one in timeline.data_instants() if one != commit]
    later = [one for one in writes if one.requested > commit.requested or came_after(timeline, one, commit, table.config)]
    if later:
        last = max(later, key=timeline.effect)
        raise UsageError(
            f"{where}: {last.action} {last.requested} came after it; roll back the later ones first, or go back to an earlier commit with"
            " table.services.restore(to=...)"
        )
    pending = [one for one in timeline.pending() if one.comparable_action.writes_data and one.requested > commit.requested]
    if pending:
        raise UsageError(
            f"{where}: {pending[0].action} {pending[0].requested} is pending on top of it; run it or roll it back first,"
            f" table.services.rollback('{pending[0].requested}')"
        )


def came_after(timeline: Timeline, one: Instant, target: Instant, config: TableConfig) -> bool:
    """Tell whether a write, compaction or clustering holds rows that were not there when a completed write became visible.

    Pending ones do, unless they are compactions of merge-on-read tables: what these merge was there when they were requested.
    """
    if config.is_merge_on_read and one.comparable_action is Action.COMMIT:
        return one.requested > target.requested
    return not one.is_completed or timeline.effect(one) > timeline.effect(target)


def pending_form(timeline: Timeline, instant: Instant) -> Instant:
    """Return an instant as it was while it was inflight: a compaction completes as a commit."""
    action = instant.action
    if instant.requested in timeline.services:
        action = {Action.COMMIT: Action.COMPACTION, Action.REPLACE_COMMIT: Action.CLUSTERING}.get(action, action)
    elif instant.requested in timeline.log_compactions:
        action = Action.LOG_COMPACTION
    return Instant(instant.requested, action, State.INFLIGHT)


def revert(table: LockedTable, commit: Instant) -> Instant:
    """Make a completed commit a pending one, whose files no reader sees, and return it. It may be repeated."""
    pending = pending_form(table.timeline, commit)
    for state in (State.REQUESTED, State.INFLIGHT):
        path = instant_path(table.config, replace(pending, state=state))
        if table.storage.stat(path) is None:
            table.storage.create(path, b"")
    table.storage.delete(instant_path(table.config, commit))
    return pending


def delete_hashing_metadata(table: LockedTable, partitions: Iterable[str], target: Instant) -> None:
    """Delete the consistent hashing metadata that a clustering made; what held before holds again."""
    if target.comparable_action is Action.REPLACE_COMMIT and is_consistently_hashed(table.storage, table.config):
        for path in partitions:
            table.storage.delete(mark_file(path, target.requested))
            table.storage.delete(hashing_metadata_file(path, target.requested))


def remove_emptied(table: LockedTable, partitions: Mapping[str, Iterable[str]], target: Instant) -> None:
    """Delete the folders of partitions that a commit made which is rolled back, as far as nothing but the partition metafile is in them.

    `partitions` gives the names of the files that are there.
    """
    for path, names in partitions.items():
        listing = table.storage.list(path) if path and _METAFILES.issuperset(names) else []
        if not listing or not all(status.name in _METAFILES for status in listing) or _maker(table, path) != target.requested:
            continue
        for status in listing:
            table.storage.delete(status.path)
        folder = path
        while folder and not table.storage.list(folder):
            table.storage.delete_tree(folder)
            folder = folder.rpartition("/")[0]


def _maker(table: LockedTable, path: str) -> str | None:
    try:
        return read_partition_metafile(table.storage, path).commit_time
    except (CorruptTableError, FileNotFoundError):
        return None


def _files(table: LockedTable, commit: Instant, metadata: CommitMetadata) -> Iterator[str]:
    for path, stats in metadata.stats.items():
        partition_path.check(path)
        for stat in stats:
            for file in stat.files:
                if is_file_of(file, commit.requested):
                    yield f"{path}/{file.rpartition('/')[2]}".removeprefix("/")
                elif table.config.layout > 1:
                    raise UnsupportedError(
                        f"{commit.action} {commit.requested} of table {table.storage.uri} cannot be rolled back: it was written before the"
                        f" table was upgraded, and '{file}' holds rows of other commits. Restore a copy of the table, or go back to a later"
                        " commit."
                    )
        if table.config.layout == 1:  # log files that later commits added to the slices that it began
            listing = (status.path for status in table.storage.list(path) if not status.is_dir)
            yield from (file for file in listing if is_file_of(file, commit.requested))
