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
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.instant_details import load_commit_metadata, read_action
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.concurrency import ConflictStrategy
from pyhudi.txn.locked_table import TableState

#: A bucket's number, in the file ids of a bucket index.
_BUCKET_DIGITS = 8
_MOST_LISTED = 3


@dataclass(frozen=True, slots=True)
class ComparedWrite:
    """A write that is about to complete: its requested time, what it wrote, and the file ids by partition path that it replaces.

    `by_bucket` compares buckets, for a table whose bucket index decides in which file group a key is.
    """

    requested: str
    stats: tuple[WriteStat, ...]
    replaced: Mapping[str, Collection[str]] = field(default_factory=dict)
    by_bucket: bool = False

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
    _check_history(before, now, mine)
    candidates = completed_since(before, now.timeline)
    for other in candidates:
        if not _is_compaction(now, other):
            metadata = load_commit_metadata(now.storage, now.config, now.timeline, other)
            if metadata.operation == Operation.BUCKET_RESCALE:  # rows were placed by the old numbers, in buckets of any partition
                raise conflict_error(now.storage.uri, mine.requested, other, "changed the numbers of buckets of partitions")
            _check(now, mine, other, _groups_of_commit(metadata), mine.groups)
        elif mine.rewritten:
            _check(now, mine, other, _groups_of_commit(load_commit_metadata(now.storage, now.config, now.timeline, other)), mine.rewritten)
    for other in now.timeline.pending():
        if other.requested != mine.requested:
            _check_pending(now, mine, other, strategy)
    return candidates


def completed_since(before: Timeline, now: Timeline) -> tuple[Instant, ...]:
    """Return the writes and services that a timeline shows completed and an earlier one did not, by requested time.

    What was pending then and has left the active timeline by now may have been completed and archived; it is looked up in the archive.
    """
    known = {one.requested for one in before.data_instants()}
    left = {one.requested for one in before.pending() if one.comparable_action.writes_data and not now.find(one.requested)}
    timeline = now.with_archived() if left else now
    new = (one for one in timeline.data_instants() if one.requested not in known)
    return tuple(one for one in new if one.requested in left or now.find(one.requested))


def _check_history(before: Timeline, now: TableState, mine: ComparedWrite) -> None:
    """See that what was completed at the beginning still is, and that nobody rolls the write back."""
    known = {one.requested for one in before.completed() if one.action is Action.RESTORE}
    restored = [one for one in now.timeline.completed() if one.action is Action.RESTORE and one.requested not in known]
    active = {one.requested for one in now.timeline.data_instants()}
    undone = [one for one in before.data_instants() if one.requested not in active and not now.timeline.is_committed(one.requested)]
    if restored or undone:
        what = f"restored by {restored[0].requested}" if restored else f"rid of {undone[0].action} {undone[0].requested}"
        raise ConflictError(
            f"table {now.storage.uri} was {what} while {mine.requested} wrote to it. Nothing of this write is visible; read what it was"
            " made of again, and write again."
        )


def _check_pending(now: TableState, mine: ComparedWrite, other: Instant, strategy: ConflictStrategy | None) -> None:
    """Hold the plan of a pending service, or rollback, against the write."""
    if other.action is Action.ROLLBACK:
        _check_rollback(now, mine, other)
    elif other.action in (Action.COMPACTION, Action.LOG_COMPACTION):
        if mine.rewritten:
            planned = {one.group for one in read_plan(now.storage, now.config, other).operations or ()}
            _check(now, mine, other, frozenset(planned), mine.rewritten)
    elif strategy is not ConflictStrategy.PREFER_WRITER:  # the clustering gives way then
        plan = pending_clustering(now.storage, now.config, other)
        slices = () if plan is None else (one for group in plan.groups or () for one in group.slices or ())
        groups = frozenset(FileGroupId(one.partition_path or "", one.file_id or "") for one in slices)
        _check(now, mine, other, groups, mine.groups)


def _check_rollback(now: TableState, mine: ComparedWrite, other: Instant) -> None:
    plan = read_action(now.storage, now.config, Instant(other.requested, Action.ROLLBACK, State.REQUESTED))
    if isinstance(plan, RollbackPlan) and plan.instant is not None and plan.instant.time == mine.requested:
        raise ConflictError(
            f"{mine.requested} of table {now.storage.uri} is being rolled back by {other.requested}: another writer took this one for dead."
            " Nothing of this write is visible; write again."
        )


def _check(now: TableState, mine: ComparedWrite, other: Instant, theirs: frozenset[FileGroupId], ours: frozenset[FileGroupId]) -> None:
    compared: Callable[[FileGroupId], FileGroupId] = _bucket if mine.by_bucket else _itself
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


def _itself(group: FileGroupId) -> FileGroupId:
    return group


def _bucket(group: FileGroupId) -> FileGroupId:
    return FileGroupId(group.partition_path, group.file_id[:_BUCKET_DIGITS])
