"""Reads base files as rows of the table's present schema.

Rules: Hudi's schema evolution on read (a column that the file does not have is null, narrower types are widened) and
the physical forms that its writers have left over the years: lists of two levels, decimals as integers or bytes,
timestamps in millis or micros, text where the table has numbers and the other way round.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyarrow.types as pt

from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.base_file.file_rows import FileRows, late_rows, repeat_constants, scan
from pyhudi.kernels.base_file.page_rows import PageRows
from pyhudi.kernels.base_file.parquet_input import corrupt_as_error, open_parquet
from pyhudi.kernels.base_file.promoted_rows import promoted_type
from pyhudi.kernels.base_file.schema_projection import alignment
from pyhudi.schema.meta_columns import META_FIELDS, without_meta_columns
from pyhudi.schema.storable import storable_type
from pyhudi.schema.widen import widen_type

if TYPE_CHECKING:
    from pyhudi.spec.files.file_group import BaseFile
    from pyhudi.storage.storage_protocol import Storage

#: The columns of a file of up to so many bytes are read in one go, those of larger ones as they are decoded.
_SMALL_BYTES = 8 << 20
#: Values of columns by name.
Constants: TypeAlias = Mapping[str, pa.Scalar]
NO_CONSTANTS: Constants = MappingProxyType({})
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())


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
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one base file in batches of bounded size; arguments and errors as in `read_base_file`.

    The text columns named in `dictionaries` come as dictionaries, which costs least for those of few values. `without` are the
    places in the file, ascending, of rows that are left out. `constants` are values that all rows have, whatever the file says.
    `verify` holds the pages against the CRCs that they carry.
    """
    projection = project_columns(schema, columns, meta_columns=meta_columns)
    for name in dictionaries:
        projection = projection.set(projection.get_field_index(name), pa.field(name, _DICTIONARY))
    needed = projection if filter is None else with_filter_columns(projection, all_fields(schema), filter)
    with corrupt_as_error(storage, file.path), storage.open_input(file.path) as stream:
        source = pa.PythonFile(stream, mode="r")  # one for all readers: a reading at an offset is two steps, which it keeps together
        other = alignment(schema, file.name.instant)
        fragment = None
        if filter is not None and other is None:
            fragment = ds.ParquetFileFormat().make_fragment(source, partition_expression=guarantee(constants))
            if _tests_promoted(fragment.physical_schema, schema, filter):
                fragment = None  # statistics refer to the file's values, the filter of the table's
        parquet = pq.ParquetFile(
            source,
            metadata=None if fragment is None else fragment.metadata,
            read_dictionary=list(dictionaries),
            coerce_int96_timestamp_unit="us",
            pre_buffer=file.size <= _SMALL_BYTES,
            page_checksum_verification=verify,
        )
        if other is None:
            _check_types(storage, file, parquet.schema_arrow, needed)
        groups = list(range(parquet.num_row_groups)) if fragment is None or filter is None else _groups_to_read(fragment, needed, filter)
        rows = FileRows(storage, file, needed, projection, filter, other, constants)
        first = None if filter is None or dictionaries else _columns_of_filter(needed, filter)
        if first is None:
            yield from scan(parquet, groups, rows, without)
            return
        pages = PageRows(source, parquet, f"file '{file.path}' of the table at {storage.uri}", verify=verify)
        for group in groups:
            yield from late_rows(parquet, group, rows, first, pages, without)


def _columns_of_filter(needed: pa.Schema, filter_: pc.Expression) -> pa.Schema | None:
    """Return columns that are enough for a filter, when they are not all that is needed; the expression's text names them."""
    text = str(filter_)
    named = pa.schema([field for field in needed if field.name in text])
    return named if len(named) < len(needed) and _applies(filter_, named.empty_table()) else None


def with_constants(rows: pa.Table, constants: Constants) -> pa.Table:
    """Return rows that have these values, as far as they have the columns."""
    for name in constants.keys() & set(rows.schema.names):
        index = rows.schema.get_field_index(name)
        field = rows.schema.field(index)
        rows = rows.set_column(index, field, repeat_constants(constants[name], field.type, rows.num_rows))
    return rows


def guarantee(constants: Constants) -> pc.Expression:
    """Return what holds for rows that have these values."""
    parts = (pc.field(name) == value if value.is_valid else pc.field(name).is_null() for name, value in constants.items())
    return functools.reduce(operator.and_, parts, pc.scalar(True))


def row_count(storage: Storage, file: BaseFile) -> int:
    """Return the number of rows, from the footer alone."""
    with open_parquet(storage, file.path) as parquet:
        return int(parquet.metadata.num_rows)


def all_fields(schema: pa.Schema) -> pa.Schema:
    """Return the meta columns and the columns of the data."""
    return pa.schema([*META_FIELDS, *without_meta_columns(schema)])


def project_columns(schema: pa.Schema, columns: Sequence[str] | None, *, meta_columns: bool = False) -> pa.Schema:
    """Return the columns that are asked for; see `read_base_file`."""
    fields = all_fields(schema)
    if columns is None:
        return fields if meta_columns else without_meta_columns(schema)
    missing = [name for name in columns if name not in fields.names]
    if missing:
        raise SchemaError(f"Column '{missing[0]}' is not in the table; its columns are {', '.join(fields.names)}.")
    return pa.schema([fields.field(name) for name in columns])


def with_filter_columns(projection: pa.Schema, fields: pa.Schema, filter_: pc.Expression) -> pa.Schema:
    """Add the columns that a filter refers to: those without which it does not apply."""
    if _applies(filter_, projection.empty_table()):
        return projection
    empty = fields.empty_table()
    spoken_of = [name for name in fields.names if name not in projection.names and not _applies(filter_, empty.drop_columns(name))]
    return pa.schema([*projection, *(fields.field(name) for name in spoken_of)])


def _applies(filter_: pc.Expression, table: pa.Table) -> bool:
    try:
        table.filter(filter_)
    except (pa.ArrowInvalid, KeyError):
        return False
    return True


def _groups_to_read(fragment: ds.ParquetFileFragment, needed: pa.Schema, filter_: pc.Expression) -> list[int]:
    """Numbers of the row groups whose statistics do not rule the filter out."""
    try:
        return [group.id for group in fragment.subset(filter_, schema=needed).row_groups]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        # Statistics of the type that the file has cannot be compared with this filter.
        return list(range(fragment.num_row_groups))


def _tests_promoted(physical: pa.Schema, schema: pa.Schema, filter_: pc.Expression) -> bool:
    """Tell whether a filter refers to a column whose values in the file are not those of the table."""
    fields = all_fields(schema)
    other = {field.name for field in fields if field.name in physical.names and _is_promoted(physical.field(field.name).type, field.type)}
    return bool(other) and not other.isdisjoint(with_filter_columns(pa.schema([]), fields, filter_).names)


def _is_promoted(stored: pa.DataType, table: pa.DataType) -> bool:
    if pt.is_integer(stored) and pt.is_integer(table):
        return False  # the same values
    return not promoted_type(stored, table).equals(stored)


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
    if table in (stored, _DICTIONARY) or pt.is_null(stored):
        return True
    if pt.is_string(table) or pt.is_string(stored):
        other = stored if pt.is_string(table) else table
        return bool(pt.is_primitive(other) or pt.is_binary(other) or pt.is_decimal(other))
    try:
        return bool(widen_type(table, promoted_type(storable_type(stored, name), table), name) == table)
    except SchemaError:
        return False
