"""Rows that pass a filter."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.errors import UsageError


def apply_filter(rows: pa.Table, filter_: pc.Expression | None) -> pa.Table:
    """Return the rows for which a filter holds; all when there is none.

    Raises:
        UsageError: it cannot be computed for one of the rows, as a cast of `abc` to a number: no fault of the file's.
    """
    if filter_ is None:
        return rows
    try:
        return rows.filter(filter_)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UsageError(f"The filter cannot be computed for a row of the table: {error}. It is {filter_}.") from error
