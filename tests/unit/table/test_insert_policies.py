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
