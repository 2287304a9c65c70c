"""Holds a plan against the table as it is now: its slices are resized as planned, or nothing is.

Apache Hudi's writers continue while a resizing is planned: what they write to a planned bucket they write to the buckets that take its
place as well, into log files that carry the resizing's own time and count once it is done
(`SparkConsistentBucketDuplicateUpdateStrategy`). So logs beyond the plan's are left out, if their commits wrote there too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyhudi.errors import ConflictError, CorruptTableError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_resizing import resize_buckets
from pyhudi.index.consistent_hashing import HashingMetadata, load_hashing_metadata
from pyhudi.service.clustering.pending_clustering_plans import BucketGroup
from pyhudi.spec.files.file_group import FileGroupId, FileSlice
from pyhudi.spec.instant import Instant
from pyhudi.timeline.instant_details import load_commit_metadata
from pyhudi.txn.locked_table import LockedTable


@dataclass(frozen=True, slots=True)
class PlannedBuckets:
    """The slices of each group of a plan, and the hashing metadata after the resizing by partition path."""

    slices: tuple[tuple[FileSlice, ...], ...]
    hashing_by_path: Mapping[str, HashingMetadata]


def planned_buckets(table: LockedTable, instant: Instant, groups: Sequence[BucketGroup]) -> PlannedBuckets:
    """Return what a pending resizing is about, as it is now.

    Raises:
        ConflictError: a bucket was changed since by a writer that did not know the plan.
        CorruptTableError: the plan does not fit the hashing metadata of its partitions.
    """
    # Not the view that checks sizes: writers of Apache Hudi put rows into the new buckets, which no reader sees before the plan has run.
    view = FileSystemView(table.storage, table.config, table.timeline)
    hashing_by_path = {
        path: _resized_hashing(view, instant, path, groups) for path in dict.fromkeys(group.partition_path for group in groups)
    }
    return PlannedBuckets(tuple(_slices(view, instant, group) for group in groups), hashing_by_path)


def _resized_hashing(view: FileSystemView, instant: Instant, path: str, groups: Sequence[BucketGroup]) -> HashingMetadata:
    """Return the hashing metadata of a partition after the resizing."""
    resized = [group for group in groups if group.partition_path == path]
    hashing, nodes = load_hashing_metadata(view, path), [node for group in resized for node in group.nodes]
    where = f"partition '{path}' of table {view.storage.uri}"
    if hashing is None or any(group.number != hashing.number for group in resized):
        raise _plan_changed_error(view, instant, f"{where} has other consistent-hashing metadata than the plan was made for")
    unknown = [group for one in resized for group in one.files if group.file_id not in hashing.file_ids]
    if unknown:
        raise CorruptTableError(f"{instant.action} {instant.requested}: {unknown[0]} is no bucket of {where}")
    try:
        return resize_buckets(hashing, nodes, instant.requested)
    except ValueError as error:
        raise CorruptTableError(
            f"{instant.action} {instant.requested} does not fit the consistent-hashing metadata of {where}: {error}"
        ) from None


def _slices(view: FileSystemView, instant: Instant, group: BucketGroup) -> tuple[FileSlice, ...]:
    latest = {file_slice.group: file_slice for file_slice in view.latest_slices(group.partition_path)}
    slices = []
    for id_, planned in group.files.items():
        file_slice = latest.get(id_)
        names = frozenset() if file_slice is None else _names(file_slice)
        if file_slice is None or not planned <= names or (file_slice.base is not None and str(file_slice.base.name) not in planned):
            raise _plan_changed_error(view, instant, f"{id_} of table {view.storage.uri} is not what it was when it was planned")
        if names != planned:
            _check_written_twice(view, instant, group, id_)
        slices.append(replace(file_slice, logs=tuple(log for log in file_slice.logs if str(log.name) in planned)))
    return tuple(slices)


def _names(file_slice: FileSlice) -> frozenset[str]:
    base = () if file_slice.base is None else (str(file_slice.base.name),)
    return frozenset((*base, *(str(log.name) for log in file_slice.logs)))


def _check_written_twice(view: FileSystemView, instant: Instant, group: BucketGroup, id_: FileGroupId) -> None:
    """Refuse to continue when a commit wrote to a planned bucket and not to those that take its place: its rows would be lost."""
    commits = [one for one in view.timeline.data_instants() if one.requested > instant.requested]
    written = []
    for commit in commits:
        stats = load_commit_metadata(view.storage, view.config, view.timeline, commit).stats.get(id_.partition_path, ())
        ids = {stat.file_id for stat in stats}
        if id_.file_id in ids:
            written.append(commit)
            if not ids & group.new_ids:
                raise _plan_changed_error(
                    view, instant, f"{commit.action} {commit.requested} wrote to {id_}, and not to the buckets that take its place"
                )
    if not written:
        raise _plan_changed_error(view, instant, f"{id_} of table {view.storage.uri} holds more than was planned")


def _plan_changed_error(view: FileSystemView, instant: Instant, what: str) -> ConflictError:
    return ConflictError(
        f"{what}, and {instant.action} {instant.requested} cannot be run. Take it back:"
        f" HudiTable.open('{view.storage.uri}').services.rollback('{instant.requested}')."
    )
