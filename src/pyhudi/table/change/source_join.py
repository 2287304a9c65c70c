"""The join of a merge in this process: which rows of the source match which rows of the table."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import SchemaError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.row_pairs import row_pairs
from pyhudi.read.execute import Selection, narrow
from pyhudi.read.filter.condition import Column, In
from pyhudi.read.filter.row_predicate import Filter
from pyhudi.read.late_columns import LateRows, read_late
from pyhudi.table.change.assigned_values import store_as


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """Rows of a merge: rows of the source and of the table by index, null where a side has none."""

    source: pa.Table
    table: LateRows
    #: Indices of rows that match each other, in the order of the source.
    source_indices: Indices
    table_indices: Indices
    #: Indices of rows of the source without a match, and of the table.
    unmatched_source: Indices
    unmatched_table: Indices


def join_rows(
    chosen: Selection, first: Sequence[str], source: pa.Table, on: Sequence[tuple[str, str]], *, whole_table: bool, what: str
) -> JoinedRows:
    """Join the rows of a source with those of a table by equal columns; nulls are equal to nothing.

    Args:
        chosen: the table, with the columns to read.
        first: those of them that all rows are read with, the columns that rows match by among them.
        source: the rows of the source.
        on: columns of the table with those of the source that they equal.
        whole_table: read the rows of the table that match no row of the source, too.
        what: the call, for messages.

    Raises:
        SchemaError: a column has a type that cannot be compared with its counterpart.
    """
    schema = chosen.snapshot.schema
    keys = {ours: _key(source.column(theirs), schema.field(ours), what) for ours, theirs in on}
    if not whole_table:
        filters = (_is_member(name, pc.unique(pc.drop_null(column))) for name, column in keys.items())
        chosen = narrow(chosen, None, functools.reduce(operator.and_, filters))
    read = read_late(chosen, first)
    names, table = list(keys), read.rows
    pairs = row_pairs([*keys.values()], [table.column(name).cast(keys[name].type) for name in names])
    assert pairs is not None, "there is no limit"
    matched, table_rows = pairs
    return JoinedRows(source, read, matched, table_rows, _missing(source.num_rows, matched), _missing(table.num_rows, table_rows))


def _is_member(name: str, values: pa.Array) -> Filter:
    """Return the filter for rows with one of some values; both its forms are made here, since taking a long list apart is slow."""
    return Filter(pc.field(name).isin(values), In(Column((name,), values.type), values))


def _key(column: pa.ChunkedArray, field: pa.Field, what: str) -> pa.ChunkedArray:
    if pa.types.is_nested(field.type) or pa.types.is_floating(field.type):
        raise SchemaError(f"{what}: rows cannot be matched by {field.name}, which has type {field.type}; give other columns in on=.")
    return store_as(column, field, what)


def _missing(rows: int, present: Indices) -> Indices:
    """Return the indices below `rows` that are not present, ascending."""
    is_missing = np.ones(rows, bool)
    is_missing[present] = False
    return np.flatnonzero(is_missing)
