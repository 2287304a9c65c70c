"""Single rows of a Parquet file, of whose columns only the pages are decoded that hold them.

Arrow decodes whole column chunks. The pages that hold some rows are found by the offset index and put into a small Parquet file, which
Arrow decodes, CRCs included. Files without offset index, and columns of groups, are not served.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.codec.parquet.compact_protocol import ThriftStruct, read_struct
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
        self._footer: ThriftStruct | None = None

    def rows(self, group: int, names: Sequence[str], indices: Indices) -> pa.Table | None:
        """Return some rows of a row group; None where their pages cannot be read alone, or most pages of the row group hold some.

        Args:
            group: the number of the row group.
            names: top-level columns of the file.
            indices: numbers of rows within the row group, ascending, at least one.

        Raises:
            CorruptTableError: footer or offset index are damaged.
        """
        if self._footer is None:
            self._footer = self._read_footer()
        columns = flat_columns(self._footer)
        if not names or not all(name in columns for name in names):
            return None
        choices = [self._choose_pages(group, columns[name], indices) for name in names]
        served = [choice for choice in choices if choice is not None]
        stored = sum(len(choice.pages) for choice in served)
        if len(served) < len(names) or sum(len(choice.numbers) for choice in served) > stored * _SHARE_MAX:
            return None
        arrays = [self._read_column(name, choice, indices) for name, choice in zip(names, served, strict=True)]
        if any(array is None for array in arrays):
            return None
        return pa.table(arrays, names=[*names])

    def _read_footer(self) -> ThriftStruct:
        size = self._source.size()
        tail = self._source.read_at(min(size, _TAIL_READ), max(0, size - _TAIL_READ))
        length = footer_length(tail, self._what)
        if length + TAIL_BYTES > size:
            raise CorruptTableError(f"{self._what} has a footer longer than itself")
        if length + TAIL_BYTES > len(tail):
            tail = self._source.read_at(length + TAIL_BYTES, size - length - TAIL_BYTES)
        return read_struct(tail[len(tail) - length - TAIL_BYTES : -TAIL_BYTES], f"the footer of {self._what}")[0]

    def _choose_pages(self, group: int, column: Column, indices: Indices) -> _ColumnPages | None:
        """Return the pages of a column that hold some rows; None where nothing tells."""
        assert self._footer is not None, "read before"
        chunk = chunk_of(self._footer, group, column)
        if chunk is None:
            return None
        index = self._read(chunk.index_offset, chunk.index_length)
        pages = read_pages(index, f"the offset index of column {column.number} of {self._what}")
        if not chunk.consists_of(pages):
            return None
        starts = np.array([page.first_row for page in pages], np.int64)
        rows = self._parquet.metadata.row_group(group).num_rows
        return _ColumnPages(column, chunk, pages, np.unique(np.searchsorted(starts, indices, "right") - 1), np.append(starts, rows))

    def _read_column(self, name: str, choice: _ColumnPages, indices: Indices) -> pa.ChunkedArray | None:
        """Return the values of a column; None where Arrow would give them another type than from the whole file."""
        assert self._footer is not None, "read before"
        prefix = self._read(*choice.chunk.prefix(choice.pages[0]))
        pages = [self._read(choice.pages[number].offset, choice.pages[number].length) for number in choice.numbers]
        counts = choice.starts[choice.numbers + 1] - choice.starts[choice.numbers]
        for page, count in zip(pages, counts.tolist(), strict=True):
            check_page(page, count, f"a page of column '{name}' of {self._what}")
        data = file_of_pages(self._footer, choice.column, choice.chunk, prefix, pages, int(counts.sum()))
        file = pq.ParquetFile(pa.BufferReader(data), coerce_int96_timestamp_unit="us", page_checksum_verification=self._verify)
        if not file.schema_arrow.field(0).type.equals(self._parquet.schema_arrow.field(name).type):
            return None
        values = file.read(use_threads=False).column(0)
        if len(values) != counts.sum():
            raise CorruptTableError(f"pages of column '{name}' of {self._what} hold {len(values)} rows instead of {counts.sum()}")
        at = np.searchsorted(choice.starts[choice.numbers], indices, "right") - 1
        before = np.cumsum(counts) - counts
        return values.take(pa.array(indices - choice.starts[choice.numbers][at] + before[at]))

    def _read(self, offset: int, length: int) -> bytes:
        data: bytes = self._source.read_at(length, offset) if length else b""
        if len(data) != length:
            raise CorruptTableError(f"{self._what} ends before byte {offset + length}")
        return data


@dataclass(frozen=True, slots=True)
class _ColumnPages:
    """The pages of a column in a row group, the numbers of the chosen ones, and the first row of each and of what follows."""

    column: Column
    chunk: Chunk
    pages: Sequence[Page]
    numbers: Indices
    starts: Indices
