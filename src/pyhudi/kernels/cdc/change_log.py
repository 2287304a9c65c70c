"""Logs of changes: the entries that a commit left next to a rewritten base file.

Rules: `HoodieCDCLogger`, `HoodieCDCDataBlock`; docs/format/cdc.md#change-log. An entry has `op`, and by the table's logging mode
`record_key` or `ts_ms`, the image `before`, the image `after`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from pyhudi.codec.log.log_file import read_content, scan_blocks
from pyhudi.errors import CorruptTableError, SchemaError, UnsupportedError
from pyhudi.kernels.arrays.avro_rows import decode
from pyhudi.kernels.base_file.parquet_input import corrupt_as_error
from pyhudi.kernels.base_file.schema_projection import alignment
from pyhudi.kernels.log_file.log_checksum import check_log_bytes
from pyhudi.schema.evolve import conform
from pyhudi.schema.promoted_rows import promoted_rows
from pyhudi.spec.files.file_group import LogFile
from pyhudi.spec.files.log_block import BlockType

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

_COLUMNS: Final = ("op", "record_key", "before", "after")


def read_change_log(storage: Storage, log: LogFile) -> Iterator[pa.Table]:
    """Yield the entries of a log of changes: `op` and those of `record_key`, `before` and `after` that it has.

    Raises:
        CorruptTableError: the file is missing or damaged.
        UnsupportedError: it holds what is not served.
    """
    with corrupt_as_error(storage, log.path), storage.open_input(log.path) as source:
        if log.checksum is not None:
            check_log_bytes(source, log.path, storage.uri, log.checksum)
        for block in scan_blocks(source, log.path, log.size):
            if block.type is not BlockType.CDC or block.header.schema_json is None:
                raise CorruptTableError(f"Log of changes '{log.path}' of the table at {storage.uri}: no changes at byte {block.offset}")
            try:
                yield from decode(read_content(source, block), block.header.schema_json, _COLUMNS)
            except (CorruptTableError, UnsupportedError) as error:
                raise type(error)(f"Log of changes '{log.path}' of the table at {storage.uri}, byte {block.offset}: {error}") from error


def images(entries: pa.Table, name: str, schema: pa.Schema, instant: str) -> tuple[pa.Table, pa.BooleanArray]:
    """Return the images of that name, the existing ones, as rows of the table's schema; and which entries have one.

    `instant` is the commit that wrote the log: its columns may have been called or typed otherwise.
    """
    column = entries.column(name).combine_chunks()
    has_image = column.is_valid()
    present = column.filter(has_image)
    rows = pa.Table.from_arrays(present.flatten(), schema=pa.schema(list(present.type)))
    other = alignment(schema, instant)
    try:
        return conform(promoted_rows(rows, schema) if other is None else other.rows(rows), schema), has_image
    except SchemaError as error:
        raise CorruptTableError(f"an image '{name}' does not fit the table: {error}") from error
