"""Rows and deletes of the log blocks of a file slice, as Arrow in log order.

Rules: `HoodieDataBlock`, `HoodieDeleteBlock`, `FileGroupRecordBuffer`; docs/format/log-files.md#avro-data-block, #parquet-and-hfile-blocks,
#delete-block, #record-positions, docs/format/merging.md#deletes-among-data-records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.codec.log.log_content import iter_deletes
from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.errors import CorruptTableError, KeyFieldError, SchemaError, UnsupportedError
from pyhudi.kernels.arrays.array_types import Indices, Mask
from pyhudi.kernels.arrays.key_bytes import parts_of
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.parquet_input import corrupt_as_error
from pyhudi.kernels.base_file.schema_projection import alignment
from pyhudi.kernels.base_file.write_columns import marked_deletes
from pyhudi.kernels.keys.key_kernels import with_computed_keys
from pyhudi.kernels.log_file.base_positions import has_positions_in, positions_of
from pyhudi.kernels.log_file.block_rows import data_rows
from pyhudi.kernels.log_file.delete_ordering import delete_ordering
from pyhudi.kernels.log_file.log_checksum import check_log_bytes
from pyhudi.kernels.log_file.visible_blocks import LOGS_NAMED_BY_INSTANT
from pyhudi.schema.avro_arrow import avro_to_arrow
from pyhudi.schema.evolve import conform
from pyhudi.schema.field_paths import head_columns
from pyhudi.schema.meta_columns import IS_DELETED, META_FIELDS, OPERATION, RECORD_KEY
from pyhudi.schema.promoted_rows import promoted_rows
from pyhudi.spec.files.delete_record import DeletedKeys
from pyhudi.spec.files.file_group import FileSlice, LogFile
from pyhudi.spec.files.log_block import BlockType, LogBlock

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

_READ_OPTIMIZED = "until then a read-optimized query gives the rows of the base files."
_DELETING_OPERATIONS = pa.array(["D", "-U"])


@dataclass(frozen=True, slots=True)
class LogRows:
    """Versions of records, in the order in which they apply.

    `rows` has the columns that were asked for or that decide, the record key among them as a rule, with the table's types; of a delete
    only key and ordering values count. `positions` are rows of the slice's base file, -1 where a block does not tell. `block` is the
    number of each version's block, and `present_columns` says for each block which columns its rows bring, None for all.
    """

    rows: pa.Table
    deletes: Mask
    commit_time_deletes: Mask
    positions: Indices
    block: Indices
    present_columns: tuple[frozenset[str] | None, ...]

    @property
    def keys(self) -> pa.StringArray:
        """The record keys."""
        return self.rows.column(RECORD_KEY).combine_chunks()


@dataclass(frozen=True, slots=True)
class _BlockPart:
    rows: pa.Table
    deletes: Mask
    commit_time_deletes: Mask
    positions: Indices


def slice_blocks(storage: Storage, block_part: FileSlice, layout: int) -> list[LogBlock]:
    """Return all blocks of a slice's log files; files of change logs are passed over.

    Raises:
        CorruptTableError: a file is missing, or is no log file, or has another checksum than its commit noted, or (from timeline layout 2
            on) holds a damaged block, or one of another instant than its own: it was written for another table, or copied wrongly.
    """
    blocks: list[LogBlock] = []
    for log in block_part.logs:
        if not log.name.is_cdc:
            with corrupt_as_error(storage, log.path), storage.open_input(log.path) as source:
                if log.checksum is not None:
                    check_log_bytes(source, log.path, storage.uri, log.checksum)
                scanned = list(scan_blocks(source, log.path, log.size, 0 if log.checksum is None else log.checksum.size))
            # Logs named by their slice's instant were there before an upgrade from version 6, and hold blocks of several instants.
            if layout >= LOGS_NAMED_BY_INSTANT and not log.is_shared and log.name.instant != block_part.base_instant:
                check_blocks_of_instant(storage, log, scanned, _READ_OPTIMIZED)
            blocks += scanned
    return blocks


def check_blocks_of_instant(storage: Storage, log: LogFile, blocks: Sequence[LogBlock], advice: str) -> None:
    """Refuse a committed file that is not as its writer left it; `advice` says what a reader can do meanwhile.

    Apache Hudi passes over damaged blocks, since before version 8 a failed writer could leave one behind in a file that others continued
    with. A file of one committed instant has no such place: what is damaged are rows of the commit.

    Raises:
        CorruptTableError: names file and place.
    """
    for block in blocks:
        index = f"Log file '{log.path}' of the table at {storage.uri}, block at byte {block.offset}"
        if block.type is BlockType.CORRUPT:
            raise CorruptTableError(
                f"{index}: {block.size} bytes are damaged, and with them rows of commit {log.name.instant}. Restore the file from a copy; "
                f"{advice}"
            )
        if block.header.instant not in (None, log.name.instant):
            raise CorruptTableError(
                f"{index}: its instant is {block.header.instant}, not that of the file's name. The file is another one's; "
                "restore the right one."
            )


def read_log_rows(
    storage: Storage,
    context: RecordContext,
    blocks: Sequence[LogBlock],
    columns: Sequence[str],
    *,
    base_instant: str | None = None,
    part: tuple[int, int] = (0, 1),
    keyed: bool = True,
) -> LogRows:
    """Read blocks that count.

    Args:
        storage: the table's storage.
        context: what the rows of the table look like.
        blocks: the blocks, in the order in which they apply.
        columns: names of the columns that are wanted; those by which versions are compared come as well.
        base_instant: instant of the slice's base file; positions in other files do not count.
        part: number and count of parts; only keys of this part are returned.
        keyed: return the record keys, also when they are not among the columns.

    Raises:
        CorruptTableError: a block is damaged; names file and offset.
        UnsupportedError: a block or its schema is of a kind that is not served.
    """
    projection = _projection_of(context, columns, keyed=keyed)
    block_parts: list[_BlockPart] = []
    numbers: list[Indices] = []
    for number, (block, content) in enumerate(_contents(storage, blocks)):
        try:
            parts = [_of_part(block_part, part) for block_part in _block_parts(block, content, context, projection, base_instant)]
        except (CorruptTableError, UnsupportedError, SchemaError, KeyFieldError) as error:
            kind = UnsupportedError if isinstance(error, UnsupportedError) else CorruptTableError
            raise kind(f"Log file '{block.path}' of the table at {storage.uri}, block at byte {block.offset}: {error}") from error
        block_parts += parts
        numbers += [np.full(block_part.rows.num_rows, number) for block_part in parts]
    return _join_blocks(block_parts, numbers, tuple(_held_columns(block, context) for block in blocks), projection)


def _projection_of(context: RecordContext, columns: Sequence[str], *, keyed: bool) -> pa.Schema:
    """Return the columns to read, all nullable: a delete has no values."""
    deciding = {*context.compared_columns, IS_DELETED, context.delete_field}
    names = {*columns, *deciding}
    if keyed:
        names.add(RECORD_KEY)
    if context.virtual_key is not None and RECORD_KEY in names:
        names |= {*head_columns(context.virtual_key.key_fields)}
    return pa.schema([field.with_nullable(True) for field in (*META_FIELDS, *context.schema) if field.name in names])


def _contents(storage: Storage, blocks: Sequence[LogBlock]) -> Iterator[tuple[LogBlock, bytes]]:
    for path, of_file in groupby(blocks, key=lambda block: block.path):
        with corrupt_as_error(storage, path), storage.open_input(path) as source:
            for block in of_file:
                yield block, read_content(source, block)


def _block_parts(
    block: LogBlock, content: bytes, context: RecordContext, projection: pa.Schema, base_instant: str | None
) -> Iterator[_BlockPart]:
    positions = _positions(block, base_instant)
    begin = 0
    if block.type is BlockType.DELETE:
        for deleted in iter_deletes(content):
            end = begin + len(deleted.keys)
            yield _deletes(deleted, context, projection, _between(positions, begin, end))
            begin = end
    else:
        other = alignment(context.schema, block.header.instant or "")
        requested_names = [*projection.names, OPERATION]
        names = requested_names if other is None else [name for name in map(other.stored_name, requested_names) if name is not None]
        for stored in data_rows(block, content, names):
            rows = promoted_rows(stored, projection) if other is None else other.rows(stored)
            end = begin + rows.num_rows
            yield _live(rows, context, projection, _between(positions, begin, end))
            begin = end
    if positions is not None and begin != len(positions):
        raise CorruptTableError(f"{begin} records have {len(positions)} positions")


def _live(rows: pa.Table, context: RecordContext, projection: pa.Schema, positions: Indices) -> _BlockPart:
    """Return rows of a data block, some of which may be marked as deletes."""
    typed = conform(rows, projection)
    if RECORD_KEY in projection.names:
        typed = with_computed_keys(typed, context.virtual_key)
    deletes = marked_deletes(typed, context)
    if OPERATION in rows.schema.names:
        deletes |= pc.is_in(rows.column(OPERATION), _DELETING_OPERATIONS).to_numpy().astype(bool)
    # Where no ordering values are compared, every delete counts by commit time.
    hard = np.zeros(len(deletes), bool) if context.compared_fields else deletes
    return _BlockPart(typed, deletes, hard, positions)


def _deletes(deleted: DeletedKeys, context: RecordContext, projection: pa.Schema, positions: Indices) -> _BlockPart:
    count = len(deleted.keys)
    values, hard = delete_ordering(deleted.ordering, context)
    values[RECORD_KEY] = pa.array(deleted.keys, pa.string())
    columns = [values[field.name] if field.name in values else pa.nulls(count, field.type) for field in projection]
    return _BlockPart(pa.Table.from_arrays(columns, schema=projection), np.ones(count, bool), hard, positions)


def _positions(block: LogBlock, base_instant: str | None) -> Indices | None:
    """Return where a block's records are in the slice's base file; None when it does not tell."""
    return positions_of(block) if has_positions_in(block, base_instant) else None


def _between(positions: Indices | None, begin: int, end: int) -> Indices:
    if positions is None:
        return np.full(end - begin, -1)
    if end > len(positions):
        raise CorruptTableError(f"more than {len(positions)} records have {len(positions)} positions")
    return positions[begin:end]


def _held_columns(block: LogBlock, context: RecordContext) -> frozenset[str] | None:
    if not block.header.is_partial:
        return None
    if block.header.schema_json is None:
        raise CorruptTableError(f"Log file '{block.path}', block at byte {block.offset}: partial rows without a schema")
    names = avro_to_arrow(block.header.schema_json).names
    other = alignment(context.schema, block.header.instant or "")
    return frozenset(names if other is None else filter(None, map(other.table_name, names)))


def _of_part(block_part: _BlockPart, part: tuple[int, int]) -> _BlockPart:
    number, count = part
    if RECORD_KEY not in block_part.rows.schema.names:
        return block_part
    keys = block_part.rows.column(RECORD_KEY).combine_chunks()
    if keys.null_count:
        raise CorruptTableError("a record has no key")
    if count == 1:
        return block_part
    mine = parts_of(keys, count) == number
    rows = block_part.rows.filter(pa.array(mine)).combine_chunks()
    return _BlockPart(rows, block_part.deletes[mine], block_part.commit_time_deletes[mine], block_part.positions[mine])


def _join_blocks(
    block_parts: Sequence[_BlockPart], numbers: Sequence[Indices], present_columns: tuple[frozenset[str] | None, ...], projection: pa.Schema
) -> LogRows:
    if not block_parts:
        nothing, nobody = np.zeros(0, bool), np.zeros(0, np.int64)
        return LogRows(projection.empty_table(), nothing, nothing, nobody, nobody, present_columns)
    return LogRows(
        pa.concat_tables([block_part.rows for block_part in block_parts]),
        np.concatenate([block_part.deletes for block_part in block_parts]),
        np.concatenate([block_part.commit_time_deletes for block_part in block_parts]),
        np.concatenate([block_part.positions for block_part in block_parts]),
        np.concatenate(numbers),
        present_columns,
    )
