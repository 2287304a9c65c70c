"""Reads one Parquet file as rows of the table's present schema.

Rules: Hudi's schema evolution on read (a column that the file does not have is null, narrower types are widened) and
the physical forms that its writers have left over the years: lists of two levels, decimals as integers or bytes,
timestamps in millis or micros, text where the table has numbers and the other way round.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyarrow.types as pt

from pyhudi.errors import CorruptTableError, SchemaError
from pyhudi.kernels.arrays.array_types import Indices
from pyhudi.kernels.base_file.file_rows import FileRows, late_rows, scan
from pyhudi.kernels.base_file.page_rows import PageRows
from pyhudi.kernels.base_file.parquet_input import corrupt_as_error
from pyhudi.kernels.base_file.schema_projection import alignment
from pyhudi.schema.meta_columns import COMMIT_TIME, FILE_NAME, META_FIELDS, PARTITION_PATH, without_meta_columns
from pyhudi.schema.promoted_rows import promoted_type
from pyhudi.schema.storable import storable_type
from pyhudi.schema.widen import widen_type

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


#: Values of columns by name.
Constants: TypeAlias = Mapping[str, pa.Scalar]
NO_CONSTANTS: Constants = MappingProxyType({})
DICTIONARY = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, slots=True)
class RowQuery:
    """What is read of a file: `schema` has the data columns of the table, `needed` those of the projection and of the filter.

    The other fields are the arguments of `pyhudi.kernels.base_file.read_base.iter_base_file`.
    """

    schema: pa.Schema
    projection: pa.Schema
    needed: pa.Schema
    filter: pc.Expression | None
    dictionaries: Sequence[str]
    without: Indices | None
    constants: Constants
    verify: bool
    only: Indices | None = None


def row_query(
    schema: pa.Schema,
    columns: Sequence[str] | None,
    filter_: pc.Expression | None,
    *,
    meta_columns: bool,
    dictionaries: Sequence[str],
    without: Indices | None,
    constants: Constants,
    verify: bool,
    only: Indices | None = None,
) -> RowQuery:
    """Return a query; arguments as in `pyhudi.kernels.base_file.read_base.iter_base_file`."""
    projection = project_columns(schema, columns, meta_columns=meta_columns)
    for name in dictionaries:
        projection = projection.set(projection.get_field_index(name), pa.field(name, DICTIONARY))
    needed = projection if filter_ is None else with_filter_columns(projection, all_fields(schema), filter_)
    return RowQuery(schema, projection, needed, filter_, dictionaries, without, constants, verify, only)


def columns_of_filter(needed: pa.Schema, filter_: pc.Expression) -> pa.Schema | None:
    """Return columns that are enough for a filter, when they are not all that is needed; the expression's text names them."""
    text = str(filter_)
    named = pa.schema([field for field in needed if field.name in text])
    return named if len(named) < len(needed) and _applies(filter_, named.empty_table()) else None


def guarantee(constants: Constants) -> pc.Expression:
    """Return what holds for rows that have these values."""
    parts = (pc.field(name) == value if value.is_valid else pc.field(name).is_null() for name, value in constants.items())
    return functools.reduce(operator.and_, parts, pc.scalar(True))


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
    others, text = [name for name in fields.names if name not in projection.names], str(filter_)
    named = [name for name in others if name in text]  # asking each column of a wide table would take longer than reading ten rows
    if not _applies(filter_, pa.schema([*projection, *(fields.field(name) for name in named)]).empty_table()):
        named = others
    empty = fields.empty_table()
    spoken_of = [name for name in named if not _applies(filter_, empty.drop_columns(name))]
    return pa.schema([*projection, *(fields.field(name) for name in spoken_of)])


def _applies(filter_: pc.Expression, table: pa.Table) -> bool:
    try:
        table.filter(filter_)
    except (pa.ArrowInvalid, KeyError):
        return False
    return True


