"""Row groups and column chunks as a footer has them: bytes, and where the few numbers in them are that a copy looks at or changes.

Of a chunk's metadata most bytes (types, statistics, sizes) are copied as they are, so that no object is made of them.

Rules: `parquet.thrift` of apache/parquet-format: `RowGroup`, `ColumnChunk`, `ColumnMetaData`.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from pyhudi.codec.parquet.compact_protocol import LIST, STRUCT, ThriftStruct, field_header, list_header, read_fields
from pyhudi.codec.parquet.page_files import number_of
from pyhudi.codec.parquet.thrift_fields import Fields, find_fields, number_in, read_field, read_until
from pyhudi.codec.varint import Buffer, write_varint
from pyhudi.errors import CorruptTableError

# The numbers of fields in `parquet.thrift`.
_COLUMNS, _GROUP_ROWS = 1, 3
_CHUNK_OFFSET, METADATA, OFFSET_INDEX, COLUMN_INDEX = 2, 3, 4, 6
_PATH, _CODEC, _NUM_VALUES, _UNCOMPRESSED, _COMPRESSED = 3, 4, 5, 6, 7
_DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE, _BLOOM_FILTER = 9, 10, 11, 14
_REQUIRED: Final = frozenset((1, 2, _PATH, _CODEC, _NUM_VALUES, _UNCOMPRESSED, _COMPRESSED, _DATA_PAGE))  # 1, 2: type and encodings
_IN_FRONT: Final = frozenset((_CHUNK_OFFSET,))
_BEGIN: Final = itemgetter(1)
_INDEXES: Final = frozenset((OFFSET_INDEX, OFFSET_INDEX + 1, COLUMN_INDEX, COLUMN_INDEX + 1))


@dataclass(slots=True)
class StoredChunk:
    """A column chunk: the bytes of its struct up to the end of its metadata, and the fields behind that.

    `head` tells where the fields in front of the metadata are, `metadata` where those of the metadata are.
    """

    footer: Buffer
    begin: int
    end: int
    head: Fields
    metadata: Fields
    rest: ThriftStruct

    @property
    def is_plain(self) -> bool:
        """Tell whether it can be copied: not if it is encrypted, in another file, has a bloom filter or an unknown field, or lacks one."""
        known = self.head.keys() <= _IN_FRONT and self.rest.keys() <= _INDEXES
        return known and self.metadata.keys() >= _REQUIRED and _BLOOM_FILTER not in self.metadata

    @property
    def codec(self) -> int:
        """The number of the codec of its pages."""
        return number_in(self.metadata, _CODEC)

    @property
    def values(self) -> int:
        """How many values it has, nulls included."""
        return number_in(self.metadata, _NUM_VALUES)

    @property
    def uncompressed(self) -> int:
        """How many bytes its pages take when they are not compressed."""
        return number_in(self.metadata, _UNCOMPRESSED)

    @property
    def compressed(self) -> int:
        """How many bytes its pages take."""
        return number_in(self.metadata, _COMPRESSED)

    @property
    def first_page(self) -> int:
        """The offset of its first page: a dictionary, or data."""
        dictionary, data = number_in(self.metadata, _DICTIONARY_PAGE), number_in(self.metadata, _DATA_PAGE)
        return min(dictionary, data) if dictionary and data else dictionary or data

    @property
    def is_flat(self) -> bool:
        """Tell whether a plain chunk is of a top-level column: then it has a value for each row.

        Raises:
            CorruptTableError: the path of its column is no list.
        """
        kind, begin, _, _ = self.metadata[_PATH]
        if kind != LIST:
            raise CorruptTableError(f"metadata of a Parquet file has a value of the type {kind} where a list belongs")
        return list_header(self.footer, begin)[0] == 1

    def location(self, field: int) -> tuple[int, int]:
        """Return offset and length of a page index: `COLUMN_INDEX` or `OFFSET_INDEX`."""
        return (number_of(self.rest, field), number_of(self.rest, field + 1)) if self.rest else (0, 0)

    def shifted(self, shift: int) -> bytes:
        """Return the bytes of a plain chunk up to the end of its metadata, with shifted offsets of pages; 0 stands for none."""
        offsets = [self.metadata[field] for field in (_DATA_PAGE, _INDEX_PAGE, _DICTIONARY_PAGE) if field in self.metadata]
        parts: list[Buffer] = []
        at = self.begin
        for _, begin, end, offset in sorted([*self.head.values(), *offsets], key=_BEGIN):
            if offset:
                parts += self.footer[at:begin], write_varint(offset + shift)
                at = end
        return b"".join([*parts, self.footer[at : self.end]])


@dataclass(slots=True)
class StoredGroup:
    """A row group: its column chunks, and its other fields."""

    chunks: list[StoredChunk]
    fields: ThriftStruct

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return number_of(self.fields, _GROUP_ROWS)


def read_group(footer: Buffer, at: int) -> tuple[StoredGroup, int]:
    """Return the row group at an offset of a footer, and the offset after it; errors as in `thrift_fields`."""
    before, chunks, at = read_until(footer, at, _COLUMNS, _read_chunk)
    behind, end = read_fields(footer, at, 0, _COLUMNS)
    return StoredGroup(chunks, before | behind), end


def _read_chunk(footer: Buffer, at: int) -> tuple[StoredChunk, int]:
    begin, number = at, 0
    head: Fields = {}
    metadata: Fields = {}
    while not metadata and footer[at]:
        kind, number, start = field_header(footer, at, number)
        if number == METADATA and kind == STRUCT:
            metadata, at = find_fields(footer, start)
        else:
            (kind, value), at = read_field(footer, start, kind)
            head[number] = kind, start, at, value if isinstance(value, int) else 0
    rest, end = read_fields(footer, at, 0, number)
    return StoredChunk(footer, begin, at, head, metadata, rest), end
