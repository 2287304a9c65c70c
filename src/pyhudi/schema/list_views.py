"""Columns of Arrow's list views as columns of lists.

Arrow's own cast returns wrong offsets for them: of `[None, [1]]` it makes `[None, []]`, and of others arrays that fail its validation
(pyarrow 26.0). Their values therefore pass through Python, which is slow and correct; few sources have such columns.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt


def without_list_views(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column with each list view in its type, at any depth, replaced by a list; a column without any is returned as it is.

    Example:
        >>> without_list_views(pa.chunked_array([pa.array([None, [1]], pa.list_view(pa.int64()))])).to_pylist()
        [None, [1]]
    """
    plain = _plain_type(column.type)
    if plain == column.type:
        return column
    return pa.chunked_array([pa.array(chunk.to_pylist(), plain) for chunk in column.chunks], plain)


def _plain_type(arrow: pa.DataType) -> pa.DataType:
    """Return the type with a list for each list view."""
    if pt.is_struct(arrow):
        return pa.struct([_plain_field(field) for field in arrow])
    if pt.is_map(arrow):
        return pa.map_(arrow.key_field, _plain_field(arrow.item_field))
    if pt.is_fixed_size_list(arrow):
        return pa.list_(_plain_field(arrow.value_field), arrow.list_size)
    if pt.is_large_list(arrow):
        return pa.large_list(_plain_field(arrow.value_field))
    if pt.is_list(arrow) or pt.is_list_view(arrow) or pt.is_large_list_view(arrow):
        return pa.list_(_plain_field(arrow.value_field))
    return arrow


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(_plain_type(field.type))
