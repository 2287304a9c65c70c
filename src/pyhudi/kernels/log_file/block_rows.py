"""Rows of one data block as its writer typed them: Avro records, a Parquet file or an HFile within the log file.

Rules: `HoodieAvroDataBlock`, `HoodieParquetDataBlock`, `HoodieHFileDataBlock`; docs/format/log-files.md#avro-data-block,
#parquet-and-hfile-blocks.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.codec.hfile.reader import HFileReader
from pyhudi.codec.log.log_content import encode_avro_content
from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.kernels.arrays.avro_rows import decode
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.log_block import BlockType, LogBlock

_BATCH_ROWS = 1 << 16
#: Threads cost more than they save on a block of fewer bytes.
_WORTH_THREADS = 4 << 20


def data_rows(block: LogBlock, content: bytes, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the rows of a data block in pieces, those of the columns that it has.

    Raises:
        CorruptTableError: the content is damaged.
        UnsupportedError: it is of a kind that is not served.
    """
    match block.type:
        case BlockType.AVRO:
            yield from decode(content, _schema(block), columns)
        case BlockType.PARQUET:
            yield from _parquet_rows(content, columns)
        case BlockType.HFILE:
            yield from _hfile_rows(content, _schema(block), columns)
        case _:
            raise UnsupportedError(f"blocks of type {block.type.name} hold no rows of the table")


def _parquet_rows(content: bytes, columns: Sequence[str]) -> Iterator[pa.Table]:
    try:
        file = pq.ParquetFile(pa.BufferReader(content), coerce_int96_timestamp_unit="us", page_checksum_verification=True)
        stored = [name for name in columns if name in file.schema_arrow.names]
        for batch in file.iter_batches(_BATCH_ROWS, columns=stored, use_threads=len(content) > _WORTH_THREADS):
            yield pa.Table.from_batches([batch])
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError, UnicodeDecodeError) as error:
        raise CorruptTableError(f"the Parquet file in it cannot be read: {error}") from error


def _hfile_rows(content: bytes, schema: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield the records of an HFile; their key is the key of the cell, not part of the value."""
    entries = list(HFileReader(io.BytesIO(content), len(content)).entries())
    keys = pa.array([key.decode("utf-8", "replace") for key, _ in entries], pa.string())
    begin = 0
    for rows in decode(encode_avro_content(value for _, value in entries), schema, columns):
        index = rows.schema.get_field_index(RECORD_KEY)
        batch_keys = keys.slice(begin, rows.num_rows)
        begin += rows.num_rows
        yield rows if index < 0 else rows.set_column(index, RECORD_KEY, batch_keys)


def _schema(block: LogBlock) -> str:
    if block.header.schema_json is None:
        raise CorruptTableError("no schema in its header")
    return block.header.schema_json
