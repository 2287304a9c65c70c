"""Rows of a selection of which some columns are read at first, and the others only for rows that turn out to need them.

A merge has to know which rows its source matches, and where they are stored. Their other columns are compared with new values, and one
column mostly shows that all of them differ. Design: `docs/design/0113-update-and-merge.md`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.row_filter import apply_filter
from pyhudi.kernels.base_file.iter_rows import all_fields, with_filter_columns
from pyhudi.kernels.base_file.read_base import iter_base_file
from pyhudi.read.execute import Selection, path_constants, slice_batches
from pyhudi.read.skipping.key_rows import keyed_rows_meant
from pyhudi.read.snapshot.prefetch import side_by_side
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import BaseFile, FileSlice

_ROW: Final = "_pyhudi_row"


@dataclass(frozen=True, slots=True)
class LateRows:
    """Rows of a selection in the order of its slices: `rows` has the columns that were read first."""

    selection: Selection
    rows: pa.Table
    parts: Sequence[_SliceRows]

    @property
    def later(self) -> Sequence[str]:
        """The names of the columns that `columns` reads; none where all are read."""
        present = set(self.rows.schema.names)
        return [name for name in self.selection.columns if name not in present]

    def columns(self, names: Sequence[str], indices: Indices) -> pa.Table:
        """Return columns that were not read first.

        Args:
            names: the columns.
            indices: numbers of rows, ascending, each one once.

        Raises:
            CorruptTableError: a file is damaged or missing.
        """
        schema = replace(self.selection, columns=tuple(names)).schema
        ends = np.cumsum([part.count for part in self.parts])
        streams = []
        for part, end in zip(self.parts, ends.tolist(), strict=True):
            first, last = np.searchsorted(indices, [end - part.count, end])
            if first < last:
                streams.append(functools.partial(part.read, self.selection, schema, indices[first:last] - (end - part.count)))
        return pa.Table.from_batches(side_by_side(streams), schema=schema)


@dataclass(frozen=True, slots=True)
class _SliceRows:
    """Rows of one slice, and where they are: in a base file, or, when `base` is None, all columns of them in `rows`."""

    rows: pa.Table
    base: BaseFile | None
    path: str
    row_indices: Indices

    @property
    def count(self) -> int:
        return int(self.rows.num_rows)

    def read(self, selection: Selection, schema: pa.Schema, indices: Indices) -> Iterator[pa.RecordBatch]:
        """Yield columns of some rows, in their order."""
        if self.base is None:
            yield from self.rows.select(schema.names).take(pa.array(indices)).to_batches()
        else:
            yield from _rows_at(selection, self.base, self.path, schema.names, self.row_indices[indices])


def read_late(selection: Selection, first: Sequence[str]) -> LateRows:
    """Return the rows of a selection with some of their columns; others are read on demand where that can be had.

    All columns are read of slices with log files, and of base files whose rows are not known by their keys.

    Args:
        selection: which rows, and all columns that may be asked for.
        first: the columns that are asked for in any case, those of the filter among them.

    Raises:
        CorruptTableError: a file is damaged or missing.
    """
    streams = [functools.partial(_of_slice, selection, first, file_slice) for file_slice in selection.slices()]
    parts = list(side_by_side(streams))
    if all(part.base is None for part in parts):
        return LateRows(selection, pa.concat_tables([selection.schema.empty_table(), *(part.rows for part in parts)]), parts)
    empty = replace(selection, columns=tuple(first)).schema.empty_table()
    return LateRows(selection, pa.concat_tables([empty, *(part.rows.select(empty.schema.names) for part in parts)]), parts)


def _of_slice(selection: Selection, first: Sequence[str], file_slice: FileSlice) -> Iterator[_SliceRows]:
    """Yield the rows of one slice."""
    snapshot, base, meant, path = selection.snapshot, file_slice.base, selection.keys_meant, file_slice.group.partition_path
    matches = None if base is None or file_slice.logs or meant is None else keyed_rows_meant(snapshot.storage, base, *meant)
    if base is None or meant is None or matches is None:
        rows = pa.Table.from_batches(slice_batches(selection, file_slice), schema=selection.schema)
        yield _SliceRows(rows, None, path, np.empty(0, np.int64))
        return
    projection = replace(selection, columns=tuple(first)).schema
    condition = selection.condition
    needed = projection if condition is None else with_filter_columns(projection, all_fields(snapshot.schema), condition)
    (keys, _), (candidates, numbers) = meant, matches
    stored = pa.schema([field for field in needed if field.name != RECORD_KEY])
    rows = pa.Table.from_batches(_rows_at(selection, base, path, stored.names, candidates), schema=stored)
    if RECORD_KEY in needed.names:  # the search has read it
        rows = rows.append_column(RECORD_KEY, keys.take(pa.array(numbers)))
    passing = apply_filter(rows.append_column(_ROW, pa.array(candidates)), condition)
    yield _SliceRows(passing.select(projection.names), base, path, passing.column(_ROW).to_numpy())


def _rows_at(selection: Selection, base: BaseFile, path: str, names: Sequence[str], row_indices: Indices) -> Iterator[pa.RecordBatch]:
    """Yield columns of some rows of a base file by their numbers, ascending."""
    snapshot = selection.snapshot
    return iter_base_file(
        snapshot.storage,
        base,
        snapshot.schema,
        names,
        constants=path_constants(snapshot, path),
        verify=snapshot.query.verifies_pages,
        only=row_indices,
    )
