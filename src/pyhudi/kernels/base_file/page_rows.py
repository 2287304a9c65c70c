"""Single rows and single pages of a Parquet file, of whose columns only the pages are decoded that are needed.

Arrow decodes whole column chunks. The pages that hold some rows are found by the offset index and put into a small Parquet file, which
Arrow decodes, CRCs included. Files without offset index, and columns of groups, are not served.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.cache import LruCache, cached_property
from pyhudi.codec.parquet.compact_protocol import ThriftStruct, read_struct
from pyhudi.codec.parquet.page_bounds import index_location, read_bounds
from pyhudi.codec.parquet.page_files import (
    TAIL_BYTES,
    Chunk,
    Column,
    Page,
    check_page,
    chunk_of,
    file_of_pages,
    flat_columns,
    footer_length,
    read_pages,
)
from pyhudi.errors import CorruptTableError
from pyhudi.kernels.arrays.array_types import Indices

#: The footer is read with so many bytes before it, which hold the page index of most files.
_TAIL_READ = 64 << 10
#: Decoding pages one by one pays up to this share of them.
_SHARE_MAX = 0.5
#: So many bytes of footers are held decoded, which takes some forty times as much memory.
_FOOTERS_BYTES = 1 << 20


class PageRows:
    """Reads rows of one open Parquet file by their numbers.

    Args:
        source: the file; read at offsets alone, so that others may read it meanwhile.
        parquet: the same file, as Arrow has opened it.
        what: names the file in errors.
        verify: hold pages against their CRCs.
    """

    def __init__(self, source: pa.NativeFile, parquet: pq.ParquetFile, what: str, *, verify: bool) -> None:
        self._source, self._parquet, self._what, self._verify = source, parquet, what, verify

    def rows(self, group: int, names: Sequence[str], indices: Indices) -> pa.Table | None:
        """Return some rows of a row group; None where their pages cannot be read alone, or most pages of the row group hold some.

        Args:
            group: the number of the row group.
            names: top-level columns of the file.
            indices: numbers of rows within the row group, ascending, at least one.

        Raises:
            CorruptTableError: footer or offset index are damaged.
        """
        stored = [pages for name in names if (pages := self.pages_of(group, name)) is not None]
        if not names or len(stored) < len(names):
            return None
        numbers = [np.unique(np.searchsorted(pages.starts, indices, "right") - 1) for pages in stored]
        if sum(map(len, numbers)) > sum(len(pages.pages) for pages in stored) * _SHARE_MAX:
            return None
        arrays = [self._values_at(name, pages, some, indices) for name, pages, some in zip(names, stored, numbers, strict=True)]
        if any(array is None for array in arrays):
            return None
        return pa.table(arrays, names=[*names])

    def pages_of(self, group: int, name: str) -> ColumnPages | None:
        """Return the pages of a column of a row group; None where nothing tells.

        Raises:
            CorruptTableError: footer or offset index are damaged.
        """
        column = self._columns.get(name)
        chunk = None if column is None else chunk_of(self._footer, group, column)
        if column is None or chunk is None:
            return None
        index = self._read(chunk.index_offset, chunk.index_length)
        pages = read_pages(index, f"the offset index of column {column.number} of {self._what}")
        if not chunk.consists_of(pages):
            return None
        starts = np.array([page.first_row for page in pages], np.int64)
        return ColumnPages(column, chunk, pages, starts, self._parquet.metadata.row_group(group).num_rows)

    def bounds(self, group: int, name: str, pages: ColumnPages) -> list[tuple[bytes, bytes]] | None:
        """Return the least and the greatest value of each page of a column of text, maybe shortened; None where these are not known.

        Raises:
            CorruptTableError: the column index is damaged.
        """
        location = index_location(self._footer, group, pages.column)
        if location is None:
            return None
        return read_bounds(self._read(*location), len(pages.pages), f"the column index of '{name}' of {self._what}")

    def values(self, name: str, pages: ColumnPages, numbers: Indices) -> pa.ChunkedArray | None:
        """Return the values of some pages of a column, ascending; None where Arrow would give them another type than from the whole file.

        Raises:
            CorruptTableError: the pages are not those that the offset index names.
        """
        prefix = self._read(*pages.chunk.prefix(pages.pages[0]))
        bodies = [body for first, last in _stretches(numbers) for body in self._read_stretch(pages.pages[first : last + 1])]
        counts = pages.counts[numbers]
        for body, count in zip(bodies, counts.tolist(), strict=True):
            check_page(body, count, f"a page of column '{name}' of {self._what}")
        data = file_of_pages(self._footer, pages.column, pages.chunk, prefix, bodies, int(counts.sum()))
        file = pq.ParquetFile(pa.BufferReader(data), coerce_int96_timestamp_unit="us", page_checksum_verification=self._verify)
        if not file.schema_arrow.field(0).type.equals(self._parquet.schema_arrow.field(name).type):
            return None
        values = file.read(use_threads=False).column(0)
        if len(values) != counts.sum():
            raise CorruptTableError(f"pages of column '{name}' of {self._what} hold {len(values)} rows instead of {counts.sum()}")
        return values

    def _values_at(self, name: str, pages: ColumnPages, numbers: Indices, indices: Indices) -> pa.ChunkedArray | None:
        """Return the values of some rows, which are in the pages with some numbers."""
        values = self.values(name, pages, numbers)
        if values is None:
            return None
        counts = pages.counts[numbers]
        at = np.searchsorted(pages.starts[numbers], indices, "right") - 1
        return values.take(pa.array(indices - pages.starts[numbers][at] + (np.cumsum(counts) - counts)[at]))

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return flat_columns(self._footer)

    @cached_property
    def _footer(self) -> ThriftStruct:
        size = self._source.size()
        tail = self._source.read_at(min(size, _TAIL_READ), max(0, size - _TAIL_READ))
        length = footer_length(tail, self._what)
        if length + TAIL_BYTES > size:
            raise CorruptTableError(f"{self._what} has a footer longer than itself")
        if length + TAIL_BYTES > len(tail):
            tail = self._source.read_at(length + TAIL_BYTES, size - length - TAIL_BYTES)
        return _decode_footer(tail[len(tail) - length - TAIL_BYTES : -TAIL_BYTES], f"the footer of {self._what}")

    def _read_stretch(self, pages: Sequence[Page]) -> Iterator[bytes]:
        """Read pages that follow each other without gaps at once."""
        begin = pages[0].offset
        data = self._read(begin, pages[-1].offset + pages[-1].length - begin)
        for page in pages:
            yield data[page.offset - begin : page.offset - begin + page.length]

    def _read(self, offset: int, length: int) -> bytes:
        data: bytes = self._source.read_at(length, offset) if length else b""
        if len(data) != length:
            raise CorruptTableError(f"{self._what} ends before byte {offset + length}")
        return data


@dataclass(frozen=True, slots=True)
class ColumnPages:
    """The pages of a column in a row group, the first row of each, and how many rows all have."""

    column: Column
    chunk: Chunk
    pages: Sequence[Page]
    starts: Indices
    rows: int

    @property
    def counts(self) -> Indices:
        """How many rows each page has."""
        return np.diff(self.starts, append=self.rows)


def _decode_footer(data: bytes, what: str) -> ThriftStruct:
    """Return a footer, which takes milliseconds to decode, once as long as its bytes are in the cache."""
    known = _FOOTERS.get(data)
    if known is not None:
        return known[0]
    footer = read_struct(data, what)[0]
    _FOOTERS.put(data, (footer, len(data)))
    return footer


#: Decoded footers, by their bytes: a statement opens a file several times, and the next statement again.
_FOOTERS: LruCache[bytes, tuple[ThriftStruct, int]] = LruCache(_FOOTERS_BYTES, itemgetter(1))


def _stretches(numbers: Indices) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of each stretch of numbers, ascending, that follow each other."""
    ends = np.flatnonzero(np.diff(numbers) > 1)
    yield from zip(numbers[np.append(0, ends + 1)].tolist(), numbers[np.append(ends, len(numbers) - 1)].tolist(), strict=True)
