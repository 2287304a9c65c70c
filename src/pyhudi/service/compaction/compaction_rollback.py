"""Rolls back what a compaction wrote that did not come to its end. The caller holds the lock of compactions and that of the table.

Rules: `BaseHoodieTableServiceClient.rollbackInflightCompaction`. The plan stays requested, to be run again; `cancel` removes it as well.
"""

from __future__ import annotations

from collections.abc import Collection

from pyhudi.errors import UnsupportedError
from pyhudi.kernels.log_file.rollback_blocks import instants_in
from pyhudi.read.snapshot.commit_notes import check_notes
from pyhudi.service.rollback.rollback_service_run import delete_run, is_untouched
from pyhudi.spec.actions.compaction import CompactionPlan
from pyhudi.spec.files.file_names import LogFileName, parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import marked_appends, marked_files


def rollback_run(table: LockedTable, instant: Instant, plan: CompactionPlan) -> Instant:
    """Delete what a dead run of a plan wrote, and return the instant as requested.

    Raises:
        ConflictError: the run is alive: it is one of Apache Hudi, whose heartbeat is fresh.
    """
    if is_untouched(table, instant):
        return Instant(instant.requested, instant.action, State.REQUESTED)
    partitions = sorted({operation.group.partition_path for operation in plan.operations or ()})
    return delete_run(table, instant, partitions, written_files(table, instant, plan))


def cancel(table: LockedTable, instant: Instant, plan: CompactionPlan) -> None:
    """Take a pending compaction or log compaction off the timeline with what its runs wrote.

    Raises:
        UnsupportedError: log files apply on top of it whose names hold its time (table version 6); run it instead.
    """
    check_notes(table.storage, table.config, table.timeline)
    if table.config.layout == 1:
        _check_no_logs_on_top(table, instant, plan)
    table.writer.remove(rollback_run(table, instant, plan))


def written_files(table: LockedTable, instant: Instant, plan: CompactionPlan) -> tuple[str, ...]:
    """Return the paths of the files that runs of a plan left: what the markers name, and what else lies in the plan's partitions.

    A compaction writes base files, and logs of changes next to them; in layout 1 other log files that carry its time in their names are
    those of later delta commits.
    """
    parse = parse_base_file_name if instant.action is Action.COMPACTION else parse_log_file_name
    groups = {operation.group for operation in plan.operations or ()}
    ids = {group.file_id for group in groups}
    paths = set(marked_files(table.storage, instant.requested) or ())
    for partition in {group.partition_path for group in groups}:
        paths.update(status.path for status in table.storage.list(partition))
    names = ((path, parse(file) or _change_log(file)) for path in paths for file in (path.rpartition("/")[2],))
    written = {path for path, name in names if name and name.instant == instant.requested and name.file_id in ids}
    if table.config.layout == 1 and instant.action is Action.LOG_COMPACTION:
        written |= _logs_of_instant(table, instant, ids)
    return tuple(sorted(written))


def _change_log(file: str) -> LogFileName | None:
    name = parse_log_file_name(file)
    return name if name is not None and name.is_cdc else None


def _logs_of_instant(table: LockedTable, instant: Instant, ids: Collection[str]) -> set[str]:
    """Return the log files of version 6 that runs of a log compaction made: their names hold the time of their slice, markers name them.

    Hudi 0.x may have appended to a file that holds blocks of others as well: such a file stays. Blocks of an action that is not completed
    count for nobody.
    """
    paths = set()
    for path in marked_appends(table.storage, instant.requested):
        name, status = parse_log_file_name(path.rpartition("/")[2]), table.storage.stat(path)
        if name is None or name.file_id not in ids or status is None:
            continue
        if instants_in(table.storage, path, status.size) <= {instant.requested, None}:
            paths.add(path)
    return paths


def _check_no_logs_on_top(table: LockedTable, instant: Instant, plan: CompactionPlan) -> None:
    for group in {operation.group for operation in plan.operations or ()}:
        for status in table.storage.list(group.partition_path):
            name = parse_log_file_name(status.name)
            if name is not None and name.file_id == group.file_id and name.instant == instant.requested:
                raise UnsupportedError(
                    f"{instant.action} {instant.requested} of table {table.storage.uri} cannot be rolled back: '{status.path}' was written "
                    "on top of it. Run it: table.services.compact(...)."
                )
