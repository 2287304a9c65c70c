"""Values of Python and pandas in the types of a table's columns, as far as they are the same values.

Python has one type for integers and one for reals, and pandas keeps integers beside a missing value as floats: such types say nothing
about the column, and must not widen it for good.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt


def fitted_numbers(array: pa.Array | pa.ChunkedArray, column_type: pa.DataType) -> pa.Array | pa.ChunkedArray:
    """Return numbers, also in structs and lists, in the type of their column; those that do not fit as they are.

    A caller decides whether the column is widened for these.

    Example:
        >>> fitted_numbers(pa.array([1.0, None]), pa.int32()).type, fitted_numbers(pa.array([1.5]), pa.int32()).type
        (DataType(int32), DataType(double))
    """
    if array.type.equals(column_type) or not _are_numbers_alike(array.type, column_type):
        return array
    try:
        return array.cast(column_type)
    except pa.ArrowInvalid:
        return array


def _are_numbers_alike(given: pa.DataType, column_type: pa.DataType) -> bool:
    """Tell whether two types differ in their numbers at most: in their width, or by reals that may be integers."""
    if pt.is_struct(given) and pt.is_struct(column_type):
        pairs = [(field.type, column_type.field(field.name).type) for field in given if column_type.get_field_index(field.name) >= 0]
        return len(pairs) == given.num_fields == column_type.num_fields and all(_are_numbers_alike(*pair) for pair in pairs)
    if pt.is_list(given) and pt.is_list(column_type):
        return _are_numbers_alike(given.value_type, column_type.value_type)
    if pt.is_floating(given):
        return bool(pt.is_floating(column_type) or pt.is_signed_integer(column_type))
    return bool(given.equals(column_type) or (pt.is_signed_integer(given) and pt.is_signed_integer(column_type)))


def fitted_reals(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows of pandas in which reals of columns of integers are integers, where all their values are."""
    types = {field.name.lower(): field.type for field in schema}
    for index, field in enumerate(table.schema):
        column_type = types.get(field.name.lower())
        if pt.is_floating(field.type) and column_type is not None and pt.is_signed_integer(column_type):
            table = table.set_column(index, field.name, fitted_numbers(table.column(index), column_type))
    return table
