"""Statistics and definitions that were lost or left behind are recreated, and no filter misses a row meanwhile."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.table.alter_table_schema import alter_schema
from pyhudi.write.input.alter_columns import RenameColumn, RetypeColumn
from tests.unit.table.tables import make_table, ride, rows_of

COLUMNS = "hoodie.metadata.index.column.stats.column.list"
MOST = "hoodie.metadata.index.column.stats.max.columns.to.index"


@pytest.mark.parametrize("narrowing", [{COLUMNS: "b"}, {MOST: "1"}], ids=["list", "count"])
def test_partition_that_was_written_while_a_column_had_no_statistics_is_found(narrowing: dict[str, str]) -> None:
    schema = pa.schema({"id": pa.int64(), "city": pa.string(), "a": pa.int64(), "b": pa.int64()})
    table = HudiTable.create(f"memory://narrowed-{min(narrowing)}", schema, name="t", keys=["id"], partition_by=["city"])
    table.upsert([{"id": n, "city": "oslo", "a": n, "b": n} for n in (11, 16, 22)])
    table.upsert([{"id": 2, "city": "oslo", "a": 2, "b": 2}], options=narrowing)
    table.upsert([{"id": n, "city": f"city{n}", "a": 100, "b": 100} for n in range(100, 106)])
    for column in ("id", "a", "b"):
        assert table.to_arrow(filter=f"{column} <= 6")["id"].to_pylist() == [2]
    assert table.inspect.health().num_rows == 0
    assert table.delete(where="a = 2").deleted == 1


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_renamed_column_with_a_nan_is_written_on(tmp_path: Path, table_type: str) -> None:
    table = HudiTable.create(tmp_path / "t", pa.schema({"id": pa.int64(), "a": pa.float64()}), name="t", keys=["id"], table_type=table_type)
    table.upsert([{"id": 1, "a": 1.0}, {"id": 2, "a": math.nan}])
    alter_schema(table, [RenameColumn(("a",), "b")], {"hoodie.schema.on.read.enable": "true"})
    table.upsert([{"id": 3, "b": 2.0}])
    assert table.to_arrow(filter="b = 1")["id"].to_pylist() == [1]
    assert table.inspect.health().num_rows == 0


@pytest.mark.parametrize("content", [b"", b"[1]", None], ids=["empty", "another", "gone"])
@pytest.mark.parametrize("mended_by", ["write", "rebuild"])
def test_metadata_table_without_readable_definitions_is_built_again(
    caplog: pytest.LogCaptureFixture, content: bytes | None, mended_by: str
) -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo", 7)])
    table.services.index("by_value", "value")
    path = ".hoodie/.index_defs/index.json"
    if content is None:
        table.storage.delete(path)
    else:
        table.storage.replace(path, content)
    assert table.inspect.health()["check"].to_pylist() == ["metadata table is whole"]
    if mended_by == "write":
        table.upsert([ride(2, "oslo", 8)])
    else:
        table.services.index(rebuild=True)
    assert "make these again: record_index, secondary_index_by_value" in caplog.text
    assert table.inspect.health().num_rows == 0
    table.services.index("by_value", "value")
    assert rows_of(table)[0] == ride(1, "oslo", 7)
    assert table.inspect.health().num_rows == 0


@pytest.mark.parametrize("partition_by", [[], ["city"]], ids=["whole", "partitioned"])
def test_health_says_nothing_of_a_decimal_that_became_wider(tmp_path: Path, partition_by: list[str]) -> None:
    schema = pa.schema({"id": pa.int64(), "city": pa.string(), "price": pa.decimal128(10, 2)})
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"], partition_by=partition_by)
    for number in range(2):
        table.upsert([{"id": number, "city": f"c{number}", "price": Decimal("1.10")}])
    alter_schema(table, [RetypeColumn(("price",), pa.decimal128(12, 2))], {"hoodie.schema.on.read.enable": "true"})
    table.upsert([{"id": 2, "city": "c1", "price": Decimal("2.20")}])
    assert table.inspect.health().num_rows == 0
    assert table.to_arrow(filter="price < 2")["id"].to_pylist() == [0, 1]


def test_a_build_after_the_first_ones_were_archived_has_a_time_of_its_own() -> None:
    options = {
        "hoodie.clean.automatic": "false",
        "hoodie.keep.min.commits": "1",
        "hoodie.keep.max.commits": "2",
        "hoodie.metadata.compact.max.delta.commits": "2",
    }
    options["hoodie.write.set.null.for.missing.columns"] = "true"
    schema = pa.schema({"id": pa.int64(), "city": pa.string()})
    table = HudiTable.create("memory://archived-builds", schema, name="t", keys=["id"], partition_by=["city"])
    table.upsert([{"id": 1, "city": "oslo"}], options=options)
    for name in ("c", "d", "e"):
        schema = schema.append(pa.field(name, pa.int64()))
        table.upsert(pa.Table.from_pylist([{"id": 2, "city": "oslo", name: 1}], schema=schema), options=options)
        for number in range(6):
            table.upsert([{"id": number, "city": "oslo"}], options=options)
    assert table.to_arrow(filter="e = 1").num_rows == 0
    assert table.inspect.health().num_rows == 0
