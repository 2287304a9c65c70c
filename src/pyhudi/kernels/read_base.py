"""Reads base files as rows of the table's present schema.

Rules: Hudi's schema evolution on read (a column that the file does not have is null, narrower types are widened) and
the physical forms that its writers have left over the years: lists of two levels, decimals as integers or bytes,
timestamps in millis or micros, text where the table has numbers and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.types as pt

from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.kernels.parquet_input import corrupt_as_error, open_parquet
from pyhudi.schema.meta_columns import META_FIELDS, without_meta_columns
from pyhudi.schema.storable import storable_type
from pyhudi.schema.widen import widened

if TYPE_CHECKING:
    from pyhudi.spec.file_group import BaseFile
    from pyhudi.storage.protocol import Storage

_BATCH_BYTES = 32 << 20
_MAX_BATCH_ROWS = 1 << 20
_BATCHES_AHEAD = 2


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
        schema: the data columns of the table.
        columns: names of the columns to return, in this order; all when None.
        filter: expression over columns of the table; row groups that cannot match are not read.
        meta_columns: put the five meta columns first (when `columns` is None).

    Raises:
        CorruptTableError: the file is damaged, missing, or has a column of a type that does not fit the table's.
    """
    batches = list(iter_base_file(storage, file, schema, columns, filter, meta_columns=meta_columns))
    return pa.Table.from_batches(batches, schema=_projected(schema, columns, meta_columns=meta_columns))


def iter_base_file(
    storage: Storage,
    file: BaseFile,
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,  # noqa: A002 - pyarrow's own name for it
    *,
    meta_columns: bool = False,
    dictionaries: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one base file in batches of bounded size; arguments and errors as in `read_base_file`.

    The text columns named in `dictionaries` come as dictionaries, which costs least for those of few values.
    """
    wanted = _projected(schema, columns, meta_columns=meta_columns)
    table_schema = pa.schema([*META_FIELDS, *without_meta_columns(schema)])
    options = ds.ParquetReadOptions(dictionary_columns=list(dictionaries), coerce_int96_timestamp_unit="us")
    with corrupt_as_error(storage, file.path), storage.open_input(file.path) as source:
        fragment = ds.ParquetFileFormat(read_options=options).make_fragment(source)
        physical = fragment.physical_schema
        _check_types(storage, file, physical, table_schema)
        scanner = fragment.scanner(
            schema=_with_dictionaries(table_schema, physical, dictionaries),
            columns=wanted.names,
            filter=filter,
            batch_size=_batch_rows(fragment),
            batch_readahead=_BATCHES_AHEAD,
        )
        for batch in scanner.to_batches():
            if batch.num_rows:
                yield batch


def row_count(storage: Storage, file: BaseFile) -> int:
    """Return the number of rows, from the footer alone."""
    with open_parquet(storage, file.path) as parquet:
        return int(parquet.metadata.num_rows)


def _projected(schema: pa.Schema, columns: Sequence[str] | None, *, meta_columns: bool) -> pa.Schema:
    fields = [*META_FIELDS, *without_meta_columns(schema)]
    if columns is None:
        return pa.schema(fields if meta_columns else fields[len(META_FIELDS) :])
    by_name = {field.name: field for field in fields}
    missing = [name for name in columns if name not in by_name]
    if missing:
        raise SchemaError(f"Column '{missing[0]}' is not in the table; its columns are {', '.join(by_name)}.")
    return pa.schema([by_name[name] for name in columns])


def _check_types(storage: Storage, file: BaseFile, physical: pa.Schema, table: pa.Schema) -> None:
    known = set(physical.names)
    for field in table:
        if field.name not in known:
            continue
        stored = physical.field(field.name).type
        if not _readable(field.type, stored, field.name):
            raise CorruptTableError(
                f"Base file '{file.path}' of the table at {storage.uri} has column '{field.name}' as {stored}, which "
                f"cannot be read as the table's {field.type}."
            )


def _readable(table: pa.DataType, stored: pa.DataType, name: str) -> bool:
    if pt.is_dictionary(stored):
        stored = stored.value_type
    if table == stored or pt.is_null(stored):
        return True
    if pt.is_string(table) or pt.is_string(stored):
        other = stored if pt.is_string(table) else table
        return bool(pt.is_primitive(other) or pt.is_binary(other) or pt.is_decimal(other))
    try:
        return bool(widened(table, storable_type(stored, name), name) == table)
    except SchemaError:
        return False


def _with_dictionaries(table: pa.Schema, physical: pa.Schema, dictionaries: Sequence[str]) -> pa.Schema:
    """The table's schema, with dictionaries where they are asked for and the file can give them."""
    for name in dictionaries:
        if name in physical.names and pt.is_dictionary(physical.field(name).type):
            place = table.get_field_index(name)
            table = table.set(place, table.field(place).with_type(pa.dictionary(pa.int32(), pa.string())))
    return table


def _batch_rows(fragment: ds.ParquetFileFragment) -> int:
    """Rows of which one batch holds about `_BATCH_BYTES`, by what the row groups say of themselves."""
    rows = sum(group.num_rows for group in fragment.row_groups)
    size = sum(group.total_byte_size for group in fragment.row_groups)
    if not rows:
        return 1
    return max(1, min(_MAX_BATCH_ROWS, int(_BATCH_BYTES * rows / max(1, size))))
