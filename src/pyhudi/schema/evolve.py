"""What a table's schema becomes when data of another schema is written to it.

Rules: Hudi's default schema evolution (new nullable columns, widened types), cut down to what every reader can still
read from the files written before: Hudi, Spark's vectorised scan and hudi-rs. Columns are matched by name, regardless
of case as in Spark. A value that does not fit is an error, never a changed value; the one exception are fractions of
a second below microseconds, which Spark cuts off as well.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.schema.hidden_nulls import has_required_fields, optional_within, without_hidden_nulls
from pyhudi.schema.meta_columns import check_name, without_meta_columns
from pyhudi.schema.storable import storable_schema
from pyhudi.schema.widen import new_field, widen_type

_ROWS_PER_CHUNK = 1 << 18


def evolve(table: pa.Schema | None, data: pa.Schema, *, key_fields: Iterable[str] = ()) -> pa.Schema:
    """Return the table's data columns after a write of data with this schema; `table` is None for a new table.

    Columns of the table keep name, place and nullability; columns that only the data has are appended, nullable.
    `key_fields` are the record key and partition fields: their types never grow into one that has other strings.

    Raises:
        SchemaError: a type cannot be stored or does not fit the table's, or a new column has a reserved name; names the column.

    Example:
        >>> evolve(pa.schema({"id": pa.int32()}), pa.schema({"ID": pa.int64(), "name": pa.string()})).names
        ['id', 'name']
    """
    incoming = storable_schema(data)
    if table is None:
        if not incoming.names:
            raise SchemaError("The data has no columns, so there is no table to make of it.")
        return pa.schema([_new_column(field) for field in incoming])
    by_name = {field.name.lower(): field for field in incoming}
    fields = []
    for field in without_meta_columns(table):
        match = by_name.pop(field.name.lower(), None)
        if match is None and not field.nullable:
            raise SchemaError(f"Column '{field.name}' is missing in the data, and the table does not allow nulls in it.")
        fields.append(field if match is None else field.with_type(widen_type(field.type, match.type, field.name)))
    fields.extend(_new_column(field).with_nullable(True) for field in by_name.values())
    _check_key_strings(table, pa.schema(fields), key_fields)
    return pa.schema(fields)


def _new_column(field: pa.Field) -> pa.Field:
    check_name(field.name)
    return new_field(field, field.name)


def _check_key_strings(table: pa.Schema, evolved_schema: pa.Schema, key_fields: Iterable[str]) -> None:
    """Refuse a key of integers that would become one of doubles: `1` would turn into `1.0` and be another record."""
    keys = {name.lower() for name in key_fields}
    for old, new in zip(without_meta_columns(table), evolved_schema, strict=False):
        if old.name.lower() in keys and old.type != new.type and not pt.is_integer(new.type):
            raise SchemaError(
                f"Column '{old.name}' is part of the record key or partition path and has type {old.type}; as {new.type}, "
                f"the type of the data, its values would be other keys. Cast the data to {old.type}."
            )


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the columns of `schema`, in its order and types; columns that are missing are null, others are left out.

    Raises:
        SchemaError: a value does not fit its column's type, or a column that allows no nulls has some.

    Example:
        >>> conform(pa.table({"B": [1]}), pa.schema({"a": pa.string(), "b": pa.int32()})).to_pydict()
        {'a': [None], 'b': [1]}
    """
    if table.schema.equals(schema):
        return _check_cast(table)
    if any(_has_wide_offsets(field.type) for field in table.schema):
        table = pa.Table.from_batches(table.to_batches(max_chunksize=_ROWS_PER_CHUNK), schema=table.schema)
    indices = _indices(table.schema)
    columns = []
    for field in schema:
        index = indices.get(field.name, indices.get(field.name.lower()))
        if index is None:
            columns.append(pa.chunked_array([pa.nulls(table.num_rows, field.type)]))
        else:
            columns.append(conform_column(table.column(index), field.type, field.name))
    return _check_cast(pa.Table.from_arrays(columns, schema=schema))


def conform_column(column: pa.ChunkedArray, target: pa.DataType, name: str) -> pa.ChunkedArray:
    """Return the column with type `target`.

    Raises:
        SchemaError: a value does not fit.
    """
    if column.type == target:
        return column
    if pt.is_dictionary(column.type):
        column = _plain_dictionary(column)
    options = pc.CastOptions(optional_within(target), allow_time_truncate=True)
    try:
        if pt.is_integer(column.type) and pt.is_decimal(target):
            column = pc.cast(column, pa.decimal128(38, 0))
        return without_hidden_nulls(pc.cast(column, options=options), target, name)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaError(f"Column '{name}' of type {column.type} does not fit the table's type {target}: {error}") from error


def _indices(schema: pa.Schema) -> dict[str, int]:
    """Column numbers by name; by lower-case name too where that is free."""
    indices = {name: index for index, name in enumerate(schema.names)}
    for index, name in enumerate(schema.names):
        indices.setdefault(name.lower(), index)
    return indices


def _plain_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Give dictionaries of view types plain values: Arrow cannot take from views."""
    value = column.type.value_type
    if not (pt.is_string_view(value) or pt.is_binary_view(value)):
        return column
    plain = pa.large_string() if pt.is_string_view(value) else pa.large_binary()
    chunks = [pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(plain)) for chunk in column.chunks]
    return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, plain))


def _has_wide_offsets(arrow: pa.DataType) -> bool:
    return bool(
        pt.is_large_string(arrow)
        or pt.is_large_binary(arrow)
        or pt.is_large_list(arrow)
        or pt.is_string_view(arrow)
        or pt.is_binary_view(arrow)
    )


def _check_cast(table: pa.Table) -> pa.Table:
    """Return the table once no column holds nulls that it must not; those that only null structs hide are taken out."""
    for field in table.schema:
        if not field.nullable and table.column(field.name).null_count:
            raise SchemaError(f"Column '{field.name}' holds a null, which the table does not allow in it.")
    if not any(has_required_fields(field.type) for field in table.schema):
        return table
    columns = [without_hidden_nulls(table.column(index), field.type, field.name) for index, field in enumerate(table.schema)]
    return pa.Table.from_arrays(columns, schema=table.schema)
