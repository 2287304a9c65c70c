"""A key whose record was deleted in a log and inserted again is in two base files; only the live record is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable

SCHEMA = pa.schema({"id": pa.int64(), "v": pa.string(), "p": pa.string()})
OPTIONS = {"hoodie.compact.inline": "false", "hoodie.parquet.small.file.limit": "0"}


@pytest.fixture(params=["SIMPLE", "GLOBAL_SIMPLE"])
def options(request: pytest.FixtureRequest) -> dict[str, str]:
    return {**OPTIONS, "hoodie.index.type": request.param}


@pytest.fixture
def table(tmp_path: Path, options: dict[str, str]) -> HudiTable:
    """Record 1 was deleted in a log and inserted again; record 2 was not touched."""
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["p"], table_type="MERGE_ON_READ")
    table.upsert([row(1, "a"), row(2, "a")], options=options)
    table.delete([row(1)], options=options)
    table.insert([row(1, "b")], options=options)
    return table


def row(key: int, value: str = "") -> dict[str, Any]:
    return {"id": key, "v": value, "p": "x"}


def rows(table: HudiTable) -> list[tuple[int, str]]:
    return sorted((result["id"], result["v"]) for result in table.to_arrow().to_pylist())


def test_an_update_changes_the_record_that_stands(table: HudiTable, options: dict[str, str]) -> None:
    table.upsert([row(1, "c"), row(3, "c")], options=options)
    assert rows(table) == [(1, "c"), (2, "a"), (3, "c")]


def test_a_key_that_stands_nowhere_is_one_record_again(table: HudiTable, options: dict[str, str]) -> None:
    table.delete([row(1)], options=options)
    assert rows(table) == [(2, "a")]
    table.upsert([row(1, "d")], options=options)
    assert rows(table) == [(1, "d"), (2, "a")]
    table.services.compact()
    assert rows(table) == [(1, "d"), (2, "a")]


def test_both_of_two_standing_records_are_changed(table: HudiTable, options: dict[str, str]) -> None:
    table.insert([row(1, "twin")], options=options)
    table.upsert([row(1, "e")], options=options)
    assert rows(table) == [(1, "e"), (1, "e"), (2, "a")]
