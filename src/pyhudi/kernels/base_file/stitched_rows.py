"""The rows of a skeleton: its meta columns joined with the data columns of its source file, row by row.

Rules: RFC-12, `HoodieBootstrapRecordIterator`; docs/format/bootstrap.md#reading. Row n of the skeleton belongs to row n of the source,
whose row groups may be others. A query that needs the columns of one of both files reads that file alone, with its filter and statistics.
Partition columns that the source has in its folder names only (`city=oslo`) are values of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.cache import LruCache
from pyhudi.errors import CorruptTableError
from pyhudi.fsview.bootstrap_index import source_of
from pyhudi.kernels.arrays.row_filter import apply_filter
from pyhudi.kernels.base_file.iter_rows import RowQuery, StoredFile, iter_rows
from pyhudi.kernels.base_file.parquet_input import open_parquet
from pyhudi.schema.meta_columns import is_meta_column
from pyhudi.spec.files.bootstrap_source import BootstrapSource, is_skeleton
from pyhudi.spec.files.file_group import BaseFile
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.spec.files.partition_path import DEFAULT_PARTITION, unescape_value
from pyhudi.storage.open_storage import open_source_folder

if TYPE_CHECKING:
    from pyhudi.storage.storage_protocol import Storage


_COLUMNS: LruCache[tuple[str, int, int], frozenset[str]] = LruCache(1 << 12)


@contextmanager
def open_data(storage: Storage, path: str) -> Iterator[pq.ParquetFile]:
    """Open the file that holds the data columns of the base file at a path, for as long as the block lasts.

    Raises:
        CorruptTableError: a file is damaged or missing, or the source changed since the bootstrap.
    """
    folder, _, name = path.rpartition("/")
    parsed = parse_base_file_name(name)
    if parsed is None or not is_skeleton(parsed.instant):
        with open_parquet(storage, path) as parquet:
            yield parquet
        return
    skeleton = BaseFile(folder, parsed, size=0)
    file = source_file(storage, skeleton, source_of(storage, skeleton))
    with open_parquet(file.storage, file.path) as parquet:
        yield parquet


def source_file(storage: Storage, skeleton: BaseFile, source: BootstrapSource) -> StoredFile:
    """Return the source file of a skeleton, opened for nothing yet, after comparing it with the bootstrap index.

    Raises:
        CorruptTableError: it is missing, or has another size or time than when the table was bootstrapped.
    """
    folder = open_source_folder(storage, source.folder)
    status = folder.stat(source.name)
    what = f"Source file {source.uri}, which holds the data of file '{skeleton.path}' of the bootstrapped table at {storage.uri},"
    if status is None or status.is_dir:
        raise CorruptTableError(f"{what} is missing: put it back as it was when the table was bootstrapped.")
    if status.size != source.size:
        raise CorruptTableError(
            f"{what} has changed since the table was bootstrapped: it has {status.size} bytes instead of {source.size}. Its rows may be"
            " others than those that the table has the keys of: put the file of then back."
        )
    if source.was_modified(status.modified_ms):
        raise CorruptTableError(
            f"{what} has changed since the table was bootstrapped: it was modified at {status.modified_ms} instead of {source.modified_ms}"
            " (milliseconds since the epoch). Its rows may be others than those that the table has the keys of: put the file of then back;"
            " where it is a copy with the same bytes, give it the time of then."
        )
    return StoredFile(folder, source.name, source.size, skeleton.name.instant)


def folder_values(file: StoredFile, source: BootstrapSource, schema: pa.Schema) -> Mapping[str, pa.Scalar]:
    """Return the values of columns that the folders of a source file name, and the file does not hold."""
    named = named_values(source.partition_path)
    if not named or not named.keys() & set(schema.names):
        return {}
    held = _column_names(file, source)
    return {
        name: pa.scalar(text, pa.string()).cast(schema.field(name).type)
        for name, text in named.items()
        if name in schema.names and name not in held
    }


def named_values(partition_path: str) -> dict[str, str | None]:
    """Return the values of columns in folder names in the style of Hive.

    Example:
        >>> named_values("country=pe/day=2026%2F01/raw")
        {'country': 'pe', 'day': '2026/01'}
    """
    pairs = (segment.partition("=") for segment in partition_path.split("/"))
    return {name: None if text == DEFAULT_PARTITION else unescape_value(text) for name, separator, text in pairs if separator}


def _column_names(file: StoredFile, source: BootstrapSource) -> frozenset[str]:
    key = (source.uri, source.size, source.modified_ms)
    known = _COLUMNS.get(key)
    if known is None:
        with open_parquet(file.storage, file.path) as parquet:
            known = frozenset(parquet.schema_arrow.names)
        _COLUMNS.put(key, known)
    return known


def iter_stitched(storage: Storage, skeleton: BaseFile, query: RowQuery) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a skeleton that a query asks for.

    Raises:
        CorruptTableError: a file is damaged or missing, the source changed since the bootstrap, or both have different numbers of rows.
    """
    meta = StoredFile(storage, skeleton.path, skeleton.size, skeleton.name.instant)
    data_names = [name for name in query.needed.names if not is_meta_column(name)]
    if not data_names:
        yield from iter_rows(meta, query)
        return
    source = source_of(storage, skeleton)
    data = source_file(storage, skeleton, source)
    values = {name: value for name, value in folder_values(data, source, query.schema).items() if name not in query.constants}
    query = replace(query, constants={**query.constants, **values}) if values else query
    if len(data_names) == len(query.needed):
        yield from iter_rows(data, query)
        return
    meta_names = [name for name in query.needed.names if is_meta_column(name)]
    left, right = iter_rows(meta, _columns_of(query, meta_names)), iter_rows(data, _columns_of(query, data_names))
    for one, other in _in_step(left, right, f"file '{skeleton.path}' of the table at {storage.uri}", source):
        columns = {name: column for batch in (one, other) for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        rows = pa.RecordBatch.from_arrays([columns[name] for name in query.needed.names], schema=query.needed)
        if query.filter is None:
            yield rows
        else:
            yield from apply_filter(pa.Table.from_batches([rows]), query.filter).select(query.projection.names).to_batches()


def _columns_of(query: RowQuery, names: list[str]) -> RowQuery:
    """Return the query for all rows and some of the columns."""
    columns = pa.schema([query.needed.field(name) for name in names])
    dictionaries = [name for name in query.dictionaries if name in names]
    constants = {name: value for name, value in query.constants.items() if name in names}
    return replace(query, projection=columns, needed=columns, filter=None, dictionaries=dictionaries, constants=constants)


def _in_step(
    left: Iterator[pa.RecordBatch], right: Iterator[pa.RecordBatch], what: str, source: BootstrapSource
) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
    """Yield the same rows of two files, as many at once as both batches have."""
    one, other = next(left, None), next(right, None)
    while one is not None and other is not None:
        count = min(one.num_rows, other.num_rows)
        if count:
            yield one.slice(0, count), other.slice(0, count)
        one = one.slice(count) if count < one.num_rows else next(left, None)
        other = other.slice(count) if count < other.num_rows else next(right, None)
    if one is not None or other is not None:
        raise CorruptTableError(f"{what} has another number of rows than its source file {source.uri}")
