"""Data of wider types widen the columns of a table; old files are read as Apache Hudi reads those that it widened itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pyhudi import HudiTable
from pyhudi.errors import SchemaError, UnsupportedError
from tests.interop.promoted_recipes import ROWS, promoted_rows
from tests.unit.table.test_promoted_tables import strings

OPTIONS = {
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.compact.inline": "false",
    "hoodie.metadata.record.index.enable": "true",
}
#: Type of table, format of its logs, and what Apache Hudi shows after the same writes.
KINDS = {
    "copy on write": ("COPY_ON_WRITE", "parquet"),
    "merge on read, avro": ("MERGE_ON_READ", "avro"),
    "merge on read, parquet": ("MERGE_ON_READ", "parquet"),
}
FixtureTable = Callable[[str], Path]


def widened_table(path: Path, table_type: str, logs: str) -> HudiTable:
    """The writes of `promoted_types_in_logs`, by pyhudi."""
    options = OPTIONS | {"hoodie.logfile.data.block.format": logs}
    narrow = promoted_rows("a", ROWS, 1, wide=False)
    table = HudiTable.create(path, narrow.schema, name="t", keys=["id"], order_by=["ts"], table_type=table_type)
    table.insert(narrow, options)
    table.upsert(promoted_rows("a", ROWS - 3, 2, wide=False), options)
    table.upsert(promoted_rows("a", 2, 3, wide=True), options)
    table.upsert(promoted_rows("b", 2, 3, wide=True), options)
    return HudiTable.open(path)


def of_users(rows: pa.Table) -> list[str]:
    return strings(rows, *(name for name in rows.column_names if name.startswith("_hoodie_")))


@pytest.mark.parametrize("kind", KINDS)
def test_widened_table_is_the_one_of_apache_hudi(kind: str, fixture_table: FixtureTable, tmp_path: Path) -> None:
    path = fixture_table("promoted/merge_on_read_promoted_v9")
    expected = pq.read_table(path.parent / f"{path.name}.snapshot.parquet")
    table = widened_table(tmp_path / "written", *KINDS[kind])
    rows = table.to_arrow()
    assert of_users(rows) == of_users(expected)
    for field in rows.schema:
        if not pa.types.is_nested(field.type):
            for value in list(dict.fromkeys(rows[field.name].drop_null().to_pylist()))[:3]:
                condition = pc.field(field.name) == pa.scalar(value, field.type)
                matching = sorted(rows.filter(condition)["id"].to_pylist())
                assert sorted(table.to_arrow(columns=["id"], filter=condition)["id"].to_pylist()) == matching, (field.name, value)
    assert table.inspect.health().num_rows == 0
    first = min(row["requested"] for row in table.history().to_pylist())
    assert table.to_arrow(as_of=first).schema.field("float_string").type == pa.float32()
    assert of_users(table.changes(since="000")) == of_users(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_services_keep_the_values_of_widened_columns(kind: str, tmp_path: Path) -> None:
    table_type, logs = KINDS[kind]
    table = widened_table(tmp_path / "t", table_type, logs)
    before = of_users(table.to_arrow())
    if table_type == "MERGE_ON_READ":
        assert table.services.compact(options={"hoodie.compact.inline.max.delta.commits": "1"})
        assert of_users(HudiTable.open(tmp_path / "t").to_arrow()) == before
    assert table.services.cluster(options={"hoodie.clustering.plan.strategy.sort.columns": "float_string"})
    clustered = HudiTable.open(tmp_path / "t")
    assert of_users(clustered.to_arrow()) == before
    assert clustered.delete(pa.table({"id": ["a03"]})).deleted == 1
    assert of_users(clustered.to_arrow()) == [row for row in before if "'a03'" not in row]
    assert clustered.inspect.health().num_rows == 0


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_change_data_has_values_of_the_wider_type(table_type: str, tmp_path: Path) -> None:
    options = {"hoodie.table.cdc.enabled": "true"}
    narrow = pa.table({"id": ["a", "b"], "n": pa.array([1, 2], pa.int32())})
    table = HudiTable.create(tmp_path / "t", narrow.schema, name="t", keys=["id"], table_type=table_type, options=options)
    table.insert(narrow)
    table.upsert([{"id": "a", "n": 2.5}])
    images = [
        (json.loads(row["before"] or "{}").get("n"), json.loads(row["after"])["n"]) for row in table.changes(format="cdc").to_pylist()
    ]
    assert images == [(None, 1.0), (None, 2.0), (1.0, 2.5)]
    assert sorted(table.to_arrow()["n"].to_pylist()) == [2.0, 2.5]


def test_narrower_data_are_cast_and_data_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    schema = pa.schema({"id": pa.string(), "price": pa.decimal128(10, 2), "day": pa.date32(), "note": pa.string()})
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"])
    table.insert(pa.table({"id": ["a"], "price": ["12.5"], "day": ["2020-01-02"], "note": [7]}))
    assert [list(map(str, row.values())) for row in table.to_arrow().to_pylist()] == [["a", "12.50", "2020-01-02", "7"]]
    history = table.history().num_rows
    for column, value in (("price", 0.125), ("price", 1e12), ("day", "tomorrow")):
        row = {"id": ["b"], "price": [1], "day": ["2020-01-02"], "note": ["x"]} | {column: [value]}
        with pytest.raises(SchemaError, match=f"Column '{column}'"):
            table.upsert(pa.table(row))
    assert table.history().num_rows == history


@pytest.mark.parametrize("using", [None, "column_stats"], ids=str)
def test_indexed_column_is_not_widened_to_other_values(using: str | None, tmp_path: Path) -> None:
    schema = pa.schema({"id": pa.string(), "n": pa.int32()})
    table = HudiTable.create(tmp_path / "t", schema, name="t", keys=["id"])
    table.insert([{"id": "a", "n": 1}, {"id": "b", "n": 2}], {"hoodie.metadata.record.index.enable": "true"})
    table.services.index("by_n", "n", using=using, options={"expr": "identity"} if using else None)
    with pytest.raises(UnsupportedError, match=r"column 'n' .* would become double.*drop the index first"):
        table.upsert([{"id": "a", "n": 1.5}])
    assert sorted(table.to_arrow()["n"].to_pylist()) == [1, 2]
    table.upsert(pa.table({"id": ["c"], "n": [2**40]}))
    for value, ids in ((2**40, ["c"]), (1, ["a"])):
        assert HudiTable.open(tmp_path / "t").to_arrow(filter=f"n = {value}")["id"].to_pylist() == ids
    table.services.index("by_n", drop=True)
    table.upsert([{"id": "a", "n": 1.5}])
    assert table.to_arrow(filter="n = 2.0")["id"].to_pylist() == ["b"]
