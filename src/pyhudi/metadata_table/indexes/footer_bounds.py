"""Bounds of a Parquet footer as values of the type that the table has for the column.

Rules: `ParquetUtils.readColumnStatsFromMetadata`; docs/format/metadata-table.md#metadata-record.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi.metadata_table.format.column_types import BoundType
from pyhudi.metadata_table.format.record import ValueType
from pyhudi.schema.float_columns import as_doubles

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


def footer_bound(raw: Any, kind: BoundType, column: pq.ColumnSchema) -> object:
    """Return a footer's bound as the table's type has it; None when the file has the column in an incomparable type."""
    value_type, info = kind.kind, kind.info
    if value_type in _TIME_UNITS:
        return _to_time_number(raw, _TIME_UNITS[value_type], column)
    if column.physical_type not in _PHYSICAL[value_type]:
        return None
    match value_type:
        case ValueType.STRING:
            return None if '"Decimal"' in column.logical_type.to_json() else _text(raw)
        case ValueType.DECIMAL:
            return _decimal(raw, column, info)
        case ValueType.DOUBLE:
            return as_doubles(pa.array([raw], pa.float32()))[0].as_py() if column.physical_type == "FLOAT" else float(raw)
    return raw


def _to_time_number(raw: Any, unit: str, column: pq.ColumnSchema) -> int | None:
    match = json.loads(column.logical_type.to_json()).get("timeUnit")
    if match not in _UNITS or not isinstance(raw, int) or _UNITS[match] > _UNITS[unit]:
        return None
    return raw * (_UNITS[unit] // _UNITS[match])


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