#: Columns of one or a few long strings in a file.
_OF_FEW_VALUES = (COMMIT_TIME, PARTITION_PATH, FILE_NAME)
#: The columns of a file of up to so many bytes are read in one go, those of larger ones as they are decoded.
_SMALL_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A Parquet file of `size` bytes at `path` of a storage, and the instant at whose schema it was written."""

    storage: Storage
    path: str
    size: int
    instant: str


def iter_rows(file: StoredFile, query: RowQuery) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file that a query asks for, in batches of bounded size.

    Raises:
        CorruptTableError: the file is damaged, missing, or has a column of a type that does not fit the table's.
    """
    storage, needed, filter_ = file.storage, query.needed, query.filter
    with corrupt_as_error(storage, file.path), storage.open_input(file.path) as stream:
        source = pa.PythonFile(stream, mode="r")  # one for all readers: a reading at an offset is two steps, which it keeps together
        other = alignment(query.schema, file.instant)
        fragment = None
        if filter_ is not None and other is None:
            fragment = ds.ParquetFileFormat().make_fragment(source, partition_expression=guarantee(query.constants))
            if _tests_promoted(fragment.physical_schema, query.schema, filter_):
                fragment = None  # statistics refer to the file's values, the filter of the table's
        parquet = _open(file, source, query, None if fragment is None else fragment.metadata, query.dictionaries)
        if other is None:
            _check_types(file, parquet.schema_arrow, needed)
        groups = list(range(parquet.num_row_groups)) if fragment is None or filter_ is None else _groups_to_read(fragment, needed, filter_)
        rows = FileRows(storage, file.path, needed, query.projection, filter_, other, query.constants)
        first = None if filter_ is None or query.dictionaries else columns_of_filter(needed, filter_)
        if first is None and query.only is None:
            yield from scan(parquet, groups, rows, query.without)
            return
        pages = PageRows(source, parquet, f"file '{file.path}' of the table at {storage.uri}", verify=query.verify)
        repetitive = [name for name in _OF_FEW_VALUES if name in parquet.schema_arrow.names]
        encoded = _open(file, source, query, parquet.metadata, [*query.dictionaries, *repetitive])
        for group in groups:
            yield from late_rows(parquet, group, rows, first, pages, encoded, query.without, query.only)


def _open(
    file: StoredFile, source: pa.PythonFile, query: RowQuery, metadata: pq.FileMetaData | None, dictionaries: Sequence[str]
) -> pq.ParquetFile:
    return pq.ParquetFile(
        source,
        metadata=metadata,
        read_dictionary=[*dictionaries],
        coerce_int96_timestamp_unit="us",
        pre_buffer=file.size <= _SMALL_BYTES,
        page_checksum_verification=query.verify,
    )


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


def _check_types(file: StoredFile, physical: pa.Schema, table: pa.Schema) -> None:
    known = set(physical.names)
    for field in table:
        if field.name not in known:
            continue
        stored = physical.field(field.name).type
        if not _readable(field.type, stored, field.name):
            raise CorruptTableError(
                f"Base file '{file.path}' of the table at {file.storage.uri} has column '{field.name}' as {stored}, which "
                f"cannot be read as the table's {field.type}."
            )


def _readable(table: pa.DataType, stored: pa.DataType, name: str) -> bool:
    if table in (stored, DICTIONARY) or pt.is_null(stored):
        return True
    if pt.is_large_string(stored) or pt.is_string_view(stored) or pt.is_dictionary(stored):
        stored = storable_type(stored, name)  # a source file that polars, pandas or Arrow wrote: the same values
        if stored == table:
            return True
    if pt.is_string(table) or pt.is_string(stored):
        other = stored if pt.is_string(table) else table
        return bool(pt.is_primitive(other) or pt.is_binary(other) or pt.is_decimal(other))
    if pt.is_floating(stored) and pt.is_decimal(table):  # no writer leaves that, and a cast would round
        return False
    try:
        return bool(widen_type(table, promoted_type(storable_type(stored, name), table), name) == table)
    except SchemaError:
        return False
