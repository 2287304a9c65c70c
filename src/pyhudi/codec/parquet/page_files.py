"""Where the pages of a column lie, and small Parquet files made of some of them, which any reader of Parquet decodes.

Rules: `parquet.thrift` of apache/parquet-format: `FileMetaData`, `ColumnChunk`, `OffsetIndex`. Only top-level columns that are no groups
are served: their values are rows, so that pages begin and end with rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pyhudi.codec.parquet.compact_protocol import I32, I64, LIST, STRUCT, ThriftList, ThriftStruct, Value, read_struct, write_struct
from pyhudi.codec.varint import Buffer
from pyhudi.errors import CorruptTableError

MAGIC: Final = b"PAR1"
#: The length of the footer, and the magic bytes, end each file.
TAIL_BYTES: Final = 8
# The numbers of fields in `parquet.thrift`.
_SCHEMA, _NUM_ROWS, _ROW_GROUPS = 2, 3, 4
_REPETITION, _NUM_CHILDREN, _REPEATED = 3, 5, 2
_NAME = 4
_COLUMNS, _GROUP_BYTES, _GROUP_ROWS = 1, 2, 3
_FILE_OFFSET, _COLUMN_METADATA, _OFFSET_INDEX_OFFSET, _OFFSET_INDEX_LENGTH, _CRYPTO = 2, 3, 4, 5, 8
_NUM_VALUES, _UNCOMPRESSED, _COMPRESSED, _DATA_PAGE, _DICTIONARY_PAGE = 5, 6, 7, 9, 11
_COPIED = (1, 2, 3, 4, _UNCOMPRESSED)  # type, encodings, path, codec
_PAGE_OFFSET, _PAGE_BYTES, _FIRST_ROW = 1, 2, 3
_BODY_BYTES, _DATA_HEADER, _DATA_HEADER_V2, _PAGE_VALUES = 3, 5, 8, 1


@dataclass(frozen=True, slots=True)
class Column:
    """A column that pages can be read of: its element of the schema, and its number among the columns of a row group."""

    element: ThriftStruct
    number: int


@dataclass(frozen=True, slots=True)
class Page:
    """A data page: where its bytes are, and the number of its first row within the row group."""

    offset: int
    length: int
    first_row: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A column in one row group: its metadata, and where its offset index is."""

    metadata: ThriftStruct
    index_offset: int
    index_length: int

    def prefix(self, first_page: Page) -> tuple[int, int]:
        """Return offset and length of what precedes the data pages: the dictionary, if there is one."""
        offsets = (number_of(self.metadata, _DICTIONARY_PAGE), number_of(self.metadata, _DATA_PAGE))
        begin = min((offset for offset in offsets if offset), default=first_page.offset)
        return begin, max(0, first_page.offset - begin)

    def consists_of(self, pages: Sequence[Page]) -> bool:
        """Tell whether a dictionary, if any, and some pages without gaps between them are all of the chunk."""
        begin, length = self.prefix(pages[0])
        ends = [begin + length, *(page.offset + page.length for page in pages)]
        return [page.offset for page in pages] == ends[:-1] and ends[-1] - begin == number_of(self.metadata, _COMPRESSED)


def footer_length(tail: Buffer, what: str) -> int:
    """Return how many bytes the footer takes, from the last bytes of a file.

    Raises:
        CorruptTableError: they are not those of a plain Parquet file.
    """
    if tail[-4:] != MAGIC:
        raise CorruptTableError(f"{what} does not end as a Parquet file")
    return int.from_bytes(tail[-TAIL_BYTES:-4], "little")


def footer_bytes(read: Callable[[int, int], Buffer], size: int, what: str) -> Buffer:
    """Return the footer of a file of `size` bytes, read by `read(offset, length)`.

    Raises:
        CorruptTableError: it has none.
    """
    length = footer_length(read(max(0, size - TAIL_BYTES), min(size, TAIL_BYTES)), what)
    if length + TAIL_BYTES > size:
        raise CorruptTableError(f"{what} has a footer longer than itself")
    return read(size - TAIL_BYTES - length, length)


def flat_columns(footer: ThriftStruct) -> dict[str, Column]:
    """Return the top-level columns that are neither groups nor repeated, by name."""
    elements = [struct_of(element) for element in items_of(footer, _SCHEMA)]
    result, number, at = dict[str, Column](), 0, 1
    while at < len(elements):
        element = elements[at]
        leaves, end = _subtree(elements, at)
        if _NUM_CHILDREN not in element and number_of(element, _REPETITION) != _REPEATED:
            name = element[_NAME][1]
            assert isinstance(name, bytes)
            result[name.decode()] = Column(element, number)
        number, at = number + leaves, end
    return result


