"""Rolls back what a resizing wrote that did not come to its end. The caller holds the lock of clusterings and that of the table.

Rules: `BaseHoodieTableServiceClient.rollbackInflightClustering`. The plan stays requested, to be run again; `cancel` removes it as well.
Every step may be repeated, the state files go last. The ring goes with the files: Apache Hudi takes a ring whose action is not known for
one that holds as soon as one of its file groups is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyhudi.errors import UnsupportedError
from pyhudi.index.consistent_hashing import ring_file
from pyhudi.read.snapshot.identity_check import check_identity
from pyhudi.service.clustering.pending_clustering_plans import BucketGroup
from pyhudi.service.rollback.heartbeat import check_writer_is_dead, heartbeat_path
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Instant, State
from pyhudi.storage.temporary_files import remove_left_overs
from pyhudi.timeline.instant_details import instant_path
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import delete_markers, marked_files
from pyhudi.txn.metadata_updates import find_metadata_table


def rollback_run(table: LockedTable, instant: Instant, groups: Sequence[BucketGroup]) -> Instant:
    """Delete what a dead run of a plan wrote, and return the instant as requested.

    Raises:
        ConflictError: the run is alive: it is one of Apache Hudi, whose heartbeat is fresh.
    """
    requested = Instant(instant.requested, instant.action, State.REQUESTED)
    partitions = sorted({group.partition_path for group in groups})
    if instant.state is State.REQUESTED and marked_files(table.storage, instant.requested) is None:
        _delete_rings(table, instant, partitions)  # Apache Hudi leaves those of a run that it rolled back
        return requested
    check_writer_is_dead(table, instant)
    find_metadata_table(table)  # rolls back what the run told it, while the instant still says that it is pending
    for path in written_files(table, instant, groups):
        table.storage.delete(path)
    _delete_rings(table, instant, partitions)
    remove_left_overs(table.storage, partitions)
    delete_markers(table.storage, instant.requested)
    table.storage.delete(heartbeat_path(instant.requested))
    table.storage.delete(instant_path(table.config, Instant(instant.requested, instant.action, State.INFLIGHT)))
    return requested


def _delete_rings(table: LockedTable, instant: Instant, partitions: Sequence[str]) -> None:
    for path in partitions:
        table.storage.delete(ring_file(path, instant.requested))


def cancel(table: LockedTable, instant: Instant, groups: Sequence[BucketGroup]) -> None:
    """Take a pending resizing off the timeline with what its runs wrote.

    Raises:
        UnsupportedError: writers of Apache Hudi have written to the new buckets, and their commits name these files; run it instead.
    """
    check_identity(table.storage, table.config, table.timeline)
    new = frozenset().union(*(group.new_ids for group in groups))
    for path in sorted({group.partition_path for group in groups}):
        for status in table.storage.list(path):
            log = parse_log_file_name(status.name)
            if log is not None and log.file_id in new and log.instant == instant.requested:
                raise UnsupportedError(
                    f"{instant.action} {instant.requested} of table {table.storage.uri} cannot be taken back: writers have put rows into"
                    f" '{status.path}', for when it is done. Run it: table.services.cluster('{instant.requested}')."
                )
    table.writer.remove(rollback_run(table, instant, groups))


def written_files(table: LockedTable, instant: Instant, groups: Sequence[BucketGroup]) -> tuple[str, ...]:
    """Return the paths of the base files that runs of a plan left: what the markers name, and what else lies in its partitions.

    Log files of the new buckets are those of writers of Apache Hudi, and stay.
    """
    new = frozenset().union(*(group.new_ids for group in groups))
    paths = set(marked_files(table.storage, instant.requested) or ())
    for partition in {group.partition_path for group in groups}:
        paths.update(status.path for status in table.storage.list(partition))
    names = ((path, parse_base_file_name(path.rpartition("/")[2])) for path in paths)
    return tuple(sorted(path for path, name in names if name and name.instant == instant.requested and name.file_id in new))
