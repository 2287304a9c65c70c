"""From what users hand in to an Arrow table: Arrow itself, pandas, polars, lists of dicts, anything with `__arrow_c_stream__`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from pyhudi.errors import SchemaError, UsageError

_ARROW_ERRORS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)


def to_table(data: object, schema: Callable[[], pa.Schema] | None = None) -> pa.Table:
    """Return the data as an Arrow table; what is Arrow already is not copied.

    Args:
        data: an Arrow table, record batch or reader; a pandas or polars frame; a list of dicts, one a row, in which a
            missing entry is null; or any object with `__arrow_c_stream__`.
        schema: gives the table's columns: plain Python values take their types where they can.

    Raises:
        SchemaError: a column's values have no common type.
        UsageError: the data are of another kind.

    Example:
        >>> to_table([{"a": 1}, {"a": 2, "b": "x"}]).to_pydict()
        {'a': [1, 2], 'b': [None, 'x']}
    """
    try:
        if isinstance(data, pa.Table):
            return data
        if isinstance(data, pa.RecordBatch):
            return pa.Table.from_batches([data])
        if _is_pandas(data):
            return pa.Table.from_pandas(data, preserve_index=False).replace_schema_metadata(None)
        if hasattr(data, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(data).read_all()
        if isinstance(data, Sequence) and not isinstance(data, str | bytes) and all(isinstance(row, Mapping) for row in data):
            return _from_rows(data, schema)
    except (ValueError, TypeError, *_ARROW_ERRORS) as error:
        if isinstance(error, UsageError):
            raise
        raise SchemaError(f"The data cannot be taken as columns: {error}") from error
    raise UsageError(
        f"The data are of type {type(data).__module__}.{type(data).__qualname__}; give an Arrow table, a pandas or polars "
        "frame, a list of dicts, or an object with __arrow_c_stream__. For a Spark DataFrame call pyhudi.enable(spark) first."
    )


def _is_pandas(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas" and type(data).__name__ == "DataFrame"


def _from_rows(rows: Sequence[Mapping[str, object]], schema: Callable[[], pa.Schema] | None) -> pa.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    types = {} if schema is None else {field.name.lower(): field.type for field in schema()}
    return pa.table({name: _column([row.get(name) for row in rows], name, types.get(name.lower())) for name in names})


def _column(values: list[object], name: str, wanted: pa.DataType | None) -> pa.Array:
    if wanted is not None:
        try:
            return pa.array(values, wanted)
        except (TypeError, OverflowError, *_ARROW_ERRORS):
            pass  # the values have a type of their own, which may still fit the table's
    try:
        return pa.array(values)
    except (TypeError, OverflowError, *_ARROW_ERRORS) as error:
        raise SchemaError(f"The values of column '{name}' have no common type: {error}") from error
