"""Reads base files as rows of the table's present schema, also those of a bootstrapped table.

Rules: Hudi's schema evolution on read (a column that the file does not have is null, narrower types are widened) and
the physical forms that its writers have left over the years: lists of two levels, decimals as integers or bytes,
timestamps in millis or micros, text where the table has numbers and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.base_file.file_rows import repeat_constants
from pyhudi.kernels.base_file.iter_rows import NO_CONSTANTS, Constants, StoredFile, iter_rows, project_columns, row_query
from pyhudi.kernels.base_file.parquet_input import open_parquet
from pyhudi.kernels.base_file.stitched_rows import iter_stitched
from pyhudi.spec.files.bootstrap_source import is_skeleton

if TYPE_CHECKING:
    from pyhudi.spec.files.file_group import BaseFile
    from pyhudi.storage.storage_protocol import Storage


def read_base_file(
    storage: Storage,
    file: BaseFile,
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's own name for it
    *,
    meta_columns: bool = False,
) -> pa.Table:
    """Return rows of one base file as a table.

    Args:
        storage: the table's storage.
        file: the base file.
        schema: the data columns of the table, with the history of its schema if it has one.
        columns: names of the columns to return, in this order; all when None.
        filter: expression over columns of the table; row groups that cannot match are not read.
        meta_columns: put the five meta columns first (when `columns` is None).

    Raises:
        CorruptTableError: the file is damaged, missing, or has a column of a type that does not fit the table's.
    """
    batches = list(iter_base_file(storage, file, schema, columns, filter, meta_columns=meta_columns))
    return pa.Table.from_batches(batches, schema=project_columns(schema, columns, meta_columns=meta_columns))


def iter_base_file(
    storage: Storage,
    file: BaseFile,
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's own name for it
    *,
    meta_columns: bool = False,
    dictionaries: Sequence[str] = (),
    without: Indices | None = None,
    constants: Constants = NO_CONSTANTS,
    verify: bool = True,
    only: Indices | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one base file in batches of bounded size; arguments and errors as in `read_base_file`.

    The text columns named in `dictionaries` come as dictionaries, which costs least for those of few values. `without` are the
    places in the file, ascending, of rows that are left out. `constants` are values that all rows have, whatever the file says.
    `verify` holds the pages against the CRCs that they carry. `only` are the places, ascending, of the rows that alone can pass the filter.
    """
    query = row_query(
        schema,
        columns,
        filter,
        meta_columns=meta_columns,
        dictionaries=dictionaries,
        without=without,
        constants=constants,
        verify=verify,
        only=only,
    )
    if is_skeleton(file.name.instant):
        yield from iter_stitched(storage, file, query)
    else:
        yield from iter_rows(StoredFile(storage, file.path, file.size, file.name.instant), query)


def with_constants(rows: pa.Table, constants: Constants) -> pa.Table:
    """Return rows that have these values, as far as they have the columns."""
    for name in constants.keys() & set(rows.schema.names):
        index = rows.schema.get_field_index(name)
        field = rows.schema.field(index)
        rows = rows.set_column(index, field, repeat_constants(constants[name], field.type, rows.num_rows))
    return rows


def row_count(storage: Storage, file: BaseFile) -> int:
    """Return the number of rows, from the footer alone."""
    with open_parquet(storage, file.path) as parquet:
        return int(parquet.metadata.num_rows)
