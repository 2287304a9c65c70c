"""Which file groups two writes that ran side by side have both changed.

Rules: `SimpleConcurrentFileWritesConflictResolutionStrategy`, `PreferWriterConflictResolutionStrategy`,
`BucketIndexConcurrentFileWritesConflictResolutionStrategy`, `ConcurrentOperation`; docs/format/concurrency.md#conflict-resolution. Held
against a write is whatever the table has under the lock of its completion that it did not have under the lock of its beginning. No clock
takes part in that: not the times of instants, nor their order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from pyhudi.errors import ConflictError, WriteConflictError
from pyhudi.fsview.pending_plans import read_plan
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat
from pyhudi.spec.actions.rollback import RollbackPlan
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.spec.table.table_keys import PARTIAL_UPDATE_MODE
from pyhudi.storage.cached_folder import open_cached_folder
from pyhudi.timeline.commit_search import CommitSearch, search_for
from pyhudi.timeline.instant_details import read_action
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.concurrency import ConflictStrategy
from pyhudi.txn.locked_table import TableState

#: A bucket's number, in the file ids of a bucket index.
_BUCKET_DIGITS = 8
_NOTHING = CommitSearch()
_MOST_LISTED = 3


@dataclass(frozen=True, slots=True)
class ComparedWrite:
    """A write that is about to complete: its time and operation, what it wrote, and the file ids by partition path that it replaces.

    `by_bucket` compares buckets, for a table whose bucket index decides in which file group a key is. With `in_any_order`, others may have
    written to the same file groups: the write has log files alone, which apply on top of whatever is there when it completes.
    """

    requested: str
    operation: Operation
    stats: tuple[WriteStat, ...]
    replaced: Mapping[str, Collection[str]] = field(default_factory=dict)
    by_bucket: bool = False
    in_any_order: bool = False

    @property
    def groups(self) -> frozenset[FileGroupId]:
        """The file groups that the write changes."""
        return _groups(self.stats, self.replaced)

    @property
    def rewritten(self) -> frozenset[FileGroupId]:
        """The file groups of which the write makes a new base file on top of an older one."""
        return frozenset(
            FileGroupId(stat.partition_path or "", stat.file_id)
            for stat in self.stats
            if stat.file_id and stat.prev_commit not in (None, "null") and parse_base_file_name((stat.path or "").rpartition("/")[2])
        )

    @property
    def overwritten(self) -> Collection[str]:
        """The paths of the partitions that the write overwrites as a whole, so that nothing of what others add to them before it completes
        may be left. The empty path, which is in every other one, stands for all.
        """
        if self.operation is Operation.INSERT_OVERWRITE_TABLE:
            return ("",)
        return self.replaced.keys() if self.operation.replaces else ()

    def overwrites(self, group: FileGroupId) -> bool:
        """Tell whether the write overwrites the partition of a file group."""
        return "" in self.overwritten or group.partition_path in self.overwritten


def check_conflicts(before: Timeline, now: TableState, mine: ComparedWrite, strategy: ConflictStrategy | None) -> tuple[Instant, ...]:
    """Refuse to complete a write when others have changed since its beginning what it builds on.

    Args:
        before: the timeline when the write began.
        now: the table under the lock of the write's completion.
        mine: the write.
        strategy: what counts as a conflict; None leaves it to the index.

    Returns:
        The writes of others that completed meanwhile and are compatible.

    Raises:
        WriteConflictError: names the other action and the file groups.
        ConflictError: the table was restored, or the write itself is being rolled back.
    """
    check_history(before, now, mine.requested)
    candidates = completed_since(before, now.timeline)
    compared = {
        False: (mine.groups, _search(mine.groups, mine, Operation.BUCKET_RESCALE, *mine.overwritten)),
        True: (mine.rewritten, _search(mine.rewritten, mine)),
    }
    with open_cached_folder(now.storage, now.config.timeline_path) as storage:
        for other in candidates:
            is_compaction = _is_compaction(now, other) and not _renames_logs(before, now, other)
            ours, search = compared[is_compaction]
            commit = None if search == _NOTHING else search.load(storage, now.config, now.timeline, other)
            if commit is not None:
                _check_rescaled(now, mine, other, commit)
                theirs = _excluding_groups(commit, ours) if mine.in_any_order else _groups_of_commit(commit)
                _check(now, mine, other, theirs, ours if is_compaction else ours.union(filter(mine.overwrites, theirs)))
    for other in _rolled_back_since(before, now):
        _check_rollback(now, mine, other)
    for other in now.timeline.pending():
        if other.requested != mine.requested:
            _check_pending(before, now, mine, other, strategy)
    return candidates


def _renames_logs(before: Timeline, now: TableState, compaction: Instant) -> bool:
    """Tell whether log files that a write made would have to be named otherwise since a compaction was planned.

    In version 6 they are named by their slice. The plan does not hold those that were not committed, and ends their slice.
    """
    return now.config.layout == 1 and not before.find(compaction.requested)


def _search(groups: Collection[FileGroupId], mine: ComparedWrite, *names: str) -> CommitSearch:
    """Return the search for commits that conflict over some file groups: by their ids, or the beginnings of those of their buckets.

    All partitions have the same buckets, so that their paths are searched for as well.
    """
    if not mine.by_bucket:
        return search_for(names, {group.file_id for group in groups})
    paths = {group.partition_path for group in groups}
    return search_for(names, {group.file_id[: _BUCKET_DIGITS + 1] for group in groups}, () if "" in paths else paths)


def _check_rescaled(now: TableState, mine: ComparedWrite, other: Instant, commit: CommitMetadata) -> None:
    """Refuse a write beside a change of the numbers of buckets: its rows were placed by the old ones, in buckets of any partition."""
    if commit.operation == Operation.BUCKET_RESCALE:
        raise conflict_error(now.storage.uri, mine.requested, other, "changed the numbers of buckets of partitions")


def completed_since(before: Timeline, now: Timeline) -> tuple[Instant, ...]:
    """Return the writes and services that a timeline shows completed and an earlier one did not, by requested time.

    What was pending then and has left the active timeline by now may have been completed and archived; it is looked up in the archive.
    """
    known = {one.requested for one in before.data_instants()}
    left = {one.requested for one in before.pending() if one.comparable_action.writes_data and not now.find(one.requested)}
    timeline = now.with_archived() if left else now
    new = (one for one in timeline.data_instants() if one.requested not in known)
    return tuple(one for one in new if one.requested in left or now.find(one.requested))


def check_history(before: Timeline, now: TableState, requested: str) -> None:
    """See that what was completed at the beginning of a write still is.

    Args:
        before: the timeline when the write began.
        now: the table as it is now.
        requested: the requested time of the write.

    Raises:
        ConflictError: the table was restored, or a commit was rolled back.
    """
    restored = _completed_since(before, now, Action.RESTORE)
    active = {one.requested for one in now.timeline.data_instants()}
    undone = [one for one in before.data_instants() if one.requested not in active and not now.timeline.is_committed(one.requested)]
    if restored or undone:
        what = f"restored by {restored[0].requested}" if restored else f"rid of {undone[0].action} {undone[0].requested}"
        raise ConflictError(
            f"table {now.storage.uri} was {what} while {requested} wrote to it. Nothing of this write is visible; read what it was"
            " made of again, and write again."
        )


def check_cleans(before: Timeline, now: TableState, requested: str, error: BaseException) -> None:
    """See that no clean can have deleted what a write could not read: after some commits, the files that it began with are cleaned.

    Args:
        before: the timeline when the write began.
        now: the table as it is now.
        requested: the requested time of the write.
        error: what was missing.

    Raises:
        WriteConflictError: a clean was completed meanwhile. If it deleted nothing that was read, the next attempt fails as this one did.
    """
    if cleaned := _completed_since(before, now, Action.CLEAN):
        raise WriteConflictError(
            f"table {now.storage.uri} was cleaned by {cleaned[-1].requested} while {requested} wrote to it, and files that it began with"
            f" are missing. Nothing of this write is visible; write again. The first of these files: {error}"
        ) from error


def _completed_since(before: Timeline, now: TableState, action: Action) -> list[Instant]:
    """Return the instants of an action that were completed after the write began."""
    known = {one.requested for one in before.completed(action)}
    return [one for one in now.timeline.completed(action) if one.requested not in known]


def _check_pending(before: Timeline, now: TableState, mine: ComparedWrite, other: Instant, strategy: ConflictStrategy | None) -> None:
    """Hold the plan of a pending service, or rollback, against the write."""
    if other.action is Action.ROLLBACK:
        _check_rollback(now, mine, other)
    elif other.action in (Action.COMPACTION, Action.LOG_COMPACTION):
        _check_compaction(before, now, mine, other)
    elif other.action is Action.INDEXING:
        _check_index_build(before, now, mine, other)
    elif strategy is not ConflictStrategy.PREFER_WRITER:  # the clustering gives way then
        plan = pending_clustering(now.storage, now.config, other)
        slices = () if plan is None else (one for group in plan.groups or () for one in group.slices or ())
        groups = frozenset(FileGroupId(one.partition_path or "", one.file_id or "") for one in slices)
        _check(now, mine, other, groups, mine.groups)


def _check_compaction(before: Timeline, now: TableState, mine: ComparedWrite, other: Instant) -> None:
    """Hold the plan of a pending compaction against the write.

    Within a slice the rows of the write that began last apply last. A compaction puts the rows of its plan below those that complete after
    it was planned. So rows that would apply below some of the plan's now, and above them once the compaction has run, are not written,
    unless the table merges rows by ordering values, in whatever order they come.
    """
    ours = mine.groups if _renames_logs(before, now, other) else mine.rewritten
    if ours:
        planned = {one.group for one in read_plan(now.storage, now.config, other).operations or ()}
        _check(now, mine, other, frozenset(planned), ours)
    if mine.in_any_order and other.action is Action.COMPACTION and other.requested > mine.requested and not _merges_by_values(now.config):
        operations = read_plan(now.storage, now.config, other).operations or ()
        later = {one.group for one in operations if any(_begun(name) > mine.requested for name in one.delta_files or ())}
        _check(now, mine, other, frozenset(later), mine.groups)


def _check_index_build(before: Timeline, now: TableState, mine: ComparedWrite, other: Instant) -> None:
    """Refuse to complete a write of version 6 over a build of indexes of Apache Hudi that began meanwhile: see `check_nothing_planned`."""
    if now.config.layout == 1 and not before.find(other.requested):
        raise conflict_error(now.storage.uri, mine.requested, other, "builds indexes of what the table held before")


def _merges_by_values(config: TableConfig) -> bool:
    """Tell whether the order in which rows come makes no difference, unless their ordering values are equal."""
    mode = config.properties.get(PARTIAL_UPDATE_MODE)
    return config.merge_mode is MergeMode.EVENT_TIME_ORDERING and bool(config.ordering_fields) and not mode


def _begun(log_path: str) -> str:
    """Return the requested time of the write that a log file of a plan is of; the least one for a name that is none."""
    name = parse_log_file_name(log_path.rpartition("/")[2])
    return "" if name is None else name.instant


def _rolled_back_since(before: Timeline, now: TableState) -> tuple[Instant, ...]:
    """Return the rollbacks that have completed meanwhile."""
    known = {one.requested for one in before.completed(Action.ROLLBACK)}
    return tuple(one for one in now.timeline.completed(Action.ROLLBACK) if one.requested not in known)


def _check_rollback(now: TableState, mine: ComparedWrite, other: Instant) -> None:
    plan = read_action(now.storage, now.config, Instant(other.requested, Action.ROLLBACK, State.REQUESTED))
    if isinstance(plan, RollbackPlan) and plan.instant is not None and plan.instant.time == mine.requested:
        raise ConflictError(
            f"{mine.requested} of table {now.storage.uri} {'was' if other.is_completed else 'is being'} rolled back by {other.requested}:"
            " another writer took this one for dead. Nothing of this write is visible; write again."
        )


def _check(now: TableState, mine: ComparedWrite, other: Instant, theirs: frozenset[FileGroupId], ours: frozenset[FileGroupId]) -> None:
    compared: Callable[[FileGroupId], FileGroupId] = bucket_of_group if mine.by_bucket else _itself
    changed = {compared(group) for group in theirs}
    both = sorted(group for group in ours if compared(group) in changed)
    if both:
        raise conflict_error(now.storage.uri, mine.requested, other, f"changed {_listed(both)} too")


def conflict_error(uri: str, requested: str, other: Instant, how: str) -> WriteConflictError:
    """Return the error of a write that lost; `how` says what the other action did."""
    state = "completed first" if other.is_completed else "is pending"
    return WriteConflictError(
        f"{other.action} {other.requested} of table {uri} {state} and {how}, as {requested} did. Nothing of {requested} is visible: write"
        " again, on top of what the table holds now. hoodie.write.num.retries.on.conflict.failures says how often that is done by itself."
    )


def _listed(groups: Collection[FileGroupId]) -> str:
    names = [f"{one.file_id} in '{one.partition_path}'" if one.partition_path else one.file_id for one in list(groups)[:_MOST_LISTED]]
    more = f" and {len(groups) - _MOST_LISTED} more" if len(groups) > _MOST_LISTED else ""
    return f"file group{'s' if len(groups) > 1 else ''} {', '.join(names)}{more}"


def _is_compaction(now: TableState, instant: Instant) -> bool:
    """Tell whether a completed action is a compaction, over whose new base files log files of others apply."""
    return now.config.is_merge_on_read and instant.action is Action.COMMIT


def _groups_of_commit(metadata: CommitMetadata) -> frozenset[FileGroupId]:
    return _groups(metadata.all_stats(), metadata.replaced or {})


def _groups(stats: Collection[WriteStat] | Iterator[WriteStat], replaced: Mapping[str, Collection[str]]) -> frozenset[FileGroupId]:
    written = {FileGroupId(stat.partition_path or "", stat.file_id) for stat in stats if stat.file_id}
    return frozenset(written | {FileGroupId(path, file_id) for path, ids in replaced.items() for file_id in ids})


def _excluding_groups(other: CommitMetadata, ours: Collection[FileGroupId]) -> frozenset[FileGroupId]:
    """Return the file groups of a commit on top of which log files of ours would not be seen: those that it replaced, and buckets that it
    began under another file id than we did, which writers of another concurrency mode do.
    """
    ids = {bucket_of_group(group): group for group in ours}
    begun = (group for group in _groups(other.all_stats(), {}) if ids.get(bucket_of_group(group), group) != group)
    return _groups((), other.replaced or {}).union(begun)


def _itself(group: FileGroupId) -> FileGroupId:
    return group


def bucket_of_group(group: FileGroupId) -> FileGroupId:
    """Return what stands for all file groups of a bucket: the partition and the beginning of the file ids."""
    return FileGroupId(group.partition_path, group.file_id[:_BUCKET_DIGITS])
