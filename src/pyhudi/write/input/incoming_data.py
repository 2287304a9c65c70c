"""From what users hand in to an Arrow table: Arrow itself, pandas, polars (also lazy), lists of dicts, dicts, paths of Parquet files,
generators and lists of batches, anything with `__arrow_c_stream__`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa

from pyhudi.errors import SchemaError, UsageError
from pyhudi.schema.list_views import without_list_views
from pyhudi.spec.arguments import check_strings
from pyhudi.write.input.data_columns import refuse_incomplete_rows
from pyhudi.write.input.fitted_values import fitted_numbers, fitted_reals
from pyhudi.write.input.parquet_rows import are_paths, read_paths

_ARROW_ERRORS = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)
_NOT_IN_ARROW = ("Object", "Int128", "UInt128")


def to_table(data: object, schema: Callable[[], pa.Schema] | None = None, *, complete: bool = False) -> pa.Table:
    """Return the data as an Arrow table; what is Arrow already is not copied.

    Args:
        data: an Arrow table, record batch or reader; a pandas or polars frame, a LazyFrame, which is collected; a list of dicts, one a row,
            in which a missing entry is null unless rows must be `complete`; a dict of columns, or of the values of one row; the path of a
            Parquet file or of a folder of them, or a list of paths; a list or generator of Arrow batches, of frames or of dicts; a dataset
            of pyarrow; a DataFrame of Spark Connect, whose rows come to this process; or any object with `__arrow_c_stream__`. Generators
            and readers are read to their end.
        schema: gives the table's columns; dicts in a column of maps are taken for maps, numbers of Python take the width of their column,
            and reals of Python and pandas that are integers go to columns of integers as such.
        complete: refuse dicts that lack an entry which others have, and which is a column of `schema`.

    Raises:
        SchemaError: a column's values have no common type, a row lacks a column, or rows have no columns at all.
        UsageError: the data are of another kind, or a path leads to no Parquet file.

    Example:
        >>> to_table([{"a": 1}, {"a": 2, "b": "x"}]).to_pydict()
        {'a': [1, 2], 'b': [None, 'x']}
    """
    try:
        table = _arrow_of(data, schema)
        if table is None:
            items = list(data) if isinstance(data, Iterator) and not hasattr(data, "read") else data
            table = _concatenated(items, schema)
            if table is None:
                table = _rows_of_python(items, schema, complete=complete)
    except (ValueError, TypeError, *_ARROW_ERRORS) as error:
        if isinstance(error, UsageError):
            raise
        raise SchemaError(f"The data cannot be taken as columns: {error}") from error
    if table is None:
        if isinstance(items, list | tuple) and items:
            raise UsageError(
                f"The data are a list of {type(items[0]).__name__}; a list of rows holds dicts, such as [{{'id': 1, 'city': 'oslo'}}]."
            )
        raise UsageError(
            f"The data are of type {type(data).__module__}.{type(data).__qualname__}; give an Arrow table, a pandas or polars frame,"
            " a list of dicts, a generator of batches, the path of a Parquet file, or an object with __arrow_c_stream__."
            " For a Spark DataFrame call pyhudi.enable(spark) first."
        )
    if table.num_rows and not table.num_columns:
        raise _no_columns(table.num_rows)
    return _with_plain_lists(table)


def _with_plain_lists(table: pa.Table) -> pa.Table:
    """Return the rows with lists for list views, which Arrow's functions cannot be trusted with, those of joins and filters included."""
    columns = [without_list_views(column) for column in table.columns]
    is_plain = all(column.type == field.type for column, field in zip(columns, table.schema, strict=True))
    return table if is_plain else pa.Table.from_arrays(columns, table.column_names)


def _no_columns(row_count: int) -> SchemaError:
    """Return the error for rows that would be lost without a word, or be written over others as no rows."""
    return SchemaError(f"The data have no columns, and {row_count} rows: each row needs the columns of the table. Nothing was written.")


