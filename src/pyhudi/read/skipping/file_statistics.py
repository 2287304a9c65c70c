"""What the metadata table's statistics say of file slices and partitions, as bounds of the columns that a filter tests.

Rules: `ColumnStatsIndexSupport`, `PartitionStatsIndexSupport`. The rows of a slice with log files are made of values of all
its files, so that its bounds are those of all of them together, and unknown where one of them does not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from pyhudi.fsview.slice_list import FileColumns
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.metadata_table.format import metadata_keys as keys
from pyhudi.metadata_table.format import metadata_partitions as partitions
from pyhudi.metadata_table.read.metadata_table import MetadataTable
from pyhudi.metadata_table.read.raw_cells import StoredCells
from pyhudi.metadata_table.read.typed_bounds import ColumnBounds, FileIndexLookup, read_bounds
from pyhudi.read.skipping.bounds import Bounds, as_numbers
from pyhudi.schema.meta_columns import RECORD_KEY
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.storage.storage_protocol import Storage

Types: TypeAlias = Mapping[str, pa.DataType]

_HASH: Final = 12
#: Of a file: hashes of column and partition, then of the file's name.
_FILE_KEY: Final = 2 * _HASH + 24
#: Records of so few files are looked up by key, those of more are read in one go.
_FEW: Final = 64
#: Files without statistics, such as those without rows, whose footers are read.
_MOST_FOOTERS: Final = 8


def slice_bounds(
    table: MetadataTable, partition: str, types: Types, files: FileColumns, is_known: Callable[[str], bool]
) -> dict[str, Bounds]:
    """Return the bounds of columns (or of an expression) in file slices, by the names that the records have.

    Args:
        table: where the statistics are.
        partition: of the metadata table: `column_stats` or an expression index.
        types: of the values, by the names of the columns.
        files: those of the file slices.
        is_known: tells by a file's instant whether the names in it are those of today.
    """
    indices = _row_indices(files, is_known)
    if indices is None or not all(files.counts):
        return {}
    cells = _by_column(_cells(table, partition, types, files), types)
    bounds_of_files = {
        name: read_bounds(cells[name], _index_lookup(indices), len(files.names), kind, partition) for name, kind in types.items()
    }
    return {name: _of_slices(bounds, files.counts) for name, bounds in bounds_of_files.items()}


def partition_bounds(table: MetadataTable, types: Types, paths: Sequence[str]) -> dict[str, Bounds]:
    """Return the bounds of columns in partitions.

    What they do not show: nulls of files that are older than the column, and the values of files whose footers tell no
    bounds, which Apache Hudi passes over: long strings, and reals with NaN. So strings and reals have none here.
    """
    recorded = {name: kind for name, kind in types.items() if not pt.is_string(kind) and not pt.is_floating(kind)}
    if not recorded:
        return {}
    index = partitions.PARTITION_STATS
    indices = {_hash(path): position for position, path in enumerate(paths)}
    cells = _by_column(table.partition(index).scan_cells([keys.column_stats_prefix(name) for name in recorded]), recorded)
    everywhere = np.ones(len(paths), dtype=bool)
    bounds = {}
    for name, kind in recorded.items():
        read = read_bounds(cells[name], lambda rows, _: [indices.get(row[_HASH:], -1) for row in rows], len(paths), kind, index)
        bounds[name] = Bounds(read.low, read.high, everywhere, everywhere)
    return bounds


def _by_column(cells: Iterable[StoredCells], names: Iterable[str]) -> dict[str, list[StoredCells]]:
    hashed = {_hash(name): name for name in names}
    result: dict[str, list[StoredCells]] = {name: [] for name in hashed.values()}
    for stored in cells:
        columns = [row[:_HASH] for row in stored.part.rows]
        several = set(columns)
        for column in several:
            part = stored.part
            if len(several) > 1:
                part = part.take([index for index, one in enumerate(columns) if one == column])
            result[hashed[column]].append(StoredCells(part, stored.schema))
    return result


def base_rows(storage: Storage, table: MetadataTable, slices: Sequence[FileSlice]) -> int | None:
    """Return how many rows the base files of these slices hold, by the statistics of record keys; None when that is not known.

    Raises:
        CorruptTableError: the statistics, or a base file that they do not tell of, are damaged.
    """
    if partitions.COLUMN_STATS not in table.partitions:
        return None
    files = [file_slice.base for file_slice in slices if file_slice.base is not None]
    columns = FileColumns.of([file] for file in files)
    indices = _row_indices(columns, lambda _: True)
    if indices is None:
        return None
    bounds = read_bounds(
        _cells(table, partitions.COLUMN_STATS, [RECORD_KEY], columns), _index_lookup(indices), len(files), pa.string(), RECORD_KEY
    )
    silent = [files[index] for index in np.flatnonzero(bounds.rows < 0)]
    if len(silent) > _MOST_FOOTERS:
        return None
    return int(bounds.rows[bounds.rows > 0].sum()) + sum(row_count(storage, file) for file in silent)


def _row_indices(files: FileColumns, is_known: Callable[[str], bool]) -> dict[bytes, int] | None:
    """Return the place of each file by the hash of its partition and its name, of those that are known; None when two are the same."""
    hashes = {path: _hash(path) for path in set(files.paths)}
    named = [hashes[path] + name.encode() for path, name in zip(files.paths, files.names, strict=True)]
    indices = dict(zip(named, range(len(named)), strict=True))
    if len(indices) < len(named):
        return None
    unknown = {instant for instant in set(files.instants) if not is_known(instant)}
    return {key: index for key, index in indices.items() if files.instants[index] not in unknown} if unknown else indices


def _hash(name: str) -> bytes:
    """Return the hash of a column's name or of a partition path in keys."""
    return keys.column_stats_prefix(keys.partition_name(name)).encode()


