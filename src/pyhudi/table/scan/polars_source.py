"""A scan as a polars LazyFrame: polars asks for columns, rows and a predicate when the frame is collected."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.table.scan.batch_size import batches_of
from pyhudi.table.scan.optional_package import load_package
from pyhudi.table.scan.polars_predicate import arrow_condition

if TYPE_CHECKING:
    import polars as pl


#: Gives some columns of the rows that a condition is true for.
Read: TypeAlias = Callable[[Sequence[str], pc.Expression | None], pa.RecordBatchReader]


def lazy_frame(schema: pa.Schema, read: Read) -> pl.LazyFrame:
    """Return rows as a LazyFrame.

    Args:
        schema: the columns of the rows.
        read: reads them.

    Raises:
        UnsupportedError: polars is not installed.
    """
    polars = load_package("polars", "scan().to_polars()")

    def read_for_polars(columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None) -> Iterator[pl.DataFrame]:
        """Yield the rows that polars asks for: `n_rows` count before the predicate."""
        names = _needed(schema, columns, predicate)
        condition = None if predicate is None or n_rows is not None else arrow_condition(predicate, schema)
        batches: Iterator[Any] = iter(read(names, condition))
        if batch_size is not None:
            batches = batches_of(batches, batch_size)
        for batch in _first(batches, n_rows):
            frame = polars.from_arrow(batch)
            frame = frame if predicate is None else frame.filter(predicate)
            yield frame if columns is None else frame.select(columns)

    polars_schema = polars.from_arrow(schema.empty_table()).schema
    plugins = importlib.import_module("polars.io.plugins")
    result: pl.LazyFrame = plugins.register_io_source(read_for_polars, schema=polars_schema, is_pure=True)
    return result


def _needed(schema: pa.Schema, columns: list[str] | None, predicate: Any) -> list[str]:
    """Return the columns to read, those of the predicate too; one at least, which carries the number of rows."""
    requested = set(schema.names if columns is None else columns)
    if predicate is not None:
        requested |= set(predicate.meta.root_names())
    return [name for name in schema.names if name in requested] or schema.names[:1]


def _first(batches: Iterator[Any], n_rows: int | None) -> Iterator[Any]:
    if n_rows is None:
        yield from batches
        return
    for batch in batches:
        yield batch.slice(0, n_rows)
        n_rows -= batch.num_rows
        if n_rows <= 0:
            return
