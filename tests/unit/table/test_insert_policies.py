"""What an insert does with keys that the table holds."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import KeyFieldError

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
POLICY = "hoodie.datasource.insert.dup.policy"


@pytest.fixture(params=["COPY_ON_WRITE", "MERGE_ON_READ"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    made = HudiTable.create(f"memory://{request.node.name}", SCHEMA, name="t", keys=["id"], table_type=request.param)
    made.upsert([{"id": 1, "name": "ann"}])
    return made


@pytest.mark.parametrize(("policy", "names"), [("none", ["ann", "two", "x"]), ("drop", ["ann", "two"])])
def test_known_key_is_kept_twice_or_left_out(table: HudiTable, policy: str, names: list[str]) -> None:
    table.insert([{"id": 1, "name": "x"}, {"id": 2, "name": "two"}], {POLICY: policy})
    assert sorted(table.to_arrow().column("name").to_pylist()) == names


@pytest.mark.parametrize("rows", [[{"id": 1, "name": "x"}], [{"id": 2, "name": "x"}, {"id": 2, "name": "y"}]])
def test_known_or_repeated_key_fails_the_insert_and_nothing_is_written(table: HudiTable, rows: list[dict[str, Any]]) -> None:
    before = table.history()
    with pytest.raises(KeyFieldError, match=r"'\d'"):
        table.insert(rows, {POLICY: "fail"})
    assert table.history() == before
    assert table.insert([{"id": 3, "name": "z"}], {POLICY: "fail"}).inserted == 1


DUPLICATES = "hoodie.merge.allow.duplicate.on.inserts"


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_an_insert_without_duplicates_updates_known_keys(table_type: str) -> None:
    """The rows are those that Apache Hudi 1.2.0 reads after the same insert."""
    schema = pa.schema([("id", pa.int32()), ("city", pa.string()), ("ts", pa.int64()), ("fare", pa.float64())])
    table = HudiTable.create(
        f"memory://without-duplicates-{table_type}",
        schema,
        name="t",
        keys=["id"],
        partition_by=["city"],
        order_by=["ts"],
        table_type=table_type,
    )
    table.insert([row(1, "oslo", 10, 1.5), row(2, "rome", 11, 2.5), row(3, "rome", 12, 3.5)], {DUPLICATES: "false"})
    result = table.insert([row(1, "oslo", 5, 9.0), row(2, "rome", 5, 9.0), row(2, "rome", 50, 2.5)], {DUPLICATES: "false"})
    assert table.to_arrow().sort_by("id").to_pylist() == [row(1, "oslo", 10, 1.5), row(2, "rome", 50, 2.5), row(3, "rome", 12, 3.5)]
    assert result.inserted == 0
    table.insert([row(1, "oslo", 99, 9.0), row(4, "oslo", 1, 1.0)], {DUPLICATES: "false", POLICY: "drop"})
    assert [one["ts"] for one in table.to_arrow().sort_by("id").to_pylist()] == [10, 50, 12, 1]
    table.insert([row(1, "oslo", 99, 9.0)])
    assert table.count() == 5


def row(id_: int, city: str, ts: int, fare: float) -> dict[str, Any]:
    return {"id": id_, "city": city, "ts": ts, "fare": fare}


def test_an_insert_into_a_table_without_keys_adds_rows_in_any_case() -> None:
    table = HudiTable.create("memory://keyless-duplicates", SCHEMA, name="t")
    for _ in range(2):
        table.insert([{"id": 1, "name": "ann"}], {DUPLICATES: "false"})
    assert table.count() == 2
