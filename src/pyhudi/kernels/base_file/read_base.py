"""Reads base files as rows of the table's present schema.

Rules: Hudi's schema evolution on read (a column that the file does not have is null, narrower types are widened) and
the physical forms that its writers have left over the years: lists of two levels, decimals as integers or bytes,
timestamps in millis or micros, text where the table has numbers and the other way round.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyarrow.types as pt

from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.arrays.row_filter import apply_filter
from pyhudi.kernels.base_file.parquet_input import corrupt_as_error, open_parquet
from pyhudi.kernels.base_file.promoted_rows import promoted_rows, promoted_type
from pyhudi.kernels.base_file.schema_projection import Alignment, alignment
from pyhudi.schema.evolve import conform
from pyhudi.schema.meta_columns import META_FIELDS, without_meta_columns
from pyhudi.schema.storable import storable_type
from pyhudi.schema.widen import widen_type

if TYPE_CHECKING:
    from pyhudi.spec.files.file_group import BaseFile
    from pyhudi.storage.storage_protocol import Storage

_BATCH_BYTES = 32 << 20
_MAX_BATCH_ROWS = 1 << 20
#: The columns of a file of up to so many bytes are read in one go, those of larger ones as they are decoded.
_SMALL_BYTES = 8 << 20
#: Values of columns by name.
Constants: TypeAlias = Mapping[str, pa.Scalar]
NO_CONSTANTS: Constants = MappingProxyType({})
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())


def read_base_file(
    storage: Storage,
    file: BaseFile,
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's own name for it
    *,
    meta_columns: bool = False,
) -> pa.Table:
    """Return rows of one base file as a table.

    Args:
        storage: the table's storage.
        file: the base file.
        schema: the data columns of the table, with the history of its schema if it has one.
        columns: names of the columns to return, in this order; all when None.
        filter: expression over columns of the table; row groups that cannot match are not read.
        meta_columns: put the five meta columns first (when `columns` is None).

    Raises:
        CorruptTableError: the file is damaged, missing, or has a column of a type that does not fit the table's.
    """
    batches = list(iter_base_file(storage, file, schema, columns, filter, meta_columns=meta_columns))
    return pa.Table.from_batches(batches, schema=project_columns(schema, columns, meta_columns=meta_columns))


def iter_base_file(
    storage: Storage,
    file: BaseFile,
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's own name for it
    *,
    meta_columns: bool = False,
    dictionaries: Sequence[str] = (),
    without: Indices | None = None,
    constants: Constants = NO_CONSTANTS,
    verify: bool = True,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one base file in batches of bounded size; arguments and errors as in `read_base_file`.

    The text columns named in `dictionaries` come as dictionaries, which costs least for those of few values. `without` are the
    places in the file, ascending, of rows that are left out. `constants` are values that all rows have, whatever the file says.
    `verify` holds the pages against the CRCs that they carry.
    """
    projection = project_columns(schema, columns, meta_columns=meta_columns)
    for name in dictionaries:
        projection = projection.set(projection.get_field_index(name), pa.field(name, _DICTIONARY))
    needed = projection if filter is None else with_filter_columns(projection, all_fields(schema), filter)
    with corrupt_as_error(storage, file.path), storage.open_input(file.path) as source:
        other = alignment(schema, file.name.instant)
        fragment = None
        if filter is not None and other is None:
            fragment = ds.ParquetFileFormat().make_fragment(source, partition_expression=guarantee(constants))
            if _tests_promoted(fragment.physical_schema, schema, filter):
                fragment = None  # statistics refer to the file's values, the filter of the table's
        parquet = pq.ParquetFile(
            source,
            metadata=None if fragment is None else fragment.metadata,
            read_dictionary=list(dictionaries),
            coerce_int96_timestamp_unit="us",
            pre_buffer=file.size <= _SMALL_BYTES,
            page_checksum_verification=verify,
        )
        if other is None:
            _check_types(storage, file, parquet.schema_arrow, needed)
        groups = list(range(parquet.num_row_groups)) if fragment is None or filter is None else _groups_to_read(fragment, needed, filter)
        in_file = [name for name in needed.names if name not in constants]
        names = in_file if other is None else [other.stored_name(name) for name in in_file]
        stored = [name for name in names if name in parquet.schema_arrow.names]
        left_out = None if without is None else _indices_in_groups(parquet, groups, without)
        begin = 0
        for batch in parquet.iter_batches(_batch_rows(parquet), row_groups=groups, columns=stored):
            retained = batch if left_out is None else _without(batch, begin, left_out)
            begin += batch.num_rows
            yield from _cast_columns(storage, file, retained, needed, projection, filter, other, constants)


def with_constants(rows: pa.Table, constants: Constants) -> pa.Table:
    """Return rows that have these values, as far as they have the columns."""
    for name in constants.keys() & set(rows.schema.names):
        index = rows.schema.get_field_index(name)
        field = rows.schema.field(index)
        rows = rows.set_column(index, field, _repeat_constants(constants[name], field.type, rows.num_rows))
    return rows


def _repeat_constants(value: pa.Scalar, kind: pa.DataType, count: int) -> pa.Array:
    return pa.repeat(value, count).cast(kind) if value.is_valid else pa.nulls(count, kind)


def guarantee(constants: Constants) -> pc.Expression:
    """Return what holds for rows that have these values."""
    parts = (pc.field(name) == value if value.is_valid else pc.field(name).is_null() for name, value in constants.items())
    return functools.reduce(operator.and_, parts, pc.scalar(True))


