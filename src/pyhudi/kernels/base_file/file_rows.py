"""The rows of one open base file as rows of the table: all that pass a filter, by decoding whole columns, or few of them by their pages.

With a filter, its columns are decoded first. Where few rows of a row group pass, the other columns are decoded for them alone, by page;
where none pass, not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.row_filter import apply_filter
from pyhudi.kernels.base_file.page_rows import PageRows
from pyhudi.kernels.base_file.schema_projection import Alignment
from pyhudi.schema.evolve import conform
from pyhudi.schema.promoted_rows import promoted_rows

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

_BATCH_BYTES: Final = 32 << 20
_MAX_BATCH_ROWS: Final = 1 << 20
#: Rows of the filter's columns that are tested at once: a filter that many rows pass is known after the first.
_PROBE_ROWS: Final = 1 << 16
#: Row groups of less rows are decoded whole: a file that is opened takes as long.
_SMALL_GROUP_ROWS: Final = 40_000
#: Few rows are at most one of so many.
_FEW_OF: Final = 256
_ROW: Final = "_pyhudi_row"


@dataclass(frozen=True, slots=True)
class FileRows:
    """What turns rows of a file into rows of the table: the columns needed and projection, the filter, other names, values of all rows."""

    storage: Storage
    path: str
    needed: pa.Schema
    projection: pa.Schema
    filter: pc.Expression | None
    other: Alignment | None
    constants: Mapping[str, pa.Scalar]

    def stored_names(self, parquet: pq.ParquetFile) -> list[str]:
        """Return the names that the columns have in the file, of those that are read of it."""
        in_file = [name for name in self.needed.names if name not in self.constants]
        names = in_file if self.other is None else [self.other.stored_name(name) for name in in_file]
        return [name for name in names if name is not None and name in parquet.schema_arrow.names]

    def of_table(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a batch that pass the filter, with the table's names and types."""
        if not len(self.needed):
            yield batch
            return
        in_file = pa.schema([field for field in self.needed if field.name not in self.constants])
        rows = pa.Table.from_arrays([pa.nulls(batch.num_rows, field.type) for field in in_file], schema=in_file)
        try:
            if batch.num_columns:
                stored = pa.Table.from_batches([batch])
                rows = conform(promoted_rows(stored, in_file) if self.other is None else self.other.rows(stored), in_file)
        except SchemaError as error:
            raise CorruptTableError(f"Base file '{self.path}' of the table at {self.storage.uri} cannot be read: {error}") from error
        columns = [
            repeat_constants(self.constants[field.name], field.type, batch.num_rows)
            if field.name in self.constants
            else rows.column(field.name)
            for field in self.needed
        ]
        table = pa.Table.from_arrays(columns, schema=self.needed)
        if self.filter is not None:
            table = apply_filter(table, self.filter).select(self.projection.names)
        yield from table.combine_chunks().to_batches()


