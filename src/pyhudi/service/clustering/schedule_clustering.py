"""Plans a resizing of a table. The caller holds the table's lock and has rolled back what failed writers left.

Rules: `ClusteringPlanActionExecutor`. One resizing a partition at a time; buckets that a pending compaction holds are left out.
"""

from __future__ import annotations

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.consistent_hashing import HashingMetadata, load_hashing_metadata, uses_consistent_hashing
from pyhudi.metadata_table.read.metadata_view import open_view
from pyhudi.service.clustering.clustering_settings import ClusteringSettings
from pyhudi.service.clustering.pending_clustering_plans import ResizePlan, groups_of
from pyhudi.service.clustering.resize_plan import Resizing, clustering_plan, resizings
from pyhudi.service.compaction.pending_compactions import busy_groups
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.timeline.pending_clustering import pending_clustering
from pyhudi.txn.locked_table import LockedTable


def plan_resizing(table: LockedTable, settings: ClusteringSettings) -> ResizePlan | None:
    """Return what would be put on the timeline now; None when there is nothing to resize.

    Raises:
        UnsupportedError: the table does not use consistent hashing.
        CorruptTableError: the hashing metadata is damaged, or file groups belong to none.
    """
    view = open_view(table.storage, table.config, table.timeline)
    check_consistent_hashing(view)
    busy, clustered = busy_groups(table), _clustered_partitions(table)
    candidates: list[Resizing] = []
    paths = [path for path in view.partition_paths() if path not in clustered]
    for path in paths:
        slices = view.latest_slices(path)
        if slices:
            free = [file_slice for file_slice in slices if file_slice.group not in busy]
            candidates += resizings(
                _load_checked_hashing(view, path, [file_slice.group for file_slice in slices]), free, settings, table.ids.file_prefix
            )
    retained = tuple(candidates[: settings.most_groups])
    if not retained:
        return None
    content = clustering_plan(retained, paths, settings, table.storage.uri)
    return ResizePlan(groups_of(content), content)


def check_consistent_hashing(view: FileSystemView) -> None:
    """Refuse to cluster a table that is not laid out by consistent hashing.

    Raises:
        UnsupportedError: names the table.
    """
    if not uses_consistent_hashing(view):
        raise UnsupportedError(
            f"table {view.storage.uri} is not laid out by consistent hashing: this release resizes the buckets of consistent hashing"
            " (hoodie.index.bucket.engine=CONSISTENT_HASHING). Clustering that sorts rows or joins small files comes with a later one."
        )


def _clustered_partitions(table: LockedTable) -> frozenset[str]:
    """Return the partitions that a pending clustering of any kind is about to rewrite."""
    plans = (pending_clustering(table.storage, table.config, instant) for instant in table.timeline.pending())
    groups = (group for plan in plans if plan is not None for group in plan.groups or ())
    return frozenset(file_slice.partition_path or "" for group in groups for file_slice in group.slices or ())


def _load_checked_hashing(view: FileSystemView, path: str, groups: list[FileGroupId]) -> HashingMetadata:
    hashing = load_hashing_metadata(view, path)
    unknown = groups if hashing is None else [group for group in groups if group.file_id not in hashing.file_ids]
    if hashing is None or unknown:
        raise CorruptTableError(
            f"{unknown[0]} of table {view.storage.uri} is no bucket of consistent hashing: another index wrote to the table"
        )
    return hashing
