"""Rolls back what a resizing wrote that did not come to its end. The caller holds the lock of clusterings and that of the table.

Rules: `BaseHoodieTableServiceClient.rollbackInflightClustering`. The plan stays requested, to be run again; `cancel` removes it as well.
The hashing metadata is deleted with the files: Apache Hudi takes metadata whose action is not known for
one that holds as soon as one of its file groups is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyhudi.errors import UnsupportedError
from pyhudi.index.consistent_hashing import hashing_metadata_file
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service.clustering.pending_clustering_plans import BucketGroup
from pyhudi.service.rollback.rollback_service_run import delete_run, is_untouched
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Instant, State
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import marked_files


def rollback_run(table: LockedTable, instant: Instant, groups: Sequence[BucketGroup]) -> Instant:
    """Delete what a dead run of a plan wrote, and return the instant as requested.

    Raises:
        ConflictError: the run is alive: it is one of Apache Hudi, whose heartbeat is fresh.
    """
    partitions = sorted({group.partition_path for group in groups})
    stored = tuple(hashing_metadata_file(path, instant.requested) for path in partitions)
    if is_untouched(table, instant):
        for file in stored:  # Apache Hudi leaves those of a run that it rolled back
            table.storage.delete(file)
        return Instant(instant.requested, instant.action, State.REQUESTED)
    return delete_run(table, instant, partitions, (*written_files(table, instant, groups), *stored))


def cancel(table: LockedTable, instant: Instant, groups: Sequence[BucketGroup]) -> None:
    """Take a pending resizing off the timeline with what its runs wrote.

    Raises:
        UnsupportedError: writers of Apache Hudi have written to the new buckets, and their commits name these files; run it instead.
    """
    check_notes(table.storage, table.config, table.timeline)
    new = frozenset().union(*(group.new_ids for group in groups))
    for path in sorted({group.partition_path for group in groups}):
        for status in table.storage.list(path):
            log = parse_log_file_name(status.name)
            if log is not None and log.file_id in new and log.instant == instant.requested:
                raise UnsupportedError(
                    f"{instant.action} {instant.requested} of table {table.storage.uri} cannot be rolled back: writers have put rows into"
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
