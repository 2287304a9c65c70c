"""Folders of plain Parquet files, and tables that were bootstrapped from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pyhudi import HudiTable

CITIES = ("lima", "oslo", "rome")
SELECTOR = "hoodie.bootstrap.mode.selector"
HIVE_STYLE = {"hoodie.datasource.write.hive_style_partitioning": "true"}
NO_STATISTICS = {"hoodie.metadata.index.column.stats.enable": "false"}


def rides(numbers: Sequence[int], city: str | None, amount: float | None = None, ts: int = 0) -> pa.Table:
    """Rows with keys `k1`, `k2`...; without a city, the column is left out."""
    columns = {
        "id": [f"k{number}" for number in numbers],
        "amount": pa.array([float(number) if amount is None else amount for number in numbers]),
        "ts": pa.array([ts] * len(numbers), pa.int64()),
    }
    return pa.table(columns if city is None else {**columns, "city": [city] * len(numbers)})


def write_source(folder: Path, *, hive_style: bool = False, city_in_files: bool = True) -> Path:
    """Write two files of twenty rows in all for each city; the row groups of the first one are small."""
    for position, city in enumerate(CITIES):
        partition = folder / (f"city={city}" if hive_style else city)
        partition.mkdir(parents=True)
        first = position * 20
        written = city if city_in_files else None
        pq.write_table(rides(range(first, first + 12), written), partition / "a.parquet", row_group_size=5)
        pq.write_table(rides(range(first + 12, first + 20), written), partition / "b.parquet")
    return folder


def bootstrap(path: Path, source: Path, options: Mapping[str, str] | None = None, table_type: str = "COPY_ON_WRITE") -> HudiTable:
    """Bootstrap a table of rides by city."""
    return HudiTable.bootstrap(
        path, source, name="rides", keys=["id"], partition_by=["city"], order_by=["ts"], table_type=table_type, options=options
    )


def amounts(table: HudiTable) -> dict[str, float]:
    """The amounts of a table by key, which is read from the data and compared with the record key."""
    rows = table.to_arrow(meta_columns=True).to_pylist()
    assert [row["_hoodie_record_key"] for row in rows] == [row["id"] for row in rows]
    assert [row["_hoodie_partition_path"].removeprefix("city=") for row in rows] == [row["city"] for row in rows]
    assert len({row["id"] for row in rows}) == len(rows) == table.count()
    return {row["id"]: row["amount"] for row in rows}


def all_amounts() -> dict[str, float]:
    """What a source of `write_source` holds."""
    return {f"k{number}": float(number) for number in range(60)}
