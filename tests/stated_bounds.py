"""Bounds of columns as the bytes of a metadata table state them: their wrappers, values and types, by kind of file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, TypeAlias

import fastavro
import pyarrow as pa

from pyhudi.codec.avro.avro_record import parse_avro_schema
from pyhudi.metadata_table.format.metadata_partitions import COLUMN_STATS, PARTITION_STATS
from pyhudi.spec.files.file_names import parse_log_file_name
from tests.interop.rows import every_type
from tests.unit.metadata_table.tables import open_metadata

RECORDED = Path(__file__).parent / "fixtures" / "metadata_tables" / "bounds_of_types.json"
INDEXES = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
}
NOW = {"hoodie.compact.inline.max.delta.commits": "1"}

#: By kind of file (base, log, partition) and column: each pair of bounds with its type, as text.
Bounds: TypeAlias = dict[str, dict[str, list[str]]]


def rows_of_every_type() -> pa.Table:
    """Three rows, and one of nulls in a partition of its own."""
    rows = every_type()
    nulls = rows.slice(2).set_column(0, "id", pa.array(["d"])).set_column(rows.num_columns - 1, "part", pa.array(["z"]))
    return pa.concat_tables([rows, nulls])


def stated_bounds(base: Path) -> Bounds:
    """The bounds of data columns that the metadata table of the table at `base` holds."""
    table = open_metadata(base)[3]
    result: dict[str, dict[str, set[str]]] = {}
    for name in (COLUMN_STATS, PARTITION_STATS):
        for stats in _stats(table, name) if name in table.partitions else ():
            # Where all values are null, Apache Hudi states zeros of some types, and nothing of others.
            if stats["isDeleted"] or stats["columnName"].startswith("_hoodie_") or stats["valueCount"] == stats["nullCount"]:
                continue
            kind = "partition" if name == PARTITION_STATS else "log" if parse_log_file_name(stats["fileName"]) else "base"
            named = stats.get("valueType")
            strings = [
                *(_text(stats[bound]) for bound in ("minValue", "maxValue")),
                str(named and (named["typeOrdinal"], named["additionalInfo"])),
            ]
            result.setdefault(kind, {}).setdefault(stats["columnName"], set()).add(" ".join(strings))
    return {kind: {column: sorted(strings) for column, strings in sorted(columns.items())} for kind, columns in result.items()}


def recorded_bounds(version: int) -> Bounds:
    """What Apache Hudi stated of the same rows."""
    recorded: Bounds = json.loads(RECORDED.read_text())[str(version)]
    return recorded


def _stats(table: Any, name: str) -> list[dict[str, Any]]:
    return [
        fastavro.schemaless_reader(  # type: ignore[call-overload, index, misc]
            io.BytesIO(value), parse_avro_schema(cells.schema), None, return_record_name=True, return_record_name_override=True
        )["ColumnStatsMetadata"]  # type: ignore[index]
        for cells in table.partition(name).scan_cells([""])
        for _, value in cells.part.cells()
    ]


def _text(bound: Any) -> str:
    return "None" if bound is None else f"{bound[0].rpartition('.')[2]}({bound[1]['value']!r})"
