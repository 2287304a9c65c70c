"""The pages of a column chunk, compared with their CRCs, and the offset index that names them.

A copy must not make damage permanent under a newer file name.

Rules: `parquet.thrift` of apache/parquet-format: `PageHeader`, `OffsetIndex`.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TypeAlias

from pyhudi.codec.parquet.compact_protocol import I32, STRUCT, field_header
from pyhudi.codec.parquet.thrift_fields import Fields, find_fields, number_in, read_until
from pyhudi.codec.varint import Buffer, read_varint, write_varint
from pyhudi.errors import CorruptTableError

# The numbers of fields in `parquet.thrift`.
_BODY_BYTES, _CRC, _DATA_HEADER, _DATA_HEADER_V2, _PAGE_VALUES = 3, 4, 5, 8, 1
_LOCATIONS = 1
_LOCATION_OFFSET, _LOCATION_BYTES, _FIRST_ROW = 1, 2, 3


#: Offset and length of a data page, and the number of the values before it.
DataPage: TypeAlias = tuple[int, int, int]


def checked_pages(data: Buffer, begin: int, values: int, what: str) -> list[DataPage]:
    """Return the data pages of a chunk that begins at `begin` and has so many values; all its pages have been compared with their CRCs.

    Raises:
        CorruptTableError: a page is damaged, or there are others than the chunk says; `what` names it.
    """
    at, value_count, pages = 0, 0, list[DataPage]()
    whole = memoryview(data)
    while at < len(data):
        try:
            header, body = find_fields(data, at)
            in_page = _values_of(data, header)
        except (IndexError, ValueError):
            raise CorruptTableError(f"{what} has no whole page at byte {begin + at}. Restore the file from a copy.") from None
        end = body + number_in(header, _BODY_BYTES)
        if not body <= end <= len(data):
            raise CorruptTableError(f"{what} has a page that ends behind its column chunk. Restore the file from a copy.")
        if _CRC in header and zlib.crc32(whole[body:end]) != number_in(header, _CRC) & 0xFFFFFFFF:
            raise CorruptTableError(f"{what} has a damaged page at byte {begin + at}, by its CRC. Restore the file from a copy.")
        if in_page is not None:
            pages.append((begin + at, end - at, value_count))
            value_count += in_page
        at = end
    if value_count != values:
        raise CorruptTableError(f"{what} has pages of {value_count} values instead of {values}. Restore the file from a copy.")
    return pages


def _values_of(data: Buffer, header: Fields) -> int | None:
    """Return how many values a page has, by the first field of its header of a data page; None when it is none."""
    page = header.get(_DATA_HEADER) or header.get(_DATA_HEADER_V2)
    if page is None:
        return None
    kind, number, at = field_header(data, page[1], 0)
    if page[0] != STRUCT or (kind, number) != (I32, _PAGE_VALUES):
        raise ValueError(f"a header of a data page without its number of values at {page[1]}")
    return read_varint(data, at)[0]


def shifted_index(data: bytes, pages: Sequence[DataPage] | None, shift: int, what: str, *, is_flat: bool) -> bytes:
    """Return an offset index whose pages are shifted.

    It must name the pages of the column, where these are given, those of a flat column by their first rows.

    Raises:
        CorruptTableError: it names others, or is damaged; `what` names it.
    """
    try:
        _, locations, end = read_until(data, 0, _LOCATIONS, find_fields)
        find_fields(data, end, _LOCATIONS)  # what follows is copied, if it ends
    except (IndexError, ValueError):
        raise CorruptTableError(f"{what} is damaged. Restore the file from a copy.") from None
    fields = (_LOCATION_OFFSET, _LOCATION_BYTES, _FIRST_ROW)[: None if is_flat else 2]
    named = [tuple([number_in(one, field) for field in fields]) for one in locations]
    if pages is not None and named != [page[: len(fields)] for page in pages]:
        raise CorruptTableError(f"{what} does not name the pages of the column. Restore the file from a copy.")
    parts: list[bytes] = []
    at = 0
    for one in locations:
        _, begin, end, offset = one[_LOCATION_OFFSET]
        parts += data[at:begin], write_varint(offset + shift)
        at = end
    return b"".join([*parts, data[at:]])
