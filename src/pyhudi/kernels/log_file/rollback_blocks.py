"""Blocks in log files of version 6, which outlive the write that made them: whose they are, and the block that rolls them back.

Rules: `BaseRollbackHelper`; docs/format/log-files.md#log-file-names, #rollback-block. The block goes to a log file of its own, the next
version of the slice, since readers roll back what precedes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from pyhudi.codec.log.log_file import scan_blocks
from pyhudi.codec.log.log_writer import rollback_block
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import LogFileName, next_log_name, parse_log_file_name
from pyhudi.spec.files.log_block import BlockType
from pyhudi.storage.storage_protocol import FileStatus, Storage

_NO_TASK = "0-0-0"


def logs_of(storage: Storage, partition: str, file_ids: Collection[str]) -> Iterator[tuple[FileStatus, LogFileName]]:
    """Yield the log files of some file groups of a partition, those of changes left out."""
    for status in storage.list(partition):
        name = None if status.is_dir else parse_log_file_name(status.name)
        if name is not None and name.file_id in file_ids and not name.is_cdc:
            yield status, name


def instants_in(storage: Storage, path: str, size: int) -> set[str | None]:
    """Return the instants of the blocks of a log file; None is among them for a block that is damaged."""
    with storage.open_input(path) as source:
        return {block.header.instant for block in scan_blocks(source, path, size)}


def append_rollback_blocks(storage: Storage, rollback: str, target: str, partition: str, file_id: str, base: str) -> FileStatus:
    """Write the block by which the rollback rolls back what `target` wrote to one slice, and return its file.

    One that the rollback wrote before it was cut and taken up again is found and returned.
    """
    content = rollback_block(rollback, target)
    logs = [(status, name) for status, name in logs_of(storage, partition, {file_id}) if name.instant == base]
    for status, _ in logs:
        if status.size == len(content) and _is_rollback(storage, status, rollback, target):
            return status
    path = join_path(partition, str(next_log_name(file_id, base, (name for _, name in logs), _NO_TASK)))
    storage.create(path, content)
    return FileStatus(path, len(content), 0)


def _is_rollback(storage: Storage, status: FileStatus, rollback: str, target: str) -> bool:
    with storage.open_input(status.path) as source:
        headers = [block.header for block in scan_blocks(source, status.path, status.size) if block.type is BlockType.COMMAND]
    return any((header.instant, header.target_instant) == (rollback, target) for header in headers)
