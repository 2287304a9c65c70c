"""Writes a base file of a file group of the metadata table.

Rules: `HoodieAvroHFileWriter`; docs/format/hfile.md#meta-block, #file-info.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa

from pyhudi.codec.bloom_codec import BloomFilter, BloomType
from pyhudi.codec.hfile import HFileWriter, StoredBlock
from pyhudi.kernels.base_file.bloom_columns import KeyFilter
from pyhudi.metadata_table.format.cell_blocks import CellColumns
from pyhudi.metadata_table.read.slice_rewrite import BaseRewrite
from pyhudi.metadata_table.read.writer_table import MetadataWriterTable
from pyhudi.spec.actions.commit import WriteStat
from pyhudi.spec.files.file_group import join_path
from pyhudi.spec.files.file_names import BaseFileName

_BLOOM_FILTER = "bloomFilter"
_BLOOM_ENTRIES, _BLOOM_FPP, _BLOOM_MAX_ENTRIES = 10_000, 1e-9, 100_000
_KEYS_A_TURN = 1 << 16
#: Adds all cells to a file, and yields by and by the rows that its bloom filter does not have.
_Append: TypeAlias = Callable[[HFileWriter], Iterator[pa.ChunkedArray]]


def write_base(
    mdt: MetadataWriterTable, partition: str, file_id: str, instant: str, token: str, cells: Iterable[tuple[bytes, bytes]]
) -> WriteStat:
    """Write the base file of a file group; `cells` are rows and values in the order of rows."""
    return _write(
        mdt, partition, BaseFileName(file_id, token, instant, "hfile"), _empty_filter(), lambda writer: _append_cells(writer, cells)
    )


def write_base_columns(mdt: MetadataWriterTable, partition: str, file_id: str, instant: str, token: str, columns: CellColumns) -> WriteStat:
    """Write the base file of a file group from columns of cells, of which there is one at least."""
    name = BaseFileName(file_id, token, instant, "hfile")
    return _write(mdt, partition, name, _empty_filter(), lambda writer: _append_columns(writer, columns))


def rewrite_base(mdt: MetadataWriterTable, partition: str, file_id: str, instant: str, token: str, rewrite: BaseRewrite) -> WriteStat:
    """Write the base file that takes the place of the files of a slice.

    Blocks are copied where the filter need not know their rows: the filter before is added to, or all bits will be set.

    Raises:
        CorruptTableError: the files of the slice are damaged.
    """
    stored = rewrite.stored_filter(_BLOOM_MAX_ENTRIES)
    bloom = KeyFilter(_empty() if stored is None else stored, keys=rewrite.entries)
    copies = stored is not None or bloom.is_full
    if not copies:
        bloom = _empty_filter()
    name = BaseFileName(file_id, token, instant, "hfile")
    return _write(mdt, partition, name, bloom, lambda writer: _append_blocks(writer, rewrite, copies=copies))


def _append_cells(writer: HFileWriter, cells: Iterable[tuple[bytes, bytes]]) -> Iterator[pa.ChunkedArray]:
    waiting: list[bytes] = []
    for row, value in cells:
        writer.append(row, value)
        waiting.append(row)
        if len(waiting) >= _KEYS_A_TURN:
            yield _concat(waiting)
            waiting = []
    yield _concat(waiting)


def _append_columns(writer: HFileWriter, columns: CellColumns) -> Iterator[pa.ChunkedArray]:
    for block in columns.blocks():
        writer.append_block(block)
    yield pa.chunked_array([columns.rows])


def _append_blocks(writer: HFileWriter, rewrite: BaseRewrite, *, copies: bool) -> Iterator[pa.ChunkedArray]:
    for block in rewrite.blocks(copies=copies):
        if isinstance(block, StoredBlock):
            writer.append_stored(block)
        else:
            writer.append_block(block.block)
            yield _concat(block.new_rows if copies else block.rows)
    copied = rewrite.copied_cells()
    writer.count_stored(copied.entries, copied.row_bytes, copied.value_bytes)


def _write(mdt: MetadataWriterTable, partition: str, name: BaseFileName, bloom: KeyFilter, append: _Append) -> WriteStat:
    path = join_path(partition, str(name))
    with mdt.storage.open_output(path) as sink:
        writer = HFileWriter(sink, created_ms=mdt.sources.now_ms())
        for rows in append(writer):
            bloom.add(rows)
        info = {"schema": mdt.encoder.file_schema.encode(), "minRecordKey": writer.first_row, "maxRecordKey": writer.last_row}
        info["bloomFilterTypeCode"] = bloom.type_code.encode()
        writer.finish(info=info, meta_blocks={_BLOOM_FILTER: bloom.encode().encode()})
    status = mdt.storage.stat(path)
    size = 0 if status is None else status.size
    return WriteStat(
        file_id=name.file_id,
        path=path,
        partition_path=partition,
        num_writes=len(writer),
        num_inserts=len(writer),
        total_write_bytes=size,
        file_size_in_bytes=size,
    )


def _empty() -> BloomFilter:
    return BloomFilter.empty(BloomType.DYNAMIC_V0, entries=_BLOOM_ENTRIES, fpp=_BLOOM_FPP, max_entries=_BLOOM_MAX_ENTRIES)


def _empty_filter() -> KeyFilter:
    return KeyFilter(_empty())


def _concat(rows: Sequence[bytes]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(rows, pa.binary()).cast(pa.string())])