def chunk_of(footer: ThriftStruct, group: int, column: Column) -> Chunk | None:
    """Return a column's chunk in a row group; None when it has no offset index, or is encrypted."""
    stored = struct_of(items_of(struct_of(items_of(footer, _ROW_GROUPS)[group]), _COLUMNS)[column.number])
    offset, length = number_of(stored, _OFFSET_INDEX_OFFSET), number_of(stored, _OFFSET_INDEX_LENGTH)
    if not offset or not length or _CRYPTO in stored or _COLUMN_METADATA not in stored:
        return None
    return Chunk(struct_of(stored[_COLUMN_METADATA][1]), offset, length)


def read_pages(data: bytes, what: str) -> list[Page]:
    """Return the data pages that an offset index names.

    Raises:
        CorruptTableError: it is damaged.
    """
    index, _ = read_struct(data, what)
    pages = [Page(*(number_of(struct_of(item), field) for field in (_PAGE_OFFSET, _PAGE_BYTES, _FIRST_ROW))) for item in items_of(index, 1)]
    rows = [page.first_row for page in pages]
    if not pages or rows[0] != 0 or rows != sorted(set(rows)) or any(page.length <= 0 or page.offset < len(MAGIC) for page in pages):
        raise CorruptTableError(f"{what} does not name pages one after the other")
    return pages


def check_page(data: bytes, rows: int, what: str) -> None:
    """Compare the bytes of a page with what the offset index says of it: the index has no checksum of its own.

    Raises:
        CorruptTableError: the header of the page says another length, or another number of rows.
    """
    header, length = read_struct(data, what)
    stated = next((struct_of(header[field][1]) for field in (_DATA_HEADER, _DATA_HEADER_V2) if field in header), {})
    if length + number_of(header, _BODY_BYTES) != len(data) or number_of(stated, _PAGE_VALUES) != rows:
        raise CorruptTableError(f"{what} is not the page of {rows} rows and {len(data)} bytes that its offset index names")


def file_of_pages(footer: ThriftStruct, column: Column, chunk: Chunk, prefix: bytes, pages: Sequence[bytes], rows: int) -> bytes:
    """Return a Parquet file of one column and one row group that holds some pages of a chunk.

    Args:
        footer: of the file that the pages are from.
        column: the column.
        chunk: its chunk.
        prefix: the bytes of its dictionary, if it has one.
        pages: the bytes of the pages, headers included.
        rows: how many rows they hold.
    """
    begin = len(MAGIC)
    body = prefix + b"".join(pages)
    metadata: ThriftStruct = {field: chunk.metadata[field] for field in _COPIED}
    metadata |= {_NUM_VALUES: (I64, rows), _COMPRESSED: (I64, len(body)), _DATA_PAGE: (I64, begin + len(prefix))}
    if prefix:
        metadata[_DICTIONARY_PAGE] = I64, begin
    root = {**struct_of(items_of(footer, _SCHEMA)[0]), _NUM_CHILDREN: (I32, 1)}
    stored: ThriftStruct = {_FILE_OFFSET: (I64, begin), _COLUMN_METADATA: (STRUCT, metadata)}
    group: ThriftStruct = {_COLUMNS: _list(stored), _GROUP_BYTES: (I64, len(body)), _GROUP_ROWS: (I64, rows)}
    written = write_struct(
        {1: footer[1], _SCHEMA: _list(root, column.element), _NUM_ROWS: (I64, rows), _ROW_GROUPS: _list(group)}  # 1: the version
    )
    return MAGIC + body + written + len(written).to_bytes(4, "little") + MAGIC


def _subtree(elements: Sequence[ThriftStruct], at: int) -> tuple[int, int]:
    """Return how many leaves an element of the schema has, itself if it is one, and the index after them all."""
    children = number_of(elements[at], _NUM_CHILDREN)
    if not children:
        return 1, at + 1
    leaves, end = 0, at + 1
    for _ in range(children):
        more, end = _subtree(elements, end)
        leaves += more
    return leaves, end


def _list(*structs: ThriftStruct) -> tuple[int, Value]:
    return LIST, ThriftList(STRUCT, [*structs])


def items_of(fields: ThriftStruct, number: int) -> list[Value]:
    """Return the items of a list of a struct.

    Raises:
        CorruptTableError: the struct has no such list.
    """
    value = fields[number][1] if number in fields else None
    if not isinstance(value, ThriftList):
        raise CorruptTableError(f"metadata of a Parquet file lacks its list {number}")
    return value.items


def struct_of(value: Value) -> ThriftStruct:
    """Return a value that is a struct.

    Raises:
        CorruptTableError: it is none.
    """
    if not isinstance(value, dict):
        raise CorruptTableError(f"metadata of a Parquet file has {value!r} where a struct belongs")
    return value


def number_of(fields: ThriftStruct, number: int) -> int:
    """Return a number of a struct, 0 where it is not given.

    Raises:
        CorruptTableError: the value is no number.
    """
    value = fields[number][1] if number in fields else 0
    if not isinstance(value, int):
        raise CorruptTableError(f"metadata of a Parquet file has {value!r} where a number belongs")
    return value
