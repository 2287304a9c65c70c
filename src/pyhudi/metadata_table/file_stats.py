"""Column statistics of base files, from their Parquet footers; and of partitions, from those of their files.

Rules: `ParquetUtils.readColumnStatsFromMetadata`, `HoodieTableMetadataUtil`; format notes (metadata table) 3. A column
whose bounds the footer does not tell gets no record: a reader then keeps the file, whatever it looks for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow.parquet as pq

from pyhudi.kernels.parquet_input import open_parquet
from pyhudi.metadata_table.keys import partition_name
from pyhudi.metadata_table.record import ColumnStats, RecordType, ValueType
from pyhudi.metadata_table.widest_bounds import widest_bounds
from pyhudi.storage.protocol import Storage

#: The type of each column's bounds, and what is said of it.
BoundTypes: TypeAlias = Mapping[str, tuple[ValueType, str | None]]

_PHYSICAL = {
    ValueType.BOOLEAN: ("BOOLEAN",),
    ValueType.INT: ("INT32",),
    ValueType.LONG: ("INT32", "INT64"),
    ValueType.FLOAT: ("FLOAT",),
    ValueType.DOUBLE: ("FLOAT", "DOUBLE", "INT32"),
    ValueType.STRING: ("BYTE_ARRAY",),
    ValueType.BYTES: ("BYTE_ARRAY",),
    ValueType.FIXED: ("FIXED_LEN_BYTE_ARRAY",),
    ValueType.DATE: ("INT32",),
    ValueType.DECIMAL: ("INT32", "INT64", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"),
}
_UNITS = {"milliseconds": 1_000, "microseconds": 1_000_000, "nanoseconds": 1_000_000_000}
_TIME_UNITS = {
    ValueType.TIME_MILLIS: "milliseconds",
    ValueType.TIME_MICROS: "microseconds",
    ValueType.TIMESTAMP_MILLIS: "milliseconds",
    ValueType.TIMESTAMP_MICROS: "microseconds",
    ValueType.LOCAL_TIMESTAMP_MILLIS: "milliseconds",
    ValueType.LOCAL_TIMESTAMP_MICROS: "microseconds",
}


def file_stats(storage: Storage, path: str, types: BoundTypes) -> dict[str, ColumnStats] | None:
    """Return the statistics of a base file by column, as far as its footer tells them; None for a file without rows.

    Raises:
        CorruptTableError: the file is no whole Parquet file, or it is not there.
    """
    with open_parquet(storage, path) as file:
        footer = file.metadata
    if not footer.num_rows:
        return None
    name = path.rpartition("/")[2]
    places = {footer.schema.column(place).path: place for place in range(footer.num_columns)}
    found = (_column_stats(footer, places[column], name, column, kind) for column, kind in types.items() if column in places)
    return {stats.column: stats for stats in found if stats is not None}


def partition_stats(partition_path: str, files: Sequence[Mapping[str, ColumnStats]], types: BoundTypes) -> list[ColumnStats]:
    """Return the statistics of a partition from those, by column, of all files with rows in its latest slices.

    A column that some file has no statistics of gets bounds that hold every value; a partition without rows has tombstones, which take
    back what was known before.
    """
    name = partition_name(partition_path)
    result = []
    for column, (kind, info) in types.items():
        parts = [stats[column] for stats in files if column in stats]
        if not files:
            result.append(ColumnStats(RecordType.PARTITION_STATS, name, column, is_deleted=True))
        elif len(parts) < len(files):
            result.append(_unknown(name, column, kind, info))
        else:
            result.append(_united(name, parts))
    return result


def _unknown(name: str, column: str, kind: ValueType, info: str | None) -> ColumnStats:
    """Return statistics that rule nothing out: some values may be null, some not."""
    least, greatest = widest_bounds(kind, info)
    bounds = (kind, least, greatest)
    return ColumnStats(RecordType.PARTITION_STATS, name, column, *bounds, value_count=2, null_count=1, is_tight_bound=False, type_info=info)


def _united(name: str, parts: Sequence[ColumnStats]) -> ColumnStats:
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


def _column_stats(
    footer: pq.FileMetaData, place: int, file_name: str, column: str, kind: tuple[ValueType, str | None]
) -> ColumnStats | None:
    """Return the statistics over all row groups; None when one of them does not tell, or there are none."""
    chunks = [footer.row_group(group).column(place) for group in range(footer.num_row_groups)]
    if not chunks or any(not chunk.is_stats_set or chunk.statistics.null_count is None for chunk in chunks):
        return None
    nulls, values = (sum(counts) for counts in zip(*((chunk.statistics.null_count, chunk.num_values) for chunk in chunks), strict=True))
    with_values = [chunk.statistics for chunk in chunks if chunk.statistics.null_count < chunk.num_values]
    if any(not statistics.has_min_max for statistics in with_values):
        return None
    bounds = [_bound(raw, kind, footer.schema.column(place)) for part in with_values for raw in (part.min_raw, part.max_raw)]
    if any(bound is None for bound in bounds):
        return None
    return ColumnStats(
        RecordType.COLUMN_STATS,
        file_name,
        column,
        kind[0] if bounds else None,
        min(_present(bounds), default=None),
        max(_present(bounds), default=None),
        values,
        nulls,
        sum(chunk.total_compressed_size for chunk in chunks),
        sum(chunk.total_uncompressed_size for chunk in chunks),
        type_info=kind[1] if bounds else None,
    )


def _bound(raw: Any, kind: tuple[ValueType, str | None], column: pq.ColumnSchema) -> object:
    """Return a footer's bound as the table's type has it; None when the file has the column in an incomparable type."""
    value_type, info = kind
    if value_type in _TIME_UNITS:
        return _moment(raw, _TIME_UNITS[value_type], column)
    if column.physical_type not in _PHYSICAL[value_type]:
        return None
    match value_type:
        case ValueType.STRING:
            return _text(raw)
        case ValueType.DECIMAL:
            return _decimal(raw, column, info)
        case ValueType.DOUBLE:
            return float(raw)
    return raw


def _moment(raw: Any, unit: str, column: pq.ColumnSchema) -> int | None:
    found = json.loads(column.logical_type.to_json()).get("timeUnit")
    if found not in _UNITS or not isinstance(raw, int) or _UNITS[found] > _UNITS[unit]:
        return None
    return raw * (_UNITS[unit] // _UNITS[found])


def _text(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _decimal(raw: int | bytes, column: pq.ColumnSchema, info: str | None) -> Decimal | None:
    logical = json.loads(column.logical_type.to_json())
    scale = logical.get("scale", 0)
    if logical.get("Type") not in ("Decimal", "Int") or scale > int((info or "0,0").split(",")[1]):
        return None
    number = raw if isinstance(raw, int) else int.from_bytes(raw, "big", signed=True)
    return Decimal((int(number < 0), tuple(map(int, str(abs(number)))), -scale))


def _present(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]
