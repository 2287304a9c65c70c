"""Parquet files whose column chunks are copied from other files as bytes, without being decoded.

Offsets in the metadata of a chunk and its offset index are shifted; the rest (pages, statistics, column index) is copied as it is.
Each page is compared with its CRC before it is copied, and the offset index with the pages: a copy must not make damage permanent under
a newer file name.

Rules: `parquet.thrift` of apache/parquet-format: `FileMetaData`, `RowGroup`, `ColumnChunk`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from pyhudi.codec.parquet.chunk_pages import checked_pages, shifted_index
from pyhudi.codec.parquet.compact_protocol import BINARY, I16, I32, I64, LIST, STRUCT, ThriftList, ThriftStruct, Value, write_struct
from pyhudi.codec.parquet.copied_source import ParquetSource
from pyhudi.codec.parquet.page_files import MAGIC
from pyhudi.codec.parquet.stored_chunk import COLUMN_INDEX, METADATA, OFFSET_INDEX, StoredChunk
from pyhudi.codec.varint import Buffer
from pyhudi.errors import CorruptTableError

# The numbers of fields in `parquet.thrift`.
_NUM_ROWS, _ROW_GROUPS, _ENTRIES = 3, 4, 5
_COLUMNS, _GROUP_BYTES, _GROUP_OFFSET, _GROUP_COMPRESSED, _ORDINAL = 1, 2, 5, 6, 7
#: Column chunks are read and written together up to so many bytes. Each call has its costs, and so has new memory for each of many bytes.
_RUN_BYTES: Final = 1 << 20


@dataclass(slots=True)
class _NewChunk:
    """A column chunk of the new file: its struct up to the end of the metadata, its page indexes, and where these are once written."""

    head: bytes
    column_index: bytes
    offset_index: bytes
    locations: ThriftStruct

    def encoded(self) -> bytes:
        """Return the whole struct."""
        return self.head + write_struct(self.locations, after=METADATA)


class SplicedFile:
    """Writes a Parquet file of copied row groups to an open output; its schema is that of `template`."""

    def __init__(self, output: BinaryIO, template: ParquetSource) -> None:
        self._output, self._template = output, template
        self._groups: list[tuple[ThriftStruct, list[_NewChunk]]] = []
        self._rows = 0
        self._at = self._write(0, MAGIC)

    def add_group(self, source: ParquetSource, group: int, replaced: Mapping[int, ParquetSource] | None = None) -> None:
        """Copy a row group.

        Args:
            source: the file that has it.
            group: its number there.
            replaced: columns, by their numbers, that are taken from the only row group of a file with this column alone.

        Raises:
            CorruptTableError: the bytes of a page are not those that its CRC was computed from, or metadata contradicts the pages.
        """
        stored, begin = source.footer.groups[group], self._at
        chunks: list[_NewChunk] = []
        uncompressed = 0
        for file, run in _runs(source, stored.chunks, replaced or {}):
            uncompressed += sum(chunk.uncompressed for chunk in run)
            chunks += self._copy(file, run, len(chunks), stored.rows)
        sizes: ThriftStruct = {
            _GROUP_BYTES: (I64, uncompressed),
            _GROUP_OFFSET: (I64, begin),
            _GROUP_COMPRESSED: (I64, self._at - begin),
            _ORDINAL: (I16, len(self._groups)),
        }
        self._groups.append((stored.fields | sizes, chunks))
        self._rows += stored.rows

    def finish(self, entries: Mapping[str, str]) -> None:
        """Write page indexes and footer; `entries` are the key-value entries of the footer."""
        chunks = [chunk for _, copied in self._groups for chunk in copied]
        for chunk in chunks:
            self._write_index(chunk, COLUMN_INDEX, chunk.column_index)
        for chunk in chunks:
            self._write_index(chunk, OFFSET_INDEX, chunk.offset_index)
        groups: list[Value] = [
            {**fields, _COLUMNS: (LIST, ThriftList(STRUCT, [chunk.encoded() for chunk in copied]))} for fields, copied in self._groups
        ]
        pairs: list[Value] = [{1: (BINARY, key.encode()), 2: (BINARY, value.encode())} for key, value in entries.items()]
        footer = {
            **self._template.footer.fields,
            _NUM_ROWS: (I64, self._rows),
            _ROW_GROUPS: (LIST, ThriftList(STRUCT, groups)),
            _ENTRIES: (LIST, ThriftList(STRUCT, pairs)),
        }
        data = write_struct(footer)
        self._write(self._at, data + len(data).to_bytes(4, "little") + MAGIC)

    def _copy(self, source: ParquetSource, run: Sequence[StoredChunk], first: int, rows: int) -> list[_NewChunk]:
        """Copy column chunks of so many rows, one behind the other in the file; `first` is the number of the first column."""
        begin, shift = run[0].first_page, self._at - run[0].first_page
        data = memoryview(source.read(begin, sum(chunk.compressed for chunk in run)))
        copied: list[_NewChunk] = []
        for number, chunk in enumerate(run, first):
            offset = chunk.first_page
            pages = data[offset - begin : offset - begin + chunk.compressed]
            copied.append(_copied(source, chunk, pages, rows, shift, f"column {number} of {source.what}"))
        self._at = self._write(self._at, data)
        return copied

    def _write_index(self, chunk: _NewChunk, field: int, data: bytes) -> None:
        """Write a page index, if there is one, and note where it is."""
        if data:
            chunk.locations |= {field: (I64, self._at), field + 1: (I32, len(data))}
            self._at = self._write(self._at, data)

    def _write(self, at: int, data: Buffer) -> int:
        self._output.write(data)
        return at + len(data)


def _runs(
    source: ParquetSource, chunks: Sequence[StoredChunk], replaced: Mapping[int, ParquetSource]
) -> Iterator[tuple[ParquetSource, list[StoredChunk]]]:
    """Yield the files and their column chunks that are copied at once: those that lie one behind the other, up to some bytes."""
    run: list[StoredChunk] = []
    end = 0
    for number, chunk in enumerate(chunks):
        size = chunk.compressed
        joins = chunk.first_page == end and size >= 0 and end + size - run[0].first_page <= _RUN_BYTES if run else False
        if run and (number in replaced or not joins):
            yield source, run
            run = []
        if number in replaced:
            yield replaced[number], replaced[number].footer.groups[0].chunks
            continue
        run.append(chunk)
        end = chunk.first_page + size if size >= 0 else -1
    if run:
        yield source, run


def _copied(source: ParquetSource, chunk: StoredChunk, data: memoryview, rows: int, shift: int, what: str) -> _NewChunk:
    """Return what a column chunk of so many rows is in the new file, after its pages have been checked."""
    values, is_flat = chunk.values, chunk.is_flat
    if is_flat and values != rows:
        raise CorruptTableError(f"{what} has {values} values in {rows} rows. Restore the file from a copy.")
    pages = checked_pages(data, chunk.first_page, values, what) if source.verified else None
    column_index, offset_index = (bytes(source.read(*chunk.location(field))) for field in (COLUMN_INDEX, OFFSET_INDEX))
    if offset_index:
        offset_index = shifted_index(offset_index, pages, shift, f"the offset index of {what}", is_flat=is_flat)
    return _NewChunk(chunk.shifted(shift), column_index, offset_index, {})
