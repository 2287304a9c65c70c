"""What a write does that changes file groups of a planned clustering.

Rules: `SparkRejectUpdateStrategy`, `SparkAllowUpdateStrategy`, `BaseSparkCommitActionExecutor.clusteringHandleUpdate`,
`DeletePartitionUtils`. Writes to other file groups continue next to a plan in any case.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from pyhudi.errors import ConflictError, UnsupportedError
from pyhudi.locks.exclusive_service import exclusive_service
from pyhudi.service.clustering.clustering_service import Clustering
from pyhudi.service.clustering.clustering_settings import clustering_settings
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Instant
from pyhudi.spec.options import Options
from pyhudi.timeline.pending_clustering import clustered_groups
from pyhudi.txn.commit_checks import check_not_clustered
from pyhudi.txn.concurrency import ConflictStrategy, concurrency
from pyhudi.txn.locked_table import LockedTable

_log = logging.getLogger(__name__)
_STRATEGY: Final = "hoodie.clustering.updates.strategy"
_ROLLS_BACK: Final = "hoodie.clustering.rollback.pending.replacecommit.on.conflict"
_REJECT, _ALLOW = "RejectUpdateStrategy", "AllowUpdateStrategy"
#: The strategy of consistent hashing, whose writers are kept out by a plan in any case.
_CONSISTENT_BUCKETS: Final = "ConsistentBucketDuplicateUpdateStrategy"


@dataclass(frozen=True, slots=True)
class UpdateSettings:
    """Whether a write may change file groups of a planned clustering, and whether it rolls back that clustering then."""

    allows: bool = False
    rolls_back: bool = False


def update_settings(options: Options) -> UpdateSettings:
    """Return what the options decide. The conflict strategy PreferWriter allows writes unless the options say otherwise.

    Raises:
        UnsupportedError: the strategy is none of Apache Hudi's.
    """
    prefers_writers = concurrency(options).strategy is ConflictStrategy.PREFER_WRITER
    given = options.text(_STRATEGY, default=_ALLOW if prefers_writers else _REJECT)
    name = given.strip().rpartition(".")[2]
    for engine in ("Spark", "Flink", "Java"):
        name = name.removeprefix(engine)
    if name not in (_REJECT, _ALLOW, _CONSISTENT_BUCKETS):
        raise UnsupportedError(
            f"{_STRATEGY}: '{given}' is not served, pyhudi loads no classes by name; served are Spark{_REJECT} and Spark{_ALLOW}."
        )
    return UpdateSettings(name == _ALLOW, options.flag(_ROLLS_BACK))


def refuse_to_roll_back(options: Options) -> None:
    """Refuse options by which a write that does not hold the table's lock would roll back a planned clustering.

    Raises:
        UnsupportedError: the options ask for that.
    """
    if update_settings(options).rolls_back:
        raise UnsupportedError(
            f"{_ROLLS_BACK}=true is not served while several writers work at a time: leave it out, and roll back the clustering by"
            " table.services.rollback(...) when a write is refused because of it."
        )


def give_way(table: LockedTable, changed: Collection[FileGroupId], replaced: Collection[FileGroupId], options: Options) -> LockedTable:
    """Let a planned write run concurrently with the planned clusterings, and return the table without those that it rolled back.

    Args:
        table: the table; the write has not begun.
        changed: the file groups that get updates or deletes.
        replaced: the file groups that the write replaces.
        options: those of the write.

    Raises:
        ConflictError: a planned clustering holds a file group of the write, and the strategy rejects that, or the write replaces it.
    """
    settings = update_settings(options)
    check_not_clustered(table, replaced)
    if not settings.allows:
        check_not_clustered(table, changed, f", or write with {_STRATEGY}=Spark{_ALLOW} and {_ROLLS_BACK}=true, which rolls it back")
    planned = clustered_groups(table.storage, table.config, table.timeline)
    conflicts = {planned[group]: group for group in changed if group in planned}
    for instant, group in conflicts.items():
        if settings.rolls_back:
            _cancel(table, instant, options)
        else:
            _warn(table, instant, group)
    return table.reload() if conflicts and settings.rolls_back else table


def _warn(table: LockedTable, instant: Instant, group: FileGroupId) -> None:
    _log.warning(
        "the write to table %s changes %s, which %s %s has planned: that clustering cannot complete. Roll it back,"
        " table.services.rollback('%s'), and do not let Apache Hudi run it without the conflict strategy PreferWriter.",
        table.storage.uri,
        group,
        instant.action,
        instant.requested,
        instant.requested,
    )


def _cancel(table: LockedTable, instant: Instant, options: Options) -> None:
    """Take the plan off the timeline; one that another process is running fails by itself, when it finds its file groups changed."""
    service = Clustering(clustering_settings(options))
    try:
        with exclusive_service(table.storage, "clustering", "clustering"):
            service.cancel(table, instant, service.load_plan(table, instant))
    except ConflictError as error:
        _log.info("%s %s of table %s is left to its own process: %s", instant.action, instant.requested, table.storage.uri, error)
    else:
        _log.warning(
            "rolled back %s %s of table %s, whose file groups are written to", instant.action, instant.requested, table.storage.uri
        )
