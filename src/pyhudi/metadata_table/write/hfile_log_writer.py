"""Writes a log file of a file group of the metadata table.

Rules: `HoodieHFileDataBlock`; docs/format/metadata-table.md#initialization, #log-blocks.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence

from pyhudi.codec.hfile import HFileWriter
from pyhudi.codec.log.log_content import encode_deletes
from pyhudi.codec.log.log_writer import encode_block
from pyhudi.metadata_table.format.merge_records import Joined
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.metadata_table.write.data_table_changes import GroupChanges
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys
from pyhudi.spec.files.file_group import FileSlice, join_path
from pyhudi.spec.files.file_names import LogFileName, next_log_name
from pyhudi.spec.files.log_block import BlockHeader, BlockType, LogBlock

INITIAL_TOKEN = "0-0-0"  # noqa: S105 - a write token


def write_initial_log(mdt: MetadataWriterTable, partition: str, file_id: str, instant: str) -> None:
    """Begin a file group, with an empty delete block: from here on it exists, whether it gets records or not."""
    block = encode_block(BlockType.DELETE, BlockHeader(instant=instant), encode_deletes(DeletedKeys((), (), ())))
    path = join_path(partition, str(LogFileName(file_id, instant, 1, INITIAL_TOKEN)))
    with mdt.storage.open_output(path) as sink:
        sink.write(block)


def write_log(mdt: MetadataWriterTable, file_slice: FileSlice, instant: str, token: str, change: GroupChanges) -> WriteStat:
    """Write the log file of a delta commit on top of a file slice: the records, then the deletes."""
    log = _log_name(mdt, file_slice, instant, token)
    name, partition = str(log), file_slice.group.partition_path
    content = b"".join(_blocks(mdt, partition, instant, change))
    with mdt.storage.open_output(join_path(partition, name)) as sink:
        sink.write(content)
    records = len(change.records) if change.columns is None else len(change.columns.rows)
    return WriteStat(
        file_id=file_slice.group.file_id,
        path=join_path(partition, name),
        prev_commit=log.instant,
        partition_path=partition,
        num_writes=records,
        num_deletes=len(change.deleted),
        num_update_writes=records,
        total_write_bytes=len(content),
        file_size_in_bytes=len(content),
        log_version=log.version,
        log_offset=0,
        base_file="" if file_slice.base is None else str(file_slice.base.name),
        log_files=(*(str(log.name) for log in file_slice.logs), name),
    )


def write_joined_log(
    mdt: MetadataWriterTable, file_slice: FileSlice, instant: str, token: str, blocks: Sequence[LogBlock], joined: Mapping[str, Joined]
) -> WriteStat:
    """Write the log file of a log compaction, which stands for `blocks`: the deletes, then the records, which may come after one.

    It is there whole or not at all.
    """
    log = _log_name(mdt, file_slice, instant, token)
    name, partition = str(log), file_slice.group.partition_path
    records = {key: one.record for key, one in joined.items() if one.record is not None}
    deleted = [key for key, one in joined.items() if one.wipes]
    replaces = tuple(dict.fromkeys(block.header.instant or "" for block in blocks))
    header = BlockHeader(instant=instant, schema_json=mdt.encoder.file_schema, replaces=replaces)
    change = GroupChanges(records, deleted)
    content = b"".join((*_deletes(partition, header, change, always=not records), *_records(mdt, header, change)))
    mdt.storage.create(join_path(partition, name), content)
    is_whole_file = mdt.config.layout > 1
    return WriteStat(
        file_id=file_slice.group.file_id,
        path=join_path(partition, name),
        prev_commit=file_slice.base_instant,
        partition_path=partition,
        num_writes=len(records),
        num_deletes=len(deleted),
        num_update_writes=len(records),
        total_write_bytes=len(content),
        file_size_in_bytes=len(content),
        log_version=log.version,
        log_offset=0,
        base_file="" if is_whole_file or file_slice.base is None else str(file_slice.base.name),
        log_files=(*(() if is_whole_file else (str(one.name) for one in file_slice.logs)), name),
        total_log_files_compacted=len(file_slice.logs),
        total_log_size_compacted=sum(block.content_size for block in blocks if block.type.holds_rows),
        total_log_blocks=len(blocks),
        total_updated_records_compacted=len(records),
    )


def _log_name(mdt: MetadataWriterTable, file_slice: FileSlice, instant: str, token: str) -> LogFileName:
    """Return the name of a delta commit's log file: it holds the commit's own time, in version 6 the slice's."""
    if mdt.config.layout > 1:
        return LogFileName(file_slice.group.file_id, instant, 1, token)
    return next_log_name(file_slice.group.file_id, file_slice.base_instant, (log.name for log in file_slice.logs), token)


def _blocks(mdt: MetadataWriterTable, partition: str, instant: str, change: GroupChanges) -> Iterable[bytes]:
    header = BlockHeader(instant=instant, schema_json=mdt.encoder.file_schema)
    yield from _records(mdt, header, change)
    yield from _deletes(partition, header, change)


def _records(mdt: MetadataWriterTable, header: BlockHeader, change: GroupChanges) -> Iterable[bytes]:
    if change.records or (change.columns is not None and len(change.columns.rows)):
        yield encode_block(BlockType.HFILE, header, _hfile(mdt, change))


def _deletes(partition: str, header: BlockHeader, change: GroupChanges, *, always: bool = False) -> Iterable[bytes]:
    if change.deleted or always:
        keys = tuple(sorted(change.deleted))
        deletes = DeletedKeys(keys, (partition,) * len(keys), (COMMIT_TIME_DELETE,) * len(keys))
        yield encode_block(BlockType.DELETE, header, encode_deletes(deletes))


def _hfile(mdt: MetadataWriterTable, change: GroupChanges) -> bytes:
    sink = io.BytesIO()
    writer = HFileWriter(sink, created_ms=mdt.sources.now_ms())
    for row, key in sorted((key.encode(), key) for key in change.records):
        writer.append(row, mdt.encoder.encode(change.records[key]))
    for block in () if change.columns is None else change.columns.blocks():
        writer.append_block(block)
    writer.finish(info={"schema": mdt.encoder.file_schema.encode()})
    return sink.getvalue()
