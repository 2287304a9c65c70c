"""What a table's schema becomes when data of another schema is written to it.

Rules: Hudi's default schema evolution: new nullable columns, and types that are widened (`pyhudi.schema.widen`). Columns are matched by
name, regardless of case as in Spark. A value that does not fit is an error, never a changed value; the one exception are fractions of
a second below microseconds, which Spark cuts off as well. Numbers and dates become text as Apache Hudi writes them.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import SchemaError
from pyhudi.schema.field_paths import type_at
from pyhudi.schema.hidden_nulls import has_required_fields, optional_within, without_hidden_nulls
from pyhudi.schema.list_views import without_list_views
from pyhudi.schema.meta_columns import check_name, without_meta_columns
from pyhudi.schema.promoted_rows import promote_column, promoted_type
from pyhudi.schema.storable import storable_schema, storable_type
from pyhudi.schema.widen import new_field, widen_type

_ROWS_PER_CHUNK = 1 << 18


def evolve(
    table: pa.Schema | None,
    data: pa.Schema,
    *,
    key_fields: Iterable[str] = (),
    partition_fields: Iterable[str] = (),
    ordering_fields: Iterable[str] = (),
    are_cast: bool = True,
) -> pa.Schema:
    """Return the table's data columns after a write of data with this schema; `table` is None for a new table.

    Columns of the table keep name, place and nullability; columns that only the data has are appended, nullable.
    Types of `key_fields` and `partition_fields` are not widened into one whose values have other strings, nor those of `ordering_fields`
    into text, which has another order. Without `are_cast` the data are files that stay as they are (`widen_type`).

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
        fields.append(field if match is None else field.with_type(widen_type(field.type, match.type, field.name, are_cast=are_cast)))
    fields.extend(_new_column(field).with_nullable(True) for field in by_name.values())
    evolved_schema = pa.schema(fields)
    check_fixed_columns(table, evolved_schema, key_fields, partition_fields, ordering_fields)
    return evolved_schema


def _new_column(field: pa.Field) -> pa.Field:
    check_name(field.name)
    return new_field(field, field.name)


def check_fixed_columns(
    table: pa.Schema,
    evolved_schema: pa.Schema,
    key_fields: Iterable[str],
    partition_fields: Iterable[str],
    ordering_fields: Iterable[str],
) -> None:
    """Refuse to widen a column that names or orders records: `1` would become `1.0` and be another record.

    Raises:
        SchemaError: names the column, both types and the reason.
    """
    roles = (
        (key_fields, "part of the record key", "its values would be other keys", same_key_strings),
        (partition_fields, "a partition field", "its values could have other partition paths", _are_integers),
        (ordering_fields, "an ordering field", "its values would have another order", same_order),
    )
    stored_names = {name.lower(): name for name in table.names}
    for names, role, reason, is_same in roles:
        for given in names:
            name = stored_names.get(given.lower(), given)
            old, new = type_at(table, name), type_at(evolved_schema, name)
            if old is not None and new is not None and old != new and not is_same(old, new):
                raise SchemaError(
                    f"Column '{name}' is {role} and has type {old}; as {new}, the type of the data, {reason}. Cast the data to {old}."
                )


def _are_integers(old: pa.DataType, new: pa.DataType) -> bool:
    return bool(pt.is_integer(old) and pt.is_integer(new))


def same_key_strings(old: pa.DataType, new: pa.DataType) -> bool:
    """Tell whether the values of a column have the same strings in keys once it has another type.

    Example:
        >>> same_key_strings(pa.int32(), pa.string()), same_key_strings(pa.int32(), pa.float64())
        (True, False)
    """
    return bool(old == new or (pt.is_integer(old) and (pt.is_integer(new) or pt.is_string(new))))


def same_order(old: pa.DataType, new: pa.DataType) -> bool:
    """Tell whether the values of a column keep their order once it has another type: numbers do not as text."""
    return bool(old == new or pt.is_string(old) or not (pt.is_string(new) or pt.is_binary(new)))


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
    column = without_list_views(column)
    column = _promote(column, target, name)
    options = pc.CastOptions(optional_within(target), allow_time_truncate=True)
    try:
        if pt.is_integer(column.type) and pt.is_decimal(target):
            column = pc.cast(column, pa.decimal128(38, 0))
        return without_hidden_nulls(pc.cast(column, options=options), target, name)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SchemaError(f"Column '{name}' of type {column.type} does not fit the table's type {target}: {error}") from error


def _promote(column: pa.ChunkedArray, target: pa.DataType, name: str) -> pa.ChunkedArray:
    """Return values of a narrower type as the wider one has them: Arrow would write other text, and other digits of a float as a double."""
    if not _may_promote(target):
        return column
    plain = storable_type(column.type, name)
    promoted = promoted_type(plain, target, exact=True)
    if promoted.equals(plain):
        return column
    chunks = column.cast(plain).chunks if plain != column.type else column.chunks
    return pa.chunked_array([promote_column(chunk, promoted, name, exact=True) for chunk in chunks], promoted)


def _may_promote(target: pa.DataType) -> bool:
    if pt.is_nested(target):
        return any(_may_promote(target.field(index).type) for index in range(target.num_fields))
    return bool(pt.is_string(target) or pt.is_float64(target) or pt.is_decimal(target))


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
