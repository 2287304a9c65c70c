"""Nulls that nobody can see: values of a struct's required fields in rows whose struct is itself null.

Spark leaves them null, as it must leave them something. A Parquet file of required columns cannot hold them, and neither can Avro.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from pyhudi.errors import SchemaError


def without_hidden_nulls(column: pa.ChunkedArray, target: pa.DataType, name: str) -> pa.ChunkedArray:
    """Return the column as `target`, with some value in place of each hidden null; `name` is its dotted path, for messages.

    Args:
        column: Its type is `target` or `optional_within(target)`.
        target: The type wanted.
        name: Its path.

    Raises:
        SchemaError: a required field is null in a row whose struct is not.
    """
    if not has_required_fields(target):
        return column
    return pa.chunked_array([_fill_nulls(chunk, target, name) for chunk in column.chunks], target)


def has_required_fields(arrow: pa.DataType) -> bool:
    """Tell whether a type has a struct with a field that allows no nulls, at any depth."""
    if not pt.is_nested(arrow):
        return False
    parts = [arrow.field(index) for index in range(arrow.num_fields)]
    return any((pt.is_struct(arrow) and not part.nullable) or has_required_fields(part.type) for part in parts)


def optional_within(arrow: pa.DataType) -> pa.DataType:
    """Return the type without required fields, at any depth."""
    if pt.is_struct(arrow):
        return pa.struct([pa.field(field.name, optional_within(field.type)) for field in arrow])
    if pt.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(optional_within(arrow.value_type)))
    if pt.is_map(arrow):
        return pa.map_(arrow.key_type, arrow.item_field.with_type(optional_within(arrow.item_type)))
    return arrow


def _fill_nulls(values: pa.Array, target: pa.DataType, name: str) -> pa.Array:
    if not has_required_fields(target):
        return values
    if pt.is_struct(target):
        return _fill_struct_nulls(values, target, name)
    if values.offset:
        values = values.take(pa.array(np.arange(len(values))))
    if pt.is_map(target):
        items = _fill_nulls(values.items, target.item_type, f"{name}.value")
        child = pa.StructArray.from_arrays([values.keys, items], fields=[target.key_field, target.item_field])
    else:
        child = _fill_nulls(values.values, target.value_type, f"{name}.element")
    return pa.Array.from_buffers(target, len(values), values.buffers()[:2], values.null_count, children=[child])


def _fill_struct_nulls(values: pa.StructArray, target: pa.StructType, name: str) -> pa.Array:
    removed = values.is_null()
    parts = []
    for index, field in enumerate(target):
        part = _fill_nulls(values.field(index), field.type, f"{name}.{field.name}")
        if not field.nullable and part.null_count:
            if pc.any(pc.and_not(part.is_null(), removed)).as_py():
                raise SchemaError(f"Column '{name}.{field.name}' holds a null, which its type does not allow.")
            whole = pa.concat_arrays([part, _some_value(field.type)])
            part = whole.take(pc.if_else(part.is_null(), len(part), pa.array(np.arange(len(part)))))
        parts.append(part)
    return pa.StructArray.from_arrays(parts, fields=list(target), mask=removed)


def _some_value(arrow: pa.DataType) -> pa.Array:
    """Return an array of one value."""
    if pt.is_struct(arrow):
        return pa.StructArray.from_arrays([_some_value(field.type) for field in arrow], fields=list(arrow))
    if pt.is_list(arrow) or pt.is_map(arrow):
        return pa.array([[]], arrow)
    if pt.is_string(arrow) or pt.is_binary(arrow):
        return pa.array([b""]).cast(arrow)
    if pt.is_date32(arrow) or pt.is_time32(arrow):
        return pa.array([0], pa.int32()).cast(arrow)
    return pa.array([0], pa.int64()).cast(arrow)
