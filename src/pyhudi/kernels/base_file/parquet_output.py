"""How every Parquet file of ours is laid out, whether it is alone or inside a log block.

Each page carries the CRC of its bytes, as those of parquet-java do (`parquet.page.write-checksum.enabled`): a changed bit in compressed
values need not make them unreadable.

Pages are of format version 1, which every Parquet reader around Hudi takes; decimals have fixed length, lists three levels.
"""

from __future__ import annotations

from typing import BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.codec.parquet.copied_source import ParquetSource
from pyhudi.kernels.arrays.leaf_columns import columns_with_statistics, dictionary_columns
from pyhudi.kernels.base_file.base_file import PARQUET_CODECS, WriterSettings

#: Arrow puts at most so many rows into a page. A page index would tell nothing of files that are one page, and take a fifth of a small one.
_PAGE_ROWS: Final = 20_000


def open_writer(
    output: BinaryIO | pa.NativeFile, schema: pa.Schema, settings: WriterSettings, first: pa.Table, *, indexed: bool = False
) -> pq.ParquetWriter:
    """Return a writer of rows of `schema`.

    Args:
        output: where it writes.
        schema: columns of the file.
        settings: compression and sizes.
        first: the rows that it begins with; they tell which columns are worth a dictionary, and which have statistics. Where further rows
            hold NaN in such a column, `without_bounds` takes them out again.
        indexed: write a page index whatever the number of rows.
    """
    return pq.ParquetWriter(
        output,
        schema,
        version="1.0",
        data_page_version="1.0",
        compression=PARQUET_CODECS[settings.compression],
        compression_level=settings.level if settings.compression == "zstd" else None,
        data_page_size=settings.page_bytes,
        use_dictionary=dictionary_columns(first) if settings.dictionary else False,
        write_statistics=columns_with_statistics(first) if settings.bounded is None else list(settings.bounded),
        write_page_index=indexed or first.num_rows > _PAGE_ROWS,
        write_page_checksum=True,
        use_compliant_nested_type=True,
        store_schema=False,
    )


def encoded(rows: pa.Table, settings: WriterSettings) -> ParquetSource:
    """Return rows as a Parquet file of one row group in memory; no rows give a file without row groups."""
    sink = pa.BufferOutputStream()
    with open_writer(sink, rows.schema, settings, rows, indexed=True) as writer:
        if rows.num_rows:
            writer.write_table(rows, row_group_size=rows.num_rows)
    data = sink.getvalue()
    return ParquetSource.of_memory(lambda offset, length: data[offset : offset + length].to_pybytes(), data.size)