def _index_lookup(row_indices: Mapping[bytes, int]) -> FileIndexLookup:
    def index_of(rows: Sequence[bytes], names: Sequence[bytes]) -> list[int]:
        of_files = zip(rows, names, strict=True)
        return [row_indices.get(row[_HASH : 2 * _HASH] + name, -1) if len(row) == _FILE_KEY else -1 for row, name in of_files]

    return index_of


def _cells(table: MetadataTable, partition: str, columns: Collection[str], files: FileColumns) -> Iterable[StoredCells]:
    stored = table.partition(partition)
    if len(files.names) <= _FEW:
        named = list(zip(files.paths, files.names, strict=True))
        return stored.get_cells(keys.column_stats_key(column, path, name) for column in columns for path, name in named)
    paths = set(files.paths)
    only = next(iter(paths)) if len(paths) == 1 else None
    return stored.scan_cells([keys.column_stats_prefix(column, only) for column in columns])


def _of_slices(bounds: ColumnBounds, sizes: Sequence[int]) -> Bounds:
    """Return the bounds of slices from those of their files, which lie one slice after the other."""
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(sizes, np.int64))])[:-1]
    several = np.flatnonzero(np.array(sizes, np.int64) != 1)
    low, high = bounds.low.take(pa.array(starts)), bounds.high.take(pa.array(starts))
    has_values, has_nulls = bounds.has_values[starts].copy(), bounds.has_nulls[starts].copy()
    if not len(several):
        return Bounds(low, high, has_values, has_nulls)
    # Days and times as numbers: Arrow has some that Python has not.
    kind, low, high = low.type, as_numbers(low), as_numbers(high)
    lows, highs = low.to_pylist(), high.to_pylist()
    for index in several:
        files = slice(int(starts[index]), int(starts[index]) + sizes[int(index)])
        lows[index] = _join_bounds(min, as_numbers(bounds.low[files]), bounds.has_values[files])
        highs[index] = _join_bounds(max, as_numbers(bounds.high[files]), bounds.has_values[files])
        has_values[index], has_nulls[index] = bounds.has_values[files].any(), bounds.has_nulls[files].any()
    return Bounds(pa.array(lows, low.type).cast(kind), pa.array(highs, high.type).cast(kind), has_values, has_nulls)


def _join_bounds(choose: Callable[..., Any], bounds: pa.Array, has_values: Any) -> Any:
    """Return the outermost of the bounds of files with values; None when one of them is not known."""
    values = [value.as_py() for value, counts in zip(bounds, has_values, strict=True) if counts]
    return None if None in values else choose(values, default=None)