def scan(parquet: pq.ParquetFile, groups: Sequence[int], rows: FileRows, without: Indices | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of some row groups, whose columns are all decoded."""
    left_out = None if without is None else _indices_in_groups(parquet, groups, without)
    for batch, begin in _batches(parquet, groups, rows):
        yield from rows.of_table(batch if left_out is None else _without(batch, begin, left_out))


def _scan_some(parquet: pq.ParquetFile, group: int, rows: FileRows, indices: Indices) -> Iterator[pa.RecordBatch]:
    """Yield those of some rows of a row group, ascending, that pass the filter; all columns are decoded."""
    for batch, begin in _batches(parquet, [group], rows):
        first, last = np.searchsorted(indices, [begin, begin + batch.num_rows])
        if first < last:
            chosen = pa.array(indices[first:last] - begin)
            some = batch.take(chosen) if batch.num_columns else batch.slice(0, len(chosen))
            yield from rows.of_table(_without_dictionaries(some, rows.needed))


def _without_dictionaries(batch: pa.RecordBatch, needed: pa.Schema) -> pa.RecordBatch:
    """Return a batch whose columns are dictionaries only where these are needed."""
    columns = {name: batch.column(number) for number, name in enumerate(batch.schema.names)}
    needless = [name for name in needed.names if name in columns and not pt.is_dictionary(needed.field(name).type)]
    decoded = {name: columns[name].dictionary_decode() for name in needless if isinstance(columns[name], pa.DictionaryArray)}
    return pa.RecordBatch.from_pydict({**columns, **decoded}) if decoded else batch


def _batches(parquet: pq.ParquetFile, groups: Sequence[int], rows: FileRows) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield the rows of some row groups in batches, each with the number of its first row."""
    begin = 0
    for batch in parquet.iter_batches(_batch_rows(parquet), row_groups=groups, columns=rows.stored_names(parquet)):
        yield _without_views(batch), begin
        begin += batch.num_rows


def _without_views(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch without views, which files of other writers may ask for: Arrow takes no rows out of them."""
    plain = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}
    if plain.keys().isdisjoint(batch.schema.types):
        return batch
    columns = [column.cast(plain.get(column.type, column.type)) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def late_rows(
    parquet: pq.ParquetFile,
    group: int,
    rows: FileRows,
    first: pa.Schema | None,
    pages: PageRows,
    encoded: pq.ParquetFile,
    without: Indices | None,
    only: Indices | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a row group that pass the filter; where they are few, other columns than those of the filter by page.

    Args:
        parquet: the file.
        group: the number of the row group.
        rows: what is read, and the filter.
        first: columns that are enough for the filter; None when that is all of them.
        pages: reads rows of the same file by their pages.
        encoded: the same file, with columns of few long values as dictionaries; few rows are taken out of it.
        without: numbers of rows of the file, ascending, that are left out.
        only: numbers of rows of the file, ascending, that alone can pass the filter, where these are known; else None.
    """
    indices = None if only is None else _indices_in_groups(parquet, [group], only)
    is_small = parquet.metadata.row_group(group).num_rows < _SMALL_GROUP_ROWS
    if indices is None and not is_small:
        indices = _passing_rows(parquet, group, rows, first)
    if indices is None:
        yield from scan(parquet, [group], rows, without)
        return
    if without is not None:
        indices = np.setdiff1d(indices, _indices_in_groups(parquet, [group], without), assume_unique=True)
    if not len(indices):
        return
    read = None if is_small else pages.rows(group, rows.stored_names(parquet), indices)
    if read is None:
        yield from _scan_some(encoded, group, rows, indices)
    else:
        for batch in read.combine_chunks().to_batches():
            yield from rows.of_table(batch)


def _passing_rows(parquet: pq.ParquetFile, group: int, read_rows: FileRows, first: pa.Schema | None) -> Indices | None:
    """Return the numbers of a row group's rows that pass the filter, ascending; None as soon as they are many."""
    if first is None:
        return None
    rows, filter_ = replace(read_rows, needed=first, projection=first, filter=None), read_rows.filter
    most = parquet.metadata.row_group(group).num_rows // _FEW_OF
    parts, begin, count = [np.empty(0, np.int64)], 0, 0
    for batch in parquet.iter_batches(_PROBE_ROWS, row_groups=[group], columns=rows.stored_names(parquet)):
        for read in rows.of_table(batch):
            numbers = pa.array(np.arange(begin, begin + batch.num_rows))
            passing = apply_filter(pa.Table.from_batches([read]).append_column(_ROW, numbers), filter_).column(_ROW)
            parts.append(passing.to_numpy())
            count += len(passing)
        begin += batch.num_rows
        if count > most:
            return None
    return np.concatenate(parts)


def repeat_constants(value: pa.Scalar, kind: pa.DataType, count: int) -> pa.Array:
    """Return a column in which all rows have one value."""
    return pa.repeat(value, count).cast(kind) if value.is_valid else pa.nulls(count, kind)


def _indices_in_groups(parquet: pq.ParquetFile, groups: Sequence[int], row_indices: Indices) -> Indices:
    """Return places in the file as places among the rows of some of its row groups."""
    starts = np.cumsum([0, *(parquet.metadata.row_group(number).num_rows for number in range(parquet.num_row_groups))])
    within, begin = [np.empty(0, np.int64)], 0
    for number in groups:
        first, last = np.searchsorted(row_indices, [starts[number], starts[number + 1]])
        within.append(row_indices[first:last] - starts[number] + begin)
        begin += int(starts[number + 1] - starts[number])
    return np.concatenate(within)


def _without(batch: pa.RecordBatch, begin: int, row_indices: Indices) -> pa.RecordBatch:
    """Return the batch, whose first row has the place `begin`, without the rows at these places."""
    first, last = np.searchsorted(row_indices, [begin, begin + batch.num_rows])
    if first == last:
        return batch
    keep = np.ones(batch.num_rows, bool)
    keep[row_indices[first:last] - begin] = False
    if not batch.num_columns:
        return batch.slice(0, int(keep.sum()))
    # Column by column: a batch is filtered by gathering its rows one by one, a column by copying the stretches that stay.
    mask = pa.array(keep)
    return pa.RecordBatch.from_arrays([column.filter(mask) for column in batch.columns], schema=batch.schema)


def _batch_rows(parquet: pq.ParquetFile) -> int:
    """Rows of which one batch holds about `_BATCH_BYTES`, by what the row groups say of themselves."""
    groups = [parquet.metadata.row_group(number) for number in range(parquet.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    rows = sum(group.num_rows for group in groups)
    return max(1, min(_MAX_BATCH_ROWS, int(_BATCH_BYTES * rows / max(1, size))))