def row_count(storage: Storage, file: BaseFile) -> int:
    """Return the number of rows, from the footer alone."""
    with open_parquet(storage, file.path) as parquet:
        return int(parquet.metadata.num_rows)


def all_fields(schema: pa.Schema) -> pa.Schema:
    """Return the meta columns and the columns of the data."""
    return pa.schema([*META_FIELDS, *without_meta_columns(schema)])


def project_columns(schema: pa.Schema, columns: Sequence[str] | None, *, meta_columns: bool = False) -> pa.Schema:
    """Return the columns that are asked for; see `read_base_file`."""
    fields = all_fields(schema)
    if columns is None:
        return fields if meta_columns else without_meta_columns(schema)
    missing = [name for name in columns if name not in fields.names]
    if missing:
        raise SchemaError(f"Column '{missing[0]}' is not in the table; its columns are {', '.join(fields.names)}.")
    return pa.schema([fields.field(name) for name in columns])


def with_filter_columns(projection: pa.Schema, fields: pa.Schema, filter_: pc.Expression) -> pa.Schema:
    """Add the columns that a filter refers to: those without which it does not apply."""
    if _applies(filter_, projection.empty_table()):
        return projection
    empty = fields.empty_table()
    spoken_of = [name for name in fields.names if name not in projection.names and not _applies(filter_, empty.drop_columns(name))]
    return pa.schema([*projection, *(fields.field(name) for name in spoken_of)])


def _applies(filter_: pc.Expression, table: pa.Table) -> bool:
    try:
        table.filter(filter_)
    except (pa.ArrowInvalid, KeyError):
        return False
    return True


def _groups_to_read(fragment: ds.ParquetFileFragment, needed: pa.Schema, filter_: pc.Expression) -> list[int]:
    """Numbers of the row groups whose statistics do not rule the filter out."""
    try:
        return [group.id for group in fragment.subset(filter_, schema=needed).row_groups]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        # Statistics of the type that the file has cannot be compared with this filter.
        return list(range(fragment.num_row_groups))


def _tests_promoted(physical: pa.Schema, schema: pa.Schema, filter_: pc.Expression) -> bool:
    """Tell whether a filter refers to a column whose values in the file are not those of the table."""
    fields = all_fields(schema)
    other = {field.name for field in fields if field.name in physical.names and _is_promoted(physical.field(field.name).type, field.type)}
    return bool(other) and not other.isdisjoint(with_filter_columns(pa.schema([]), fields, filter_).names)


def _is_promoted(stored: pa.DataType, table: pa.DataType) -> bool:
    if pt.is_integer(stored) and pt.is_integer(table):
        return False  # the same values
    return not promoted_type(stored, table).equals(stored)


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


def _cast_columns(
    storage: Storage,
    file: BaseFile,
    batch: pa.RecordBatch,
    needed: pa.Schema,
    projection: pa.Schema,
    filter_: pc.Expression | None,
    other: Alignment | None,
    constants: Constants,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a batch that pass the filter, with the table's names and types."""
    if not len(needed):
        yield batch
        return
    in_file = pa.schema([field for field in needed if field.name not in constants])
    rows = pa.Table.from_arrays([pa.nulls(batch.num_rows, field.type) for field in in_file], schema=in_file)
    try:
        if batch.num_columns:
            stored = pa.Table.from_batches([batch])
            rows = conform(promoted_rows(stored, in_file) if other is None else other.rows(stored), in_file)
    except SchemaError as error:
        raise CorruptTableError(f"Base file '{file.path}' of the table at {storage.uri} cannot be read: {error}") from error
    columns = [
        _repeat_constants(constants[field.name], field.type, batch.num_rows) if field.name in constants else rows.column(field.name)
        for field in needed
    ]
    table = pa.Table.from_arrays(columns, schema=needed)
    if filter_ is not None:
        table = apply_filter(table, filter_).select(projection.names)
    yield from table.combine_chunks().to_batches()


def _check_types(storage: Storage, file: BaseFile, physical: pa.Schema, table: pa.Schema) -> None:
    known = set(physical.names)
    for field in table:
        if field.name not in known:
            continue
        stored = physical.field(field.name).type
        if not _readable(field.type, stored, field.name):
            raise CorruptTableError(
                f"Base file '{file.path}' of the table at {storage.uri} has column '{field.name}' as {stored}, which "
                f"cannot be read as the table's {field.type}."
            )


def _readable(table: pa.DataType, stored: pa.DataType, name: str) -> bool:
    if table in (stored, _DICTIONARY) or pt.is_null(stored):
        return True
    if pt.is_string(table) or pt.is_string(stored):
        other = stored if pt.is_string(table) else table
        return bool(pt.is_primitive(other) or pt.is_binary(other) or pt.is_decimal(other))
    try:
        return bool(widen_type(table, promoted_type(storable_type(stored, name), table), name) == table)
    except SchemaError:
        return False


def _batch_rows(parquet: pq.ParquetFile) -> int:
    """Rows of which one batch holds about `_BATCH_BYTES`, by what the row groups say of themselves."""
    groups = [parquet.metadata.row_group(number) for number in range(parquet.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    rows = sum(group.num_rows for group in groups)
    return max(1, min(_MAX_BATCH_ROWS, int(_BATCH_BYTES * rows / max(1, size))))
