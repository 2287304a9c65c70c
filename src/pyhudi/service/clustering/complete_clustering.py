"""Makes a resizing that has run visible: the last part of a run, under the table's lock, after the timeline was read again.

The new hashing metadata is written before the action completes, and is valid from then on: that of a pending action is not used.
The completion replaces the old buckets in the same step. Rules:
`HoodieSparkConsistentBucketIndex.updateLocation`, `ConsistentBucketIndexUtils`.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pyhudi.errors import AlreadyExistsError, HudiError
from pyhudi.index.consistent_hashing import hashing_metadata_file, mark_file, render_hashing_metadata
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.service.clustering.pending_clustering_plans import BucketGroup
from pyhudi.service.clustering.revalidate_groups import planned_buckets
from pyhudi.service.clustering.start_clustering import StartedResizing
from pyhudi.service.rewrite_commit import check_inflight, commit_rewrite
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.instant import Instant
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.rolling_metadata import NOT_ROLLING, RollingMetadata

_log = logging.getLogger(__name__)


def complete(
    table: LockedTable, work: StartedResizing, results: Sequence[TaskResult], engine: str, rolling: RollingMetadata = NOT_ROLLING
) -> Instant:
    """Complete the resizing, and return the completed instant; `engine` names what ran the tasks.

    Raises:
        ConflictError: another process took the resizing off the timeline or ran it too, changed a bucket, or changed the schema.
        StorageError: a file is not there in full, or the storage failed; nothing is visible.
        UnknownOutcomeError: the storage gave no answer to the last step.
    """
    instant, storage = work.instant, table.storage
    check_inflight(table, instant)
    hashing_by_path = planned_buckets(table, instant, work.groups).hashing_by_path

    def store_hashing_metadata() -> None:
        for path, hashing in hashing_by_path.items():
            storage.create(hashing_metadata_file(path, instant.requested), render_hashing_metadata(hashing, path))

    return commit_rewrite(
        table,
        instant,
        results,
        work.context,
        engine,
        operation=Operation.CLUSTER,
        schema_json=work.schema_json,
        replaced=_replaced(work.groups),
        rolling=rolling,
        before_completion=store_hashing_metadata,
        after_completion=lambda: _mark(table, hashing_by_path, instant.requested),
    )


def _replaced(groups: Sequence[BucketGroup]) -> Mapping[str, tuple[str, ...]]:
    ids_by_path: dict[str, list[str]] = defaultdict(list)
    for group in groups:
        ids_by_path[group.partition_path] += [id_.file_id for id_ in group.files]
    return {path: tuple(ids) for path, ids in ids_by_path.items()}


def _mark(table: LockedTable, paths: Mapping[str, object], requested: str) -> None:
    """Mark the hashing metadata as valid, so that Apache Hudi need not look at the timeline; without the mark both sides do."""
    for path in paths:
        try:
            table.storage.create(mark_file(path, requested), b"")
        except AlreadyExistsError:
            continue
        except (HudiError, OSError) as error:
            _log.warning("the consistent-hashing metadata %s of partition '%s' is not marked as done: %s", requested, path, error)
