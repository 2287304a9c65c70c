"""Parquet files whose column chunks are copied from other files as bytes, without being decoded.

Offsets in the metadata of a chunk and its offset index are shifted; the rest (pages, statistics, column index) is copied as it is.
Each page is compared with its CRC before it is copied, and the offset index with the pages: a copy must not make damage permanent under
a newer file name.

Rules: `parquet.thrift` of apache/parquet-format: `FileMetaData`, `RowGroup`, `ColumnChunk`, `PageHeader`, `OffsetIndex`, `ColumnIndex`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from pyhudi.codec.parquet.compact_protocol import (
    BINARY,
    I16,
    I64,
    LIST,
    STRUCT,
    ThriftList,
    ThriftStruct,
    Value,
    read_struct,
    write_struct,
)
from pyhudi.codec.parquet.footer_reader import IN_COMMON, FooterReader
from pyhudi.codec.parquet.page_files import MAGIC, TAIL_BYTES, flat_columns, footer_length, items_of, number_of, struct_of
from pyhudi.codec.varint import Buffer
from pyhudi.errors import CorruptTableError

# The numbers of fields in `parquet.thrift`.
_SCHEMA, _NUM_ROWS, _ROW_GROUPS, _ENTRIES, _ENCRYPTION = 2, 3, 4, 5, 8
_NUM_CHILDREN = 5
_COLUMNS, _GROUP_BYTES, _GROUP_ROWS, _GROUP_OFFSET, _GROUP_COMPRESSED, _ORDINAL = 1, 2, 3, 5, 6, 7
_FILE_PATH, _CHUNK_OFFSET, _METADATA, _OFFSET_INDEX, _COLUMN_INDEX = 1, 2, 3, 4, 6
_CRYPTO, _ENCRYPTED = 8, 9
_PATH, _CODEC, _NUM_VALUES, _UNCOMPRESSED, _COMPRESSED = 3, 4, 5, 6, 7
_DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE, _BLOOM_FILTER = 9, 10, 11, 14
_BODY_BYTES, _CRC, _DATA_HEADER, _DATA_HEADER_V2, _PAGE_VALUES = 3, 4, 5, 8, 1
_LOCATION_OFFSET, _LOCATION_BYTES, _FIRST_ROW = 1, 2, 3
#: Ordinals of row groups are numbers of 16 bits.
GROUPS_MAX: Final = 1 << 15
#: Numbers of codecs in `parquet.thrift`, by the values of `hoodie.parquet.compression.codec`.
CODECS: Final[Mapping[str, int]] = {"uncompressed": 0, "snappy": 1, "gzip": 2, "brotli": 4, "zstd": 6, "lz4_raw": 7}


@dataclass(frozen=True, slots=True)
class ParquetSource:
    """A Parquet file whose row groups are copied: `read(offset, length)` returns its bytes, `what` names it in errors.

    Unless `verified` is false, pages are compared with their CRCs, and the offset index with the pages, before they are copied.
    """

    read: Callable[[int, int], Buffer]
    footer: ThriftStruct
    what: str
    verified: bool = True

    @classmethod
    def of(cls, read: Callable[[int, int], Buffer], size: int, what: str, footers: FooterReader | None = None) -> ParquetSource:
        """Return a file of `size` bytes; `footers` has decoded those of files that are likely to be like it.

        Raises:
            CorruptTableError: it has no readable footer.
        """
        return cls(read, (footers or FooterReader()).read(footer_bytes(read, size, what), f"the footer of {what}"), what)

    @classmethod
    def of_memory(cls, read: Callable[[int, int], Buffer], size: int) -> ParquetSource:
        """Return a file of `size` bytes in memory, which this process has just encoded; its pages are not verified."""
        return replace(cls.of(read, size, "a row group in memory"), verified=False)

    @property
    def groups(self) -> int:
        """How many row groups the file has."""
        return len(items_of(self.footer, _ROW_GROUPS))

    @property
    def group_rows(self) -> list[int]:
        """How many rows each row group has."""
        return [number_of(self.group(number), _GROUP_ROWS) for number in range(self.groups)]

    @property
    def stated_rows(self) -> int:
        """How many rows the file has by its footer."""
        return number_of(self.footer, _NUM_ROWS)

    def entries(self) -> dict[str, str]:
        """Return the key-value entries of the footer.

        Raises:
            CorruptTableError: they are no text.
        """
        pairs = [struct_of(item) for item in items_of(self.footer, _ENTRIES)] if _ENTRIES in self.footer else []
        try:
            return {bytes(pair[1][1]).decode(): bytes(pair[2][1]).decode() for pair in pairs if 2 in pair}  # type: ignore[arg-type]
        except (KeyError, TypeError, ValueError):
            raise CorruptTableError(f"{self.what} has entries in its footer that are no text. Restore the file from a copy.") from None

    def group(self, number: int) -> ThriftStruct:
        """Return the metadata of a row group."""
        return struct_of(items_of(self.footer, _ROW_GROUPS)[number])

    def chunks(self, group: int) -> list[ThriftStruct]:
        """Return the column chunks of a row group."""
        return [struct_of(chunk) for chunk in items_of(self.group(group), _COLUMNS)]

    def column_number(self, name: str) -> int | None:
        """Return the number of a top-level column that is no group; None when there is none of this name."""
        column = flat_columns(self.footer).get(name)
        return None if column is None else column.number

    def can_be_copied_to(self, template: ParquetSource, codec: int | None = None) -> bool:
        """Tell whether row groups may be copied to a file with the schema of `template` whose chunks are compressed with `codec`, if given.

        The schemas must be equal to the last field, and so must be the order in which bounds are compared and the library that wrote the
        files. Encrypted chunks, chunks in other files and chunks with a bloom filter are not copied.
        """
        if any(self.footer.get(field) != template.footer.get(field) for field in IN_COMMON):
            return False
        if _ENCRYPTION in self.footer or self.groups >= GROUPS_MAX:
            return False
        leaves = sum(_NUM_CHILDREN not in struct_of(element) for element in items_of(self.footer, _SCHEMA))
        chunks = [chunk for number in range(self.groups) for chunk in self.chunks(number)]
        if len(chunks) != leaves * self.groups or any(field in chunk for chunk in chunks for field in (_FILE_PATH, _CRYPTO, _ENCRYPTED)):
            return False
        metadata = [struct_of(chunk[_METADATA][1]) for chunk in chunks if _METADATA in chunk]
        return len(metadata) == len(chunks) and all(
            _BLOOM_FILTER not in one and codec in (None, number_of(one, _CODEC)) for one in metadata
        )


def footer_bytes(read: Callable[[int, int], Buffer], size: int, what: str) -> Buffer:
    """Return the footer of a file of `size` bytes, read by `read(offset, length)`.

    Raises:
        CorruptTableError: it has none.
    """
    length = footer_length(read(max(0, size - TAIL_BYTES), min(size, TAIL_BYTES)), what)
    if length + TAIL_BYTES > size:
        raise CorruptTableError(f"{what} has a footer longer than itself")
    return read(size - TAIL_BYTES - length, length)


@dataclass(frozen=True, slots=True)
class _DataPage:
    """Offset and length of a data page, and the number of the values before it."""

    offset: int
    length: int
    first: int


class SplicedFile:
    """Writes a Parquet file of copied row groups to an open output; its schema is that of `template`."""

    def __init__(self, output: BinaryIO, template: ParquetSource) -> None:
        self._output, self._template = output, template
        self._groups: list[Value] = []
        self._rows = 0
        self._indices: list[tuple[ThriftStruct, bytes, bytes]] = []
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
        stored, begin = source.group(group), self._at
        rows, chunks = number_of(stored, _GROUP_ROWS), list[Value]()
        for number, chunk in enumerate(source.chunks(group)):
            other = (replaced or {}).get(number)
            chunks.append(self._copy(source, chunk, number, rows) if other is None else self._copy(other, other.chunks(0)[0], 0, rows))
        metadata = [struct_of(struct_of(chunk)[_METADATA][1]) for chunk in chunks]
        sizes = {_GROUP_BYTES: _UNCOMPRESSED, _GROUP_COMPRESSED: _COMPRESSED}
        fields: ThriftStruct = {
            **stored,
            _COLUMNS: (LIST, ThriftList(STRUCT, chunks)),
            **{field: (I64, sum(number_of(one, size) for one in metadata)) for field, size in sizes.items()},
            _GROUP_OFFSET: (I64, begin),
            _ORDINAL: (I16, len(self._groups)),
        }
        self._groups.append(fields)
        self._rows += rows

    def finish(self, entries: Mapping[str, str]) -> None:
        """Write page indexes and footer; `entries` are the key-value entries of the footer."""
        for field in (_COLUMN_INDEX, _OFFSET_INDEX):
            for chunk, column_index, offset_index in self._indices:
                data = column_index if field == _COLUMN_INDEX else offset_index
                if data:
                    chunk[field] = I64, self._at
                    self._at = self._write(self._at, data)
        pairs: list[Value] = [{1: (BINARY, key.encode()), 2: (BINARY, value.encode())} for key, value in entries.items()]
        footer = {
            **self._template.footer,
            _NUM_ROWS: (I64, self._rows),
            _ROW_GROUPS: (LIST, ThriftList(STRUCT, self._groups)),
            _ENTRIES: (LIST, ThriftList(STRUCT, pairs)),
        }
        data = write_struct(footer)
        self._write(self._at, data + len(data).to_bytes(4, "little") + MAGIC)

    def _copy(self, source: ParquetSource, stored: ThriftStruct, number: int, rows: int) -> ThriftStruct:
        """Copy a column chunk of so many rows and return its metadata at the new offset."""
        what = f"column {number} of {source.what}"
        metadata = struct_of(stored[_METADATA][1])
        values = number_of(metadata, _NUM_VALUES)
        is_flat = len(items_of(metadata, _PATH)) == 1
        if is_flat and values != rows:
            raise CorruptTableError(f"{what} has {values} values in {rows} rows. Restore the file from a copy.")
        begin = min((offset for field in (_DICTIONARY_PAGE, _DATA_PAGE) if (offset := number_of(metadata, field))), default=0)
        data = source.read(begin, number_of(metadata, _COMPRESSED))
        pages = _checked_pages(data, begin, values, what) if source.verified else None
        shift = self._at - begin
        chunk = dict(stored)
        chunk[_METADATA] = STRUCT, _shifted(metadata, (_DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE), shift)
        chunk = _shifted(chunk, (_CHUNK_OFFSET,), shift)
        column_index, offset_index = (
            bytes(source.read(number_of(stored, field), number_of(stored, field + 1))) for field in (_COLUMN_INDEX, _OFFSET_INDEX)
        )
        if offset_index:
            offset_index = _shifted_index(offset_index, pages, shift, f"the offset index of {what}", is_flat=is_flat)
            chunk[_OFFSET_INDEX + 1] = stored[_OFFSET_INDEX + 1][0], len(offset_index)
        self._indices.append((chunk, column_index, offset_index))
        self._at = self._write(self._at, data)
        return chunk

    def _write(self, at: int, data: Buffer) -> int:
        self._output.write(data)
        return at + len(data)


def _checked_pages(data: Buffer, begin: int, values: int, what: str) -> list[_DataPage]:
    """Return the data pages of a chunk that begins at `begin`; all its pages have been compared with their CRCs."""
    at, value_count, pages = 0, 0, list[_DataPage]()
    while at < len(data):
        header, length = read_struct(data, f"a page of {what}", at)
        end = at + length + number_of(header, _BODY_BYTES)
        if not at + length <= end <= len(data):
            raise CorruptTableError(f"{what} has a page that ends behind its column chunk. Restore the file from a copy.")
        if _CRC in header and zlib.crc32(memoryview(data)[at + length : end]) != number_of(header, _CRC) & 0xFFFFFFFF:
            raise CorruptTableError(f"{what} has a damaged page at byte {begin + at}, by its CRC. Restore the file from a copy.")
        for field in (_DATA_HEADER, _DATA_HEADER_V2):
            if field in header:
                pages.append(_DataPage(begin + at, end - at, value_count))
                value_count += number_of(struct_of(header[field][1]), _PAGE_VALUES)
        at = end
    if value_count != values:
        raise CorruptTableError(f"{what} has pages of {value_count} values instead of {values}. Restore the file from a copy.")
    return pages


def _shifted_index(data: bytes, pages: Sequence[_DataPage] | None, shift: int, what: str, *, is_flat: bool) -> bytes:
    """Return an offset index whose pages are shifted.

    It must name the pages of the column, where these are given, those of a flat column by their first rows.
    """
    index, _ = read_struct(data, what)
    locations = [struct_of(item) for item in items_of(index, 1)]
    if pages is not None:
        _check_named(locations, pages, what, is_flat=is_flat)
    shifted: list[Value] = [_shifted(one, (_LOCATION_OFFSET,), shift) for one in locations]
    return write_struct({**index, 1: (LIST, ThriftList(STRUCT, shifted))})


def _check_named(locations: Sequence[ThriftStruct], pages: Sequence[_DataPage], what: str, *, is_flat: bool) -> None:
    named = [_DataPage(*(number_of(one, field) for field in (_LOCATION_OFFSET, _LOCATION_BYTES, _FIRST_ROW))) for one in locations]
    if not is_flat:
        named = [replace(one, first=page.first) for one, page in zip(named, pages, strict=False)] if len(named) == len(pages) else []
    if named != [*pages]:
        raise CorruptTableError(f"{what} does not name the pages of the column. Restore the file from a copy.")


def _shifted(fields: ThriftStruct, numbers: Sequence[int], shift: int) -> ThriftStruct:
    """Return a struct whose offsets are shifted; 0 stands for none."""
    shifted = {field: (fields[field][0], offset + shift) for field in numbers if (offset := number_of(fields, field))}
    return {**fields, **shifted}
