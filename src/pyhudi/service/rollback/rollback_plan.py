"""Which files a failed write left behind.

Rules: `MarkerBasedRollbackStrategy`, `ListingBasedRollbackStrategy`. The markers name the files; the partitions they
lie in, and those that the inflight file names, are listed too. A write that began without leaving markers may have been
anywhere: then all partitions are. Log files of version 6 are not deleted, see `log_blocks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pyhudi.errors import CorruptTableError, KeyFieldError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.service.rollback.append_rollback_block import log_requests
from pyhudi.spec.actions.rollback import InstantInfo, RollbackPlan, RollbackRequest
from pyhudi.spec.files import partition_path
from pyhudi.spec.files.file_group import is_in_partition, join_path
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.storage_protocol import Storage
from pyhudi.timeline.instant_details import read_commit
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import is_file_of, marked_files

_ACTIONS = frozenset(map(str, Action))
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?=//)")


def plan_rollback(table: LockedTable, failed: Instant) -> RollbackPlan:
    """Return the plan that rolls back a pending commit, deltacommit or replacecommit."""
    marked = marked_files(table.storage, failed.requested)
    partitions = {path.rpartition("/")[0] for path in marked or ()} | _profiled_partitions(table, failed)
    if marked is None and failed.state is State.INFLIGHT:
        partitions.update(FileSystemView(table.storage, table.config, table.timeline).partition_paths())
    files = set(marked or ()).union(listed_files(table.storage, partitions, failed.requested))
    requests = [request_of(table, path, failed.requested) for path in sorted(files) if may_be_deleted(path, table.config)]
    if table.config.layout == 1:
        requests += log_requests(table, failed)
    return RollbackPlan(InstantInfo(failed.requested, failed.action.value), tuple(requests))


def listed_files(storage: Storage, partitions: Iterable[str], requested: str) -> Iterator[str]:
    """Yield the data files in some partitions that have the time of an instant in their names."""
    for partition in partitions:
        yield from (status.path for status in storage.list(partition) if not status.is_dir and is_file_of(status.name, requested))


def planned_files(plan: RollbackPlan) -> dict[str, list[str]]:
    """Return the paths to delete, relative to the table's base, by partition path.

    Plans name files absolutely, and tables get moved: partition path and file name decide.

    Raises:
        CorruptTableError: the plan does not name an instant, or it names a file that its instant did not write, or one outside the table.
    """
    if plan.instant is None:
        raise CorruptTableError("it does not say which instant it rolls back")
    if not plan.instant.time.isdecimal() or plan.instant.action not in _ACTIONS:
        raise CorruptTableError(f"it rolls back {plan.instant.action} '{plan.instant.time}', which is no instant")
    files: dict[str, list[str]] = {}
    for request in plan.requests or ():
        _check_request(request)
        paths = files.setdefault(request.partition_path, [])
        for named in request.files_to_delete:
            folder, _, name = named.rpartition("/")
            if not is_file_of(name, plan.instant.time) or not is_in_partition(folder, request.partition_path):
                raise CorruptTableError(
                    f"it names '{named}', which {plan.instant.time} did not write to partition '{request.partition_path}'"
                )
            paths.append(join_path(request.partition_path, name))
    return files


def _check_request(request: RollbackRequest) -> None:
    try:
        partition_path.check(request.partition_path)
    except KeyFieldError as error:
        raise CorruptTableError(f"it leads out of the table: {error}") from None
    if request.log_blocks_to_delete and (not request.file_id or not request.latest_base_instant):
        raise CorruptTableError(f"it names log blocks in '{request.partition_path}' without their file slice")
    if request.log_blocks_to_delete and "/" in f"{request.file_id}{request.latest_base_instant}":
        raise CorruptTableError(f"it leads out of partition '{request.partition_path}': file group '{request.file_id}'")


def may_be_deleted(path: str, config: TableConfig) -> bool:
    """Tell whether a file with a write's time in its name is that write's alone."""
    return config.layout > 1 or parse_base_file_name(path.rpartition("/")[2]) is not None


def absolute(table: LockedTable, path: str) -> str:
    """Return a path as rollback files name it: absolute, without scheme."""
    return f"{_SCHEME.sub('', table.storage.uri, count=1)}/{path}"


def _profiled_partitions(table: LockedTable, failed: Instant) -> set[str]:
    """Partitions that the inflight file names; it may be empty or, in a table of others, hold anything."""
    if failed.state is not State.INFLIGHT:
        return set()
    partitions = set(read_commit(table.storage, table.config, failed).stats)
    for path in partitions:
        partition_path.check(path)
    return partitions


def request_of(table: LockedTable, path: str, instant: str) -> RollbackRequest:
    """Return the request to delete a data file of an instant that is rolled back."""
    partition, _, name = path.rpartition("/")
    parsed = parse_base_file_name(name) or parse_log_file_name(name)
    assert parsed is not None, "only names of data files are collected"
    return RollbackRequest(
        partition_path=partition, file_id=parsed.file_id, latest_base_instant=instant, files_to_delete=(absolute(table, path),)
    )
