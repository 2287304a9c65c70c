"""Rolls back a run of a table service that rewrites files. The caller holds the lock of the service and that of the table.

Rules: `BaseHoodieTableServiceClient.rollbackInflightCompaction`, `.rollbackInflightClustering`. The plan stays requested, to be run again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyhudi.spec.instant import Instant, State
from pyhudi.storage.temporary_files import remove_left_overs
from pyhudi.timeline.instant_details import instant_path
from pyhudi.txn.heartbeats import check_writer_has_died, heartbeat_path
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import delete_markers, marked_files
from pyhudi.txn.metadata_updates import find_metadata_table


def is_untouched(table: LockedTable, instant: Instant) -> bool:
    """Tell whether no run of a plan has begun, or the last one is rolled back."""
    return instant.state is State.REQUESTED and marked_files(table.storage, instant.requested) is None


def delete_run(table: LockedTable, instant: Instant, partitions: Sequence[str], paths: Iterable[str]) -> Instant:
    """Delete what a dead run wrote, and return the instant as requested. Every step may be repeated, the state file goes last.

    Args:
        table: the table.
        instant: the pending instant of the service.
        partitions: the partition paths that the plan rewrites.
        paths: the files that the run wrote.

    Raises:
        ConflictError: the run is alive: it is one of Apache Hudi, whose heartbeat is fresh.
    """
    check_writer_has_died(table, instant)
    find_metadata_table(table)  # rolls back what the run told it, while the instant still says that it is pending
    for path in paths:
        table.storage.delete(path)
    remove_left_overs(table.storage, partitions)
    delete_markers(table.storage, instant.requested)
    table.storage.delete(heartbeat_path(instant.requested))
    table.storage.delete(instant_path(table.config, Instant(instant.requested, instant.action, State.INFLIGHT)))
    return Instant(instant.requested, instant.action, State.REQUESTED)
