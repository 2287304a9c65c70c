"""Makes a resizing that has run visible: the last part of a run, under the table's lock, after the timeline was read again.

The new rings stand before the action completes, and count from then on: a ring whose action is pending is nobody's. What completes it
replaces the old buckets in the same step. Rules: `HoodieSparkConsistentBucketIndex.updateLocation`, `ConsistentBucketIndexUtils`.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pyhudi.errors import AlreadyExistsError, ConflictError, HudiError
from pyhudi.index.consistent_hashing import mark_file, render_ring, ring_file
from pyhudi.index.log_inserts import WRITER_NOTE
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.read.snapshot.read_schema import table_schema
from pyhudi.schema.internal.schema_history import history_of
from pyhudi.service.clustering.pending_clustering_plans import BucketGroup
from pyhudi.service.clustering.revalidate_groups import planned_buckets
from pyhudi.service.clustering.start_clustering import StartedResizing
from pyhudi.spec.actions.commit import CommitMetadata, Operation, stats_by_partition
from pyhudi.spec.instant import Instant, State
from pyhudi.spec.table_identity import IDENTITY_NOTE, identity_note
from pyhudi.txn.commit_sequence import complete_commit, reconcile_files
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.metadata_updates import prepare_metadata_table
from pyhudi.txn.release import VERSION
from pyhudi.txn.schema_record import record_version

_log = logging.getLogger(__name__)


def complete(table: LockedTable, work: StartedResizing, results: Sequence[TaskResult], engine: str) -> Instant:
    """Complete the resizing, and return the completed instant; `engine` names what ran the tasks.

    Raises:
        ConflictError: somebody took the resizing off the timeline or ran it too, changed a bucket, or changed the schema.
        StorageError: a file is not there in full, or the storage failed; nothing is visible.
        UnknownOutcomeError: the storage gave no answer to the last step.
    """
    instant, storage = work.instant, table.storage
    if not any(one.action is instant.action and one.state is State.INFLIGHT for one in table.timeline.find(instant.requested)):
        raise ConflictError(
            f"{instant.action} {instant.requested} of table {storage.uri} is not inflight any more: somebody else took it back or"
            " completed it. Nothing of this run is visible."
        )
    rings = planned_buckets(table, instant, work.groups).rings
    reconcile_files(storage, instant.requested, [result.stat for result in results])
    metadata = _metadata(table, work, results, engine)
    history = history_of(work.context.schema)
    table, in_step = prepare_metadata_table(table, metadata.schema_json, history=history)

    def store_rings() -> None:
        for path, ring in rings.items():
            storage.create(ring_file(path, instant.requested), render_ring(ring, path))

    return complete_commit(
        table,
        instant,
        metadata,
        in_step,
        history=history,
        before_completion=store_rings,
        after_completion=lambda: _mark(table, rings, instant.requested),
    )


def _metadata(table: LockedTable, work: StartedResizing, results: Sequence[TaskResult], engine: str) -> CommitMetadata:
    stored = table_schema(table.storage, table.config, table.timeline)
    before, now = history_of(work.context.schema), history_of(stored.columns)
    if stored.avro_json != work.schema_json or (now is not None and (before is None or before.current != now.current)):
        raise ConflictError(
            f"the schema of table {table.storage.uri} was changed while {work.instant.action} {work.instant.requested} ran. Nothing of this"
            " run is visible; run it again."
        )
    return CommitMetadata(
        stats=stats_by_partition(result.stat for result in results),
        extra={
            WRITER_NOTE: VERSION,
            "pyhudi.engine": engine,
            "schema": stored.avro_json,
            IDENTITY_NOTE: identity_note(table.config),
            **record_version(table, work.instant.requested, stored.columns),
        },
        operation=Operation.CLUSTER,
        replaced=_replaced(work.groups),
    )


def _replaced(groups: Sequence[BucketGroup]) -> Mapping[str, tuple[str, ...]]:
    ids_by_path: dict[str, list[str]] = defaultdict(list)
    for group in groups:
        ids_by_path[group.partition_path] += [id_.file_id for id_ in group.files]
    return {path: tuple(ids) for path, ids in ids_by_path.items()}


def _mark(table: LockedTable, paths: Mapping[str, object], requested: str) -> None:
    """Mark the rings as those that hold, by which Apache Hudi knows them without the timeline; without it both sides look there."""
    for path in paths:
        try:
            table.storage.create(mark_file(path, requested), b"")
        except AlreadyExistsError:
            continue
        except (HudiError, OSError) as error:
            _log.warning("the hash ring %s of partition '%s' is not marked as done: %s", requested, path, error)