def _arrow_of(data: object, schema: Callable[[], pa.Schema] | None) -> pa.Table | None:
    """Return the rows of Arrow data and of data frames; None for other data."""
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if type(data).__module__.startswith("pyspark.sql.connect."):
        return data.toArrow()  # type: ignore[attr-defined]
    if _is_pandas(data):
        return _from_pandas(data, schema)
    if _is_polars(data, "DataFrame"):
        _refuse_polars_types(data)
    if hasattr(data, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(data).read_all()
    if _is_dataset(data):
        return data.to_table()  # type: ignore[attr-defined]
    return _arrow_of(data.collect(), schema) if _is_polars(data, "LazyFrame") else None  # type: ignore[attr-defined]


def _refuse_polars_types(frame: object) -> None:
    """Refuse columns of types that Arrow lacks: of Python objects, polars would hand over the addresses in memory."""
    for name, kind in frame.schema.items():  # type: ignore[attr-defined]
        if str(kind) in _NOT_IN_ARROW:
            raise SchemaError(f"Column '{name}' has the polars type {kind}, which Arrow does not have. Cast it before writing.")


def _from_pandas(data: object, schema: Callable[[], pa.Schema] | None) -> pa.Table:
    table = pa.Table.from_pandas(data, preserve_index=False).replace_schema_metadata(None)
    has_reals = any(pa.types.is_floating(field.type) for field in table.schema)
    return fitted_reals(table, schema()) if has_reals and schema is not None else table


def _concatenated(items: object, schema: Callable[[], pa.Schema] | None) -> pa.Table | None:
    """Return the rows of a list of batches or frames, which must have the same columns; None for other data."""
    if not isinstance(items, list) or not items:
        return None
    tables = []
    for item in items:
        table = _arrow_of(item, schema)
        if table is None:
            return None
        tables.append(table)
    return pa.concat_tables(tables)


def _rows_of_python(data: object, schema: Callable[[], pa.Schema] | None, *, complete: bool) -> pa.Table | None:
    """Return the rows of dicts and of Parquet files; None for other data."""
    if are_paths(data):
        return read_paths(data)
    if isinstance(data, Mapping):
        return _from_dict(data, None if schema is None else schema(), complete=complete)
    if isinstance(data, Sequence) and not isinstance(data, str | bytes) and all(isinstance(row, Mapping) for row in data):
        return _from_rows(data, None if schema is None else schema(), complete=complete)
    return None


def _is_pandas(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas" and type(data).__name__ == "DataFrame"


def _is_dataset(data: object) -> bool:
    return any(part.__module__ == "pyarrow._dataset" and part.__name__ in ("Dataset", "Scanner") for part in type(data).__mro__)


def _is_polars(data: object, name: str) -> bool:
    return type(data).__module__.partition(".")[0] == "polars" and type(data).__name__ == name


def _from_dict(data: Mapping[str, object], schema: pa.Schema | None, *, complete: bool) -> pa.Table:
    """Return a dict of columns, all of one length, as a table; a dict with any other value is one row."""
    if not data or not all(_is_column(values) for values in data.values()):
        return _from_rows([data], schema, complete=complete)
    check_strings(data.keys(), "the data", "dicts whose keys are column names")
    columns = {name: list(values) for name, values in data.items()}  # type: ignore[call-overload]
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise SchemaError(f"The columns of the data have different lengths: {lengths}.")
    return _from_columns(columns, schema)


def _is_column(values: object) -> bool:
    """Tell whether a value of a dict is a column: a list, tuple or range, or an array of numpy, pandas, polars or Arrow."""
    is_array = type(values).__module__.partition(".")[0] in ("numpy", "pandas", "polars", "pyarrow") and hasattr(values, "__len__")
    return isinstance(values, list | tuple | range) or is_array


def _from_rows(rows: Sequence[Mapping[str, object]], schema: pa.Schema | None, *, complete: bool) -> pa.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    if rows and not names:
        raise _no_columns(len(rows))
    check_strings(names.keys(), "a row", "dicts whose keys are column names")
    if complete and schema is not None:
        refuse_incomplete_rows(rows, names, schema)
    return _from_columns({name: [row.get(name) for row in rows] for name in names}, schema)


def _from_columns(columns: Mapping[str, Sequence[object]], schema: pa.Schema | None) -> pa.Table:
    types = {} if schema is None else {field.name.lower(): field.type for field in schema}
    return pa.table({name: _column(values, name, types.get(name.lower())) for name, values in columns.items()})


def _column(values: Sequence[object], name: str, column_type: pa.DataType | None) -> pa.Array:
    """Return the values; Arrow would cut a float that is asked to be an integer, so no type is asked for beforehand."""
    try:
        if column_type is not None and pa.types.is_map(column_type):
            return _map_column(values, name, column_type)
        array = pa.array(values)
        return array if column_type is None else fitted_numbers(array, column_type)
    except (TypeError, OverflowError, *_ARROW_ERRORS) as error:
        raise SchemaError(f"The values of column '{name}' have no common type: {error}") from error


def _map_column(values: Sequence[object], name: str, column_type: pa.MapType) -> pa.Array:
    """Return dicts as a map, which Arrow would take for structs."""
    entries = [None if value is None else list(value.items() if isinstance(value, Mapping) else value) for value in values]  # type: ignore[call-overload]
    pairs = [pair for entry in entries if entry is not None for pair in entry]
    items = _column([item for _, item in pairs], f"{name}.value", column_type.item_type)
    ends = itertools.accumulate((len(entry or ()) for entry in entries), initial=0)
    offsets = [None if missing else end for end, missing in zip(ends, [*(e is None for e in entries), False], strict=True)]
    return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), pa.array([key for key, _ in pairs], pa.string()), items)
