"""Rows of one append as blocks of a log file: data blocks first, then one delete block for all deletes.

Rules: `HoodieAppendHandle`, `HoodieLogBlock`; docs/format/log-files.md#header-map, #avro-data-block, #parquet-and-hfile-blocks,
#delete-block, #record-positions, docs/format/data-files.md#routing-in-merge-on-read-tables. Rows and deletes whose places in the base file
are all known are in the order of those places, which the header tells; a reader may then mask them without looking at a key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from pyhudi.codec.log.log_content import encode_avro_content, encode_deletes
from pyhudi.codec.log.log_writer import encode_block
from pyhudi.codec.log.roaring_positions import encode_positions
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.avro_rows import encode
from pyhudi.kernels.arrays.byte_size import rows_of_bytes
from pyhudi.kernels.arrays.ordering_columns import ordering_columns
from pyhudi.kernels.base_file.base_file import FOOTER_AVRO_SCHEMA, RecordContext, WriterSettings
from pyhudi.kernels.base_file.meta_column_writer import MetaColumnWriter, without_identity
from pyhudi.kernels.base_file.parquet_output import open_writer
from pyhudi.kernels.base_file.write_columns import POSITION_COLUMN, commit_time_deletes
from pyhudi.kernels.log_file.append_task import AppendTask
from pyhudi.kernels.log_file.ordering_types import ordering_types
from pyhudi.schema.avro_arrow import only_fields
from pyhudi.schema.meta_columns import META_COLUMNS, RECORD_KEY
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE, DeletedKeys
from pyhudi.spec.files.log_block import BlockHeader, BlockType


def data_blocks(rows: pa.Table, context: RecordContext, settings: WriterSettings, task: AppendTask) -> Iterator[bytes]:
    """Yield keyed rows as data blocks of about `settings.log.block_bytes`, with all columns or those that the task names."""
    stamp = MetaColumnWriter(task.instant, task.write_token.split("-", 1)[0], task.partition_path, task.file_id)
    columns, avro_json = _schema(context, task)
    step = rows_of_bytes(rows, settings.log.block_bytes)
    for start in range(0, rows.num_rows, step):
        part, positions = _by_position(rows.slice(start, step), settings, task)
        header = _header(task, avro_json, positions, is_partial=task.columns is not None)
        stamped = stamp.new(part, columns)
        content = block_content(stamped if context.virtual_key is None else without_identity(stamped), avro_json, settings)
        yield encode_block(settings.log.block_type, header, content)


def delete_block(rows: pa.Table, context: RecordContext, settings: WriterSettings, task: AppendTask) -> bytes:
    """Return one block that deletes the records of keyed rows, each with its ordering value unless it is a delete by commit time."""
    rows, positions = _by_position(rows, settings, task)
    deleted = DeletedKeys(
        keys=tuple(rows.column(RECORD_KEY).to_pylist()),
        partition_paths=(task.partition_path,) * rows.num_rows,
        ordering=tuple(_ordering_values(rows, context)),
    )
    header = _header(task, context.avro_schema_json, positions)
    return encode_block(BlockType.DELETE, header, encode_deletes(deleted, ordering_types(context)))


def _schema(context: RecordContext, task: AppendTask) -> tuple[pa.Schema, str]:
    """Return the columns of the task's rows, in Arrow and in Avro."""
    if task.columns is None:
        return context.file_schema, context.avro_schema_json
    names = {*META_COLUMNS, *task.columns}
    columns = pa.schema([field for field in context.file_schema if field.name in names])
    return columns, only_fields(context.avro_schema_json, names)


def _header(task: AppendTask, avro_json: str, positions: str | None, *, is_partial: bool = False) -> BlockHeader:
    base = task.slice.base
    return BlockHeader(
        instant=task.instant,
        schema_json=avro_json,
        positions=positions,
        positions_of=None if positions is None or base is None else base.name.instant,
        is_partial=is_partial,
    )


def _by_position(rows: pa.Table, settings: WriterSettings, task: AppendTask) -> tuple[pa.Table, str | None]:
    """Return the rows in the order of their places with the header's text, or as they are when a place is not known."""
    # Version 6, whose logs are named by their slice, has no positions.
    known = task.is_named_by_instant and task.slice.base is not None
    if not settings.log.positions or not known or POSITION_COLUMN not in rows.schema.names:
        return rows, None
    column = rows.column(POSITION_COLUMN)
    if column.null_count or not len(column):
        return rows, None
    positions: Indices = column.to_numpy()
    order = np.argsort(positions)
    in_order = positions[order]
    if in_order[0] < 0 or (np.diff(in_order) == 0).any():
        return rows, None
    return rows.take(pa.array(order)), encode_positions(in_order.tolist())


def block_content(rows: pa.Table, avro_json: str, settings: WriterSettings) -> bytes:
    """Return rows with their meta columns as the content of a data block of the type that the settings say."""
    if settings.log.block_type is BlockType.AVRO:
        return encode_avro_content(encode(rows, avro_json))
    sink = pa.BufferOutputStream()
    with open_writer(sink, rows.schema, settings, rows) as writer:
        writer.write_table(rows.unify_dictionaries(), row_group_size=rows.num_rows)
        writer.add_key_value_metadata({FOOTER_AVRO_SCHEMA: avro_json})
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _ordering_values(rows: pa.Table, context: RecordContext) -> Sequence[object]:
    fields = context.ordering_fields
    hard = commit_time_deletes(rows)
    if not fields or hard.all():
        return [COMMIT_TIME_DELETE] * rows.num_rows
    columns = [column.to_pylist() for column in ordering_columns(rows, fields)]
    values = columns[0] if len(fields) == 1 else list(zip(*columns, strict=True))
    return [COMMIT_TIME_DELETE if by_commit else value for by_commit, value in zip(hard, values, strict=True)]
