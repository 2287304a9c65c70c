"""Rows in the order of some columns: what a bulk insert that sorts does with rows of this process."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import OptionError
from pyhudi.kernels.keys.key_kernels import field_column


def sort_rows(rows: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return rows sorted by columns, the first one first, nulls last; rows that are equal in them keep their order.

    Args:
        rows: the rows.
        columns: names of their columns, with dots for fields of structs.

    Raises:
        OptionError: values of a column have no order.

    Example:
        >>> sort_rows(pa.table({"a": [2, 1, 2], "b": [1, 2, 0]}), ["a", "b"]).to_pydict()
        {'a': [1, 2, 2], 'b': [2, 0, 1]}
    """
    values = pa.table([field_column(rows, name) for name in columns], names=[str(number) for number in range(len(columns))])
    try:
        order = pc.sort_indices(values, sort_keys=[(name, "ascending") for name in values.schema.names])
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise OptionError(f"rows cannot be sorted by {', '.join(columns)}: {error}") from error
    return rows.take(order)
