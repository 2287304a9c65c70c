"""Log files of version 6 outlive the write that made them: what a failed write put there is rolled back by a block that says so.

Rules: `MarkerBasedRollbackStrategy`, `BaseRollbackHelper`; docs/format/log-files.md#log-file-names, #rollback-block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.log_file.rollback_blocks import append_rollback_blocks, instants_in, logs_of
from pyhudi.spec.actions.rollback import RollbackRequest
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.files.file_names import parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Instant, State
from pyhudi.storage.storage_protocol import FileStatus, Storage
from pyhudi.timeline.instant_details import read_commit
from pyhudi.txn.locked_table import LockedTable
from pyhudi.txn.markers import marked_appends


def log_requests(table: LockedTable, failed: Instant) -> list[RollbackRequest]:
    """Return what to roll back in log files, one request for each slice that holds blocks of the failed write, whole or cut off.

    File groups that the write's markers, its inflight or its completed file name are looked through, header by header, because a marker of
    Hudi 0.x does not name the log file.
    """
    marked = marked_appends(table.storage, failed.requested)
    by_partition: dict[str, set[str]] = defaultdict(set)
    for group in _touched_groups(table, failed, marked):
        by_partition[group.partition_path].add(group.file_id)
    requests = []
    for partition, file_ids in sorted(by_partition.items()):
        sizes_by_slice: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for status, name in logs_of(table.storage, partition, file_ids):
            if status.path in marked or failed.requested in instants_in(table.storage, status.path, status.size):
                sizes_by_slice[name.file_id, name.instant][status.name] = status.size
        requests += [
            RollbackRequest(partition, file_id, latest_base_instant=base, log_blocks_to_delete=logs)
            for (file_id, base), logs in sorted(sizes_by_slice.items())
        ]
    return requests


def rollback_pending(storage: Storage, rollback: str, target: str, request: RollbackRequest) -> FileStatus:
    """Write the block by which the rollback rolls back what `target` wrote to one slice, and return its file.

    Raises:
        CorruptTableError: the plan does not say which slice.
    """
    file_id, base = request.file_id, request.latest_base_instant
    if not file_id or not base:
        raise CorruptTableError(f"The plan to roll back {target} names log blocks in '{request.partition_path}' without their file slice.")
    return append_rollback_blocks(storage, rollback, target, request.partition_path, file_id, base)


def _touched_groups(table: LockedTable, failed: Instant, marked: Collection[str]) -> Iterator[FileGroupId]:
    for path in marked:
        partition, _, name = path.rpartition("/")
        parsed = parse_log_file_name(name) or parse_base_file_name(name)
        assert parsed is not None, "markers were looked at when they were read"
        yield FileGroupId(partition, parsed.file_id)
    if failed.state is not State.REQUESTED:
        for partition, stats in read_commit(table.storage, table.config, failed).stats.items():
            yield from (FileGroupId(partition, stat.file_id) for stat in stats if stat.file_id)
