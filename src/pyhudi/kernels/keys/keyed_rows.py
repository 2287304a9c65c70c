"""Rows with their record key: those of write tasks, typed as the table's columns, and those of base files, also where keys are virtual."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import KeyFieldError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.byte_size import rows_of_bytes
from pyhudi.kernels.arrays.row_filter import apply_filter
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.base_file.iter_rows import NO_CONSTANTS, Constants, all_fields, project_columns, with_filter_columns
from pyhudi.kernels.base_file.read_base import iter_base_file, with_constants
from pyhudi.kernels.base_file.write_columns import DELETE_COLUMN, POSITION_COLUMN, commit_time_deletes, marked_deletes
from pyhudi.kernels.keys.key_kernels import with_computed_keys
from pyhudi.schema.evolve import conform, conform_column
from pyhudi.schema.field_paths import head_columns
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import BaseFile

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage

_BATCH_BYTES = 64 << 20


def keyed_batches(rows: pa.Table | Iterable[pa.RecordBatch], context: RecordContext) -> Iterator[pa.Table]:
    """Yield the rows with the columns record key, `_pyhudi_delete` and `_pyhudi_position` (when they came), and data.

    At least one piece comes, so that the columns are known when there are no rows.

    Raises:
        SchemaError: a value does not fit the table.
        KeyFieldError: a record key is null.
    """
    some = False
    for file_slice in _batches(rows):
        some = True
        yield _add_keys(file_slice, context)
    if not some:
        key = pa.field(RECORD_KEY, pa.string())
        yield pa.schema([key, *context.schema]).empty_table()


def live_rows(rows: pa.Table, context: RecordContext) -> pa.Table:
    """Return the rows that are not deletes."""
    deletes = commit_time_deletes(rows) | marked_deletes(rows, context)
    return rows.filter(pa.array(~deletes)) if deletes.any() else rows


def _batches(rows: pa.Table | Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    if isinstance(rows, pa.Table):
        if rows.num_rows == 0:
            yield rows
            return
        step = rows_of_bytes(rows, _BATCH_BYTES)
        for start in range(0, rows.num_rows, step):
            yield rows.slice(start, step)
    else:
        for batch in rows:
            yield pa.Table.from_batches([batch])


def _add_keys(rows: pa.Table, context: RecordContext) -> pa.Table:
    keys = conform_column(rows.column(RECORD_KEY), pa.string(), RECORD_KEY)
    if keys.null_count:
        raise KeyFieldError(f"A row for table '{context.name}' has no record key ('{RECORD_KEY}' is null).")
    rows = rows.set_column(rows.schema.get_field_index(RECORD_KEY), RECORD_KEY, keys)
    is_delete = commit_time_deletes(rows)
    if not is_delete.any():
        return _with_key(rows, conform(rows, context.schema))
    # Of a row that is deleted only the key counts: what else it holds may be null, or missing altogether.
    deleted, live = rows.filter(pa.array(is_delete)), rows.filter(pa.array(~is_delete))
    nulls = pa.Table.from_arrays([pa.nulls(deleted.num_rows, field.type) for field in context.schema], schema=context.schema)
    return pa.concat_tables([_with_key(live, conform(live, context.schema)), _with_key(deleted, nulls)])


def _with_key(rows: pa.Table, data: pa.Table) -> pa.Table:
    leading = [name for name in (RECORD_KEY, DELETE_COLUMN, POSITION_COLUMN) if name in rows.schema.names]
    columns = [*(rows.column(name) for name in leading), *data.columns]
    fields = [*(rows.schema.field(name) for name in leading), *data.schema]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def iter_keyed_base(
    storage: Storage,
    context: RecordContext,
    file: BaseFile,
    columns: Sequence[str],
    filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's own name for it
    *,
    without: Indices | None = None,
    constants: Constants = NO_CONSTANTS,
    verify: bool = True,
    only: Indices | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a base file; a key that is asked for or filtered by is computed where files have none.

    Arguments and errors are those of `iter_base_file`.
    """
    key, projection = context.virtual_key, project_columns(context.schema, columns)
    needed = projection if filter is None else with_filter_columns(projection, all_fields(context.schema), filter)
    if key is None or RECORD_KEY not in needed.names:
        yield from iter_base_file(
            storage, file, context.schema, columns, filter, without=without, constants=constants, verify=verify, only=only
        )
        return
    heads = head_columns(key.key_fields)
    for batch in iter_base_file(
        storage, file, context.schema, list(dict.fromkeys([*needed.names, *heads])), without=without, verify=verify
    ):
        rows = with_constants(with_computed_keys(pa.Table.from_batches([batch]), key), constants)
        yield from apply_filter(rows, filter).select(projection.names).to_batches()


@dataclass(frozen=True, slots=True)
class KeyedPositions:
    """Rows of a base file, ascending, and the record key of each, as a search for keys has found them."""

    rows: Indices
    keys: pa.StringArray

    def without(self, left_out: Indices) -> KeyedPositions:
        """Return the rows but some, ascending."""
        stays = ~np.isin(self.rows, left_out)
        return KeyedPositions(self.rows[stays], self.keys.filter(pa.array(stays)))


def iter_keyed_positions(
    storage: Storage,
    context: RecordContext,
    file: BaseFile,
    columns: Sequence[str],
    known: KeyedPositions,
    *,
    constants: Constants = NO_CONSTANTS,
    verify: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Yield rows of a base file whose keys are known, which are not read once more.

    Arguments and errors are those of `iter_base_file`; there is no filter.
    """
    projection = project_columns(context.schema, columns)
    stored = [name for name in projection.names if name != RECORD_KEY]
    if not len(known.rows):
        return
    if not stored:
        yield pa.RecordBatch.from_arrays([known.keys] * len(projection), schema=projection)
        return
    begin = 0
    for batch in iter_base_file(storage, file, context.schema, stored, constants=constants, verify=verify, only=known.rows):
        keys = known.keys.slice(begin, batch.num_rows)
        begin += batch.num_rows
        arrays = [keys if name == RECORD_KEY else batch.column(name) for name in projection.names]
        yield pa.RecordBatch.from_arrays(arrays, schema=projection)
