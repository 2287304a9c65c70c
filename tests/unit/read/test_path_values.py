"""Rows have the partition values of their path, as in Apache Hudi, also where they were updated in a partition that they do not name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable

SCHEMA = pa.schema({"id": pa.string(), "city": pa.string(), "day": pa.date32(), "v": pa.int64()})
INDEXES = {
    "GLOBAL_SIMPLE": {"hoodie.simple.index.update.partition.path": "false"},
    "RECORD_INDEX": {"hoodie.metadata.record.index.enable": "true"},
}
TYPES = pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])


def row(key: str, city: str, day: int, value: int) -> dict[str, Any]:
    return {"id": key, "city": city, "day": 20_000 + day, "v": value}


def stayed(path: Path, table_type: str, index: str, **options: str) -> HudiTable:
    """Row `a` of partition o is updated by one that names r."""
    table = HudiTable.create(
        path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city", "day"], table_type=table_type, options=options or None
    )
    chosen = {"hoodie.index.type": index, **INDEXES[index]}
    for rows in ([row("a", "o", 1, 1), row("b", "r", 2, 2)], [row("a", "r", 2, 9)]):
        table.upsert(pa.Table.from_pylist(rows, schema=SCHEMA), options=chosen)
    return table


@TYPES
@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("hive", ["true", "false"])
def test_a_row_that_stayed_has_the_values_of_its_partition_and_is_found_by_them(tmp_path, table_type, index, hive) -> None:
    table = stayed(tmp_path, table_type, index, **{"hoodie.datasource.write.hive_style_partitioning": hive})
    everything = sorted((one["id"], one["city"], str(one["day"]), one["v"]) for one in table.to_arrow().to_pylist())
    assert everything == [("a", "o", "2024-10-05", 9), ("b", "r", "2024-10-06", 2)]
    filters = {
        "city = 'o'": ["a"],
        "city = 'r'": ["b"],
        "city <> 'r'": ["a"],
        "day = DATE '2024-10-05' AND v > 5": ["a"],
        "city IN ('o', 'r') AND v = 9": ["a"],
        "city = 'r' OR v = 9": ["a", "b"],
        "id = 'a' AND city = 'r'": [],
        "id = 'a'": ["a"],
    }
    for text, expected in filters.items():
        assert sorted(table.to_arrow(columns=["id"], filter=text)["id"].to_pylist()) == expected, text
        assert table.count(text) == len(expected), text
    assert table.to_arrow(columns=["city"], filter="v = 9").to_pylist() == [{"city": "o"}]
    assert table.inspect.health().num_rows == 0


@TYPES
def test_rows_are_deleted_by_the_values_of_their_partition(tmp_path, table_type) -> None:
    table = stayed(tmp_path, table_type, "GLOBAL_SIMPLE")
    table.delete(where="city = 'r'")
    assert table.to_arrow()["id"].to_pylist() == ["a"]
    table.delete(where="city = 'o' AND v = 9")
    assert table.count() == 0
