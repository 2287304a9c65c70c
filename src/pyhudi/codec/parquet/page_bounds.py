"""The bounds of the pages of a column of text, by the column index.

Rules: `parquet.thrift` of apache/parquet-format: `ColumnIndex`. Only what tells the least and the greatest value of each page is
returned: a column with nulls, or a file that does not say in which order bounds are, has none.
"""

from __future__ import annotations

from pyhudi.codec.parquet.compact_protocol import ThriftStruct, read_struct
from pyhudi.codec.parquet.page_files import Column, items_of, number_of, struct_of

_ROW_GROUPS, _COLUMN_ORDERS, _COLUMNS = 4, 7, 1
_INDEX_OFFSET, _INDEX_LENGTH = 6, 7
_NULL_PAGES, _MINIMA, _MAXIMA, _NULL_COUNTS = 1, 2, 3, 5


def index_location(footer: ThriftStruct, group: int, column: Column) -> tuple[int, int] | None:
    """Return offset and length of a column's index of bounds in a row group; None when it has none in the order of its bytes."""
    stored = struct_of(items_of(struct_of(items_of(footer, _ROW_GROUPS)[group]), _COLUMNS)[column.number])
    offset, length = number_of(stored, _INDEX_OFFSET), number_of(stored, _INDEX_LENGTH)
    return (offset, length) if offset > 0 and length > 0 and _COLUMN_ORDERS in footer else None


def read_bounds(data: bytes, pages: int, what: str) -> list[tuple[bytes, bytes]] | None:
    """Return the least and the greatest value of each of some pages; None where these have nulls, or are others.

    Bounds may be shortened: then they are less, and greater, than any value of the page.

    Raises:
        CorruptTableError: the bytes are no column index.
    """
    index, _ = read_struct(data, what)
    minima, maxima = items_of(index, _MINIMA), items_of(index, _MAXIMA)
    if len(minima) != pages or len(maxima) != pages or any(items_of(index, _NULL_PAGES)):
        return None
    if _NULL_COUNTS not in index or any(items_of(index, _NULL_COUNTS)):
        return None
    bounds: list[tuple[bytes, bytes]] = []
    for least, greatest in zip(minima, maxima, strict=True):
        if not isinstance(least, bytes) or not isinstance(greatest, bytes):
            return None
        bounds.append((least, greatest))
    return bounds
