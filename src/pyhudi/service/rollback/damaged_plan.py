"""Rolls back pending compactions and clusterings whose plan is damaged, such as one that Apache Hudi died in the middle of writing.

What a run wrote is known without its plan: the names of its files hold its time. Where they do not tell (log files of table version 6,
buckets of consistent hashing), nothing is deleted.
"""

from __future__ import annotations

from dataclasses import replace

from pyhudi.errors import CorruptTableError, UnsupportedError, UsageError
from pyhudi.fsview.partition_listing import walk_partitions
from pyhudi.fsview.pending_plans import read_plan
from pyhudi.index.consistent_hashing import is_consistently_hashed
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service.rollback.rollback_service_run import delete_run
from pyhudi.spec.actions.rollback import InstantInfo, RollbackPlan, RollbackRequest
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.pending_clustering import clustered_groups
from pyhudi.timeline.timeline import Timeline
from pyhudi.txn.locked_table import LockedTable

_ACTIONS = (Action.COMPACTION, Action.LOG_COMPACTION, Action.CLUSTERING, Action.REPLACE_COMMIT)


def find_damaged_plan(storage: Storage, config: TableConfig, timeline: Timeline, requested: str) -> Instant | None:
    """Return the pending compaction, log compaction or clustering of a requested time whose plan is damaged; None of all others."""
    instant = _pending(timeline, requested)
    try:
        if instant is not None and instant.action in (Action.COMPACTION, Action.LOG_COMPACTION):
            read_plan(storage, config, instant)
        elif instant is not None:
            clustered_groups(storage, config, replace(timeline, instants=(instant,)))
    except CorruptTableError:
        return instant
    return None


def roll_back_without_plan(table: LockedTable, requested: str, *, dry_run: bool) -> RollbackPlan:
    """Take a plan off the timeline with what its runs wrote, and return that in the form of a rollback plan.

    Raises:
        UsageError: it is not pending any more.
        ConflictError: the run is alive: it is one of Apache Hudi, whose heartbeat is fresh.
        UnsupportedError: the names of files do not tell what the run wrote.
    """
    instant = _pending(table.timeline, requested)
    if instant is None:
        raise UsageError(f"{requested} is no pending service of table {table.storage.uri} any more; look at table.history().")
    check_notes(table.storage, table.config, table.timeline)
    paths = _written_files(table, instant)
    if not dry_run:
        partitions = sorted({path.rpartition("/")[0] for path in paths})
        table.writer.remove(delete_run(table, instant, partitions, paths))
    requests = tuple(RollbackRequest(path.rpartition("/")[0], None, requested, (path,)) for path in paths)
    return RollbackPlan(InstantInfo(requested, instant.action.value), requests)


def _pending(timeline: Timeline, requested: str) -> Instant | None:
    return next((one for one in timeline.find(requested) if not one.is_completed and one.action in _ACTIONS), None)


def _written_files(table: LockedTable, instant: Instant) -> tuple[str, ...]:
    names_tell = table.config.layout > 1 or instant.action is not Action.LOG_COMPACTION
    if not names_tell or is_consistently_hashed(table.storage, table.config):
        raise _not_known(table, instant, "the names of its files do not tell what it wrote")
    paths = []
    for _, listing in walk_partitions(table.storage):
        for status in listing:
            log = parse_log_file_name(status.name)
            name = log or parse_base_file_name(status.name)
            if name is None or name.instant != instant.requested:
                continue
            if log is not None and not log.is_cdc and instant.action is not Action.LOG_COMPACTION:
                raise _not_known(table, instant, f"'{status.path}' was written on top of it")
            paths.append(status.path)
    return tuple(sorted(paths))


def _not_known(table: LockedTable, instant: Instant, reason: str) -> UnsupportedError:
    return UnsupportedError(
        f"{instant.action} {instant.requested} of table {table.storage.uri} has a damaged plan and cannot be rolled back: {reason}. Put"
        f" '{table.config.timeline_path}/{instant.requested}.{instant.action}.requested' back from a copy of the table."
    )
