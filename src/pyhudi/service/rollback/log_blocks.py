"""Log files of version 6 outlive the write that made them: what a failed write put there is taken back by a block that says so.

Rules: `MarkerBasedRollbackStrategy`, `BaseRollbackHelper`; format notes 1.1, 1.8. The block goes to a log file of its own, the next
version of the slice, since readers take back what stands before it. A second such block, of a rollback that was cut and
taken up again, takes back nothing more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from pyhudi.codec.log_file import scan_blocks
from pyhudi.codec.log_writer import rollback_block
from pyhudi.errors import CorruptTableError
from pyhudi.spec.file_group import FileGroupId, join_path
from pyhudi.spec.file_names import LogFileName, next_log_name, parse_base_file_name, parse_log_file_name
from pyhudi.spec.instant import Instant, State
from pyhudi.spec.rollback import RollbackRequest
from pyhudi.storage.protocol import FileStatus, Storage
from pyhudi.timeline.payload import read_commit
from pyhudi.txn.locked import LockedTable
from pyhudi.txn.markers import marked_appends

_NO_TASK = "0-0-0"


def log_requests(table: LockedTable, failed: Instant) -> list[RollbackRequest]:
    """Return what to take back in log files, one request for each slice that holds blocks of the failed write, whole or cut off.

    File groups that the write's markers or its inflight file name are looked through, header by header, because a marker of Hudi 0.x does
    not name the log file.
    """
    marked = marked_appends(table.storage, failed.requested)
    by_partition: dict[str, set[str]] = defaultdict(set)
    for group in _touched_groups(table, failed, marked):
        by_partition[group.partition_path].add(group.file_id)
    requests = []
    for partition, file_ids in sorted(by_partition.items()):
        found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for status, name in _logs_of(table.storage, partition, file_ids):
            if status.path in marked or _holds_blocks_of(table.storage, status, failed.requested):
                found[name.file_id, name.instant][status.name] = status.size
        requests += [
            RollbackRequest(partition, file_id, latest_base_instant=base, log_blocks_to_delete=logs)
            for (file_id, base), logs in sorted(found.items())
        ]
    return requests


def take_back_blocks(table: LockedTable, rollback: str, target: str, request: RollbackRequest) -> FileStatus:
    """Write the block by which the rollback takes back what `target` wrote to one slice, and return its file.

    Raises:
        CorruptTableError: the plan does not say which slice.
    """
    file_id, base = request.file_id, request.latest_base_instant
    if not file_id or not base:
        raise CorruptTableError(f"The plan to roll back {target} names log blocks in '{request.partition_path}' without their file slice.")
    taken = (name for _, name in _logs_of(table.storage, request.partition_path, {file_id}))
    path = join_path(request.partition_path, str(next_log_name(file_id, base, taken, _NO_TASK)))
    content = rollback_block(rollback, target)
    table.storage.create(path, content)
    return FileStatus(path, len(content), 0)


def _touched_groups(table: LockedTable, failed: Instant, marked: Collection[str]) -> Iterator[FileGroupId]:
    for path in marked:
        partition, _, name = path.rpartition("/")
        parsed = parse_log_file_name(name) or parse_base_file_name(name)
        assert parsed is not None, "markers were looked at when they were read"
        yield FileGroupId(partition, parsed.file_id)
    if failed.state is State.INFLIGHT:
        for partition, stats in read_commit(table.storage, table.config, failed).stats.items():
            yield from (FileGroupId(partition, stat.file_id) for stat in stats if stat.file_id)


def _logs_of(storage: Storage, partition: str, file_ids: Collection[str]) -> Iterator[tuple[FileStatus, LogFileName]]:
    for status in storage.list(partition):
        name = None if status.is_dir else parse_log_file_name(status.name)
        if name is not None and name.file_id in file_ids and not name.is_cdc:
            yield status, name


def _holds_blocks_of(storage: Storage, status: FileStatus, instant: str) -> bool:
    with storage.open_input(status.path) as source:
        return any(block.header.instant == instant for block in scan_blocks(source, status.path, status.size))
