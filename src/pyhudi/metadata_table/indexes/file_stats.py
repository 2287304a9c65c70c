"""Column statistics of base files, from their Parquet footers; and of partitions, from those of their files.

Rules: `ParquetUtils.readColumnStatsFromMetadata`, `HoodieTableMetadataUtil`; docs/format/metadata-table.md#metadata-record. Apache Hudi
takes a column without a record for one of nulls, when it asks about others, too (seen with 1.2.0). So there is one for each column of a
file: where the footer does not tell, reals are read, and all others get bounds that hold every value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as pt

from pyhudi.kernels.base_file.parquet_input import open_parquet
from pyhudi.kernels.base_file.stitched_rows import open_data
from pyhudi.kernels.keys.key_kernels import field_column
from pyhudi.metadata_table.format.column_types import BoundType, StoredColumns, kind_of_record
from pyhudi.metadata_table.format.metadata_keys import partition_name
from pyhudi.metadata_table.format.record import ColumnStats, RecordType, ValueType
from pyhudi.metadata_table.indexes.footer_bounds import footer_bound
from pyhudi.metadata_table.indexes.unbounded_stats import widest_bounds
from pyhudi.schema.float_columns import as_doubles
from pyhudi.schema.meta_columns import is_meta_column
from pyhudi.spec.files.bootstrap_source import is_skeleton
from pyhudi.spec.files.file_names import parse_base_file_name
from pyhudi.storage.storage_protocol import Storage

#: The type of each column's bounds.
BoundTypes: TypeAlias = Mapping[str, BoundType]

_FLOATS: Final = ("FLOAT", "DOUBLE")
#: How bounds of a type become those of the wider one that the column has today.
_WIDER: Final[Mapping[tuple[ValueType, ValueType], Callable[[Any], object]]] = {
    **{(kind, ValueType.LONG): int for kind in (ValueType.INT, ValueType.LONG)},
    **{(kind, real): float for real in (ValueType.FLOAT, ValueType.DOUBLE) for kind in (ValueType.INT, ValueType.LONG)},
    (ValueType.FLOAT, ValueType.FLOAT): float,
    # Through its text, as its values are read.
    (ValueType.FLOAT, ValueType.DOUBLE): lambda bound: as_doubles(pa.array([bound], pa.float32()))[0].as_py(),
    **{(kind, ValueType.DECIMAL): Decimal for kind in (ValueType.INT, ValueType.LONG, ValueType.DECIMAL)},
}


def file_stats(storage: Storage, path: str, types: BoundTypes, stored: StoredColumns | None = None) -> dict[str, ColumnStats] | None:
    """Return the statistics of a base file by column; None for a file without rows.

    `stored` is what the file calls the columns; None for what they are called today, nothing being known of those that it lacks.

    Raises:
        CorruptTableError: the file is no whole Parquet file, or it is not there.
    """
    name = path.rpartition("/")[2]
    parsed = parse_base_file_name(name)
    # A skeleton has the meta columns of its rows, whatever columns of these names its source has.
    meta = {column: kind for column, kind in types.items() if is_meta_column(column)} if parsed and is_skeleton(parsed.instant) else {}
    with open_data(storage, path) as file:
        stats = _stats_of(file, name, {column: kind for column, kind in types.items() if column not in meta}, stored)
    if not meta or stats is None:
        return stats
    with open_parquet(storage, path) as file:
        stats |= _stats_of(file, name, meta, stored) or {}
    return {column: stats[column] for column in types if column in stats}


def _stats_of(file: pq.ParquetFile, name: str, types: BoundTypes, stored: StoredColumns | None) -> dict[str, ColumnStats] | None:
    footer = file.metadata
    if not footer.num_rows:
        return None
    indices = {footer.schema.column(index).path: index for index in range(footer.num_columns)}
    stored = stored or StoredColumns({column: column for column in types})
    index_of_column = {column: indices.get(stored.names.get(column, "")) for column in types}
    return {
        column: _absent(name, column, kind, footer.num_rows, is_null=column in stored.nulls)
        if (index := index_of_column[column]) is None
        else _column_stats(file, index, name, column, kind)
        for column, kind in types.items()
    }


def partition_stats(partition_path: str, files: Sequence[Mapping[str, ColumnStats]], types: BoundTypes) -> list[ColumnStats]:
    """Return the statistics of a partition from those, by column, of all files with rows in its latest slices.

    A column that some file has no statistics of gets bounds that hold every value; a partition without rows has tombstones, which take
    back what was known before.

    A record that is said to be tight takes the place of the one before. All of these do, since they are made of all files. Others are
    united with what was known: of rows that may be deleted, or of the type that the column had then.
    """
    name = partition_name(partition_path)
    result = []
    for column, kind in types.items():
        parts = [part for stats in files if (part := of_type(stats.get(column), kind)) is not None]
        if not files:
            result.append(ColumnStats(RecordType.PARTITION_STATS, name, column, is_deleted=True))
        elif len(parts) < len(files):
            result.append(_unknown_stats(name, column, kind))
        else:
            result.append(_unite_stats(name, parts))
    return result


def _absent(name: str, column: str, kind: BoundType, rows: int, *, is_null: bool) -> ColumnStats:
    """Return the statistics of a column that a file does not have: all nulls, or some values that are unknown here."""
    nothing = ColumnStats(RecordType.COLUMN_STATS, name, column, total_size=0, total_uncompressed_size=0)
    if is_null:
        return _of(replace(nothing, value_count=rows, null_count=rows), kind)
    least, greatest = widest_bounds(kind.kind, kind.info)
    return _of(replace(nothing, minimum=least, maximum=greatest, value_count=max(rows, 2), null_count=1), kind)


def _unknown_stats(name: str, column: str, kind: BoundType) -> ColumnStats:
    """Return statistics that rule nothing out: some values may be null, some not."""
    bounds = widest_bounds(kind.kind, kind.info)
    unknown = ColumnStats(RecordType.PARTITION_STATS, name, column, None, *bounds, value_count=2, null_count=1, is_tight_bound=True)
    return _of(unknown, kind)


def _of(stats: ColumnStats, kind: BoundType) -> ColumnStats:
    if (stats.value_type, stats.type_info, stats.index_version) == (kind.kind, kind.stated_info, kind.index_version):
        return stats
    return replace(stats, value_type=kind.kind, type_info=kind.stated_info, index_version=kind.index_version)


def of_type(stats: ColumnStats | None, kind: BoundType) -> ColumnStats | None:
    """Return statistics, recorded when the column may have had a narrower type, in its type of today; None when they cannot be had."""
    if stats is None or stats.value_type is None:
        return stats
    recorded = kind_of_record(stats, kind.kind)
    if recorded is not kind.kind:
        convert = None if recorded is None else _WIDER.get((recorded, kind.kind))
        if convert is None:
            return None
        least, greatest = (None if bound is None else convert(bound) for bound in (stats.minimum, stats.maximum))
        stats = replace(stats, minimum=least, maximum=greatest)
    return _of(stats, kind)


def _unite_stats(name: str, parts: Sequence[ColumnStats]) -> ColumnStats:
    typed = next((part for part in parts if part.value_type is not None), parts[0])
    return replace(
        typed,
        type=RecordType.PARTITION_STATS,
        file_name=name,
        minimum=min(_present(part.minimum for part in parts), default=None),
        maximum=max(_present(part.maximum for part in parts), default=None),
        value_count=sum(part.value_count or 0 for part in parts),
        null_count=sum(part.null_count or 0 for part in parts),
        total_size=sum(part.total_size or 0 for part in parts),
        total_uncompressed_size=sum(part.total_uncompressed_size or 0 for part in parts),
        is_tight_bound=True,
    )


def _column_stats(file: pq.ParquetFile, index: int, file_name: str, column: str, kind: BoundType) -> ColumnStats:
    """Return the statistics over all row groups."""
    footer = file.metadata
    chunks = [footer.row_group(group).column(index) for group in range(footer.num_row_groups)]
    values = sum(chunk.num_values for chunk in chunks)
    nulls = _nulls(chunks)
    bounds = None if nulls is None else _footer_bounds(chunks, kind, footer.schema.column(index))
    if nulls is None or (bounds is None and footer.schema.column(index).physical_type in _FLOATS):
        stored = _stored_values(file, footer.schema.column(index).path)  # the file may call it otherwise
        nulls, bounds = stored.null_count, _float_bounds(stored, kind[0])
    if bounds is None:
        bounds = widest_bounds(kind.kind, kind.info)
    # A column of nulls has its type as well: Apache Hudi does not unite statistics of a partition whose types differ.
    return ColumnStats(
        RecordType.COLUMN_STATS,
        file_name,
        column,
        kind.kind,
        *(bounds if nulls < values else (None, None)),
        values,
        nulls,
        sum(chunk.total_compressed_size for chunk in chunks),
        sum(chunk.total_uncompressed_size for chunk in chunks),
        type_info=kind.stated_info,
        index_version=kind.index_version,
    )


def _nulls(chunks: Sequence[pq.ColumnChunkMetaData]) -> int | None:
    """Return how many values are null; None when a row group does not tell."""
    if any(not chunk.is_stats_set or chunk.statistics.null_count is None for chunk in chunks):
        return None
    return sum(int(chunk.statistics.null_count) for chunk in chunks)


def _footer_bounds(chunks: Sequence[pq.ColumnChunkMetaData], kind: BoundType, column: pq.ColumnSchema) -> tuple[object, object] | None:
    """Return the bounds that the row groups tell; None when one of them tells none, or not in the column's type of today."""
    with_values = [chunk.statistics for chunk in chunks if chunk.statistics.null_count < chunk.num_values]
    if any(not statistics.has_min_max for statistics in with_values):
        return None
    bounds = [footer_bound(raw, kind, column) for part in with_values for raw in (part.min_raw, part.max_raw)]
    if any(bound is None for bound in bounds):
        return None
    return min(_present(bounds), default=None), max(_present(bounds), default=None)


def _stored_values(file: pq.ParquetFile, column: str) -> pa.ChunkedArray:
    return field_column(file.read(columns=[column]), column)


def _float_bounds(column: pa.ChunkedArray, kind: ValueType) -> tuple[object, object] | None:
    """Return bounds between which all numbers are, with NaN on the side of infinity; None for values of other types."""
    if not pt.is_floating(column.type) or kind not in (ValueType.FLOAT, ValueType.DOUBLE):
        return None
    column = column.drop_null()
    if pt.is_float32(column.type) and kind is ValueType.DOUBLE:
        column = pa.chunked_array([as_doubles(chunk) for chunk in column.chunks], pa.float64())
    column = column.cast(pa.float64())
    numbers = column.filter(pc.invert(pc.is_nan(column)))
    bounds = pc.min_max(numbers).as_py()
    if len(numbers) == len(column):
        return bounds["min"], bounds["max"]
    # Next to NaN, infinity alone would be taken for the only value.
    low = bounds["min"]
    return (-math.inf if low in (None, math.inf) else low), math.inf


def _present(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]
