"""`health` reads every index whole, and readers say when one is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.fsview import committed_sizes as stated

SCHEMA = pa.schema({"id": pa.string(), "s": pa.string(), "spot": pa.struct({"y": pa.string()})})
OPTIONS = {
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "1",
    "hoodie.metadata.global.record.level.index.max.filegroup.count": "1",
}
INDEXES = ["record_index", "secondary_index_by_s", "expr_index_low", "bloom_filters"]
FILES = 12


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    table = HudiTable.create(tmp_path_factory.mktemp("indexes") / "t", SCHEMA, name="t", keys=["id"])
    for number in range(FILES):
        table.insert([{"id": f"k{number}", "s": f"s{number}", "spot": {"y": f"y{number}"}}], options=OPTIONS)
    table.services.index("by_s", "s")
    table.services.index("by_y", "spot.y")
    table.services.index("low", "s", using="column_stats", options={"expr": "lower"})
    return table


@pytest.fixture
def table(untouched: HudiTable, tmp_path: Path) -> HudiTable:
    """A copy to be damaged."""
    shutil.copytree(untouched.storage.uri, tmp_path / "t")
    return HudiTable.open(tmp_path / "t")


def problems(table: HudiTable) -> list[tuple[str, ...]]:
    return [tuple(one.values()) for one in table.inspect.health().to_pylist()]


def folder(table: HudiTable, name: str) -> Path:
    return Path(table.storage.uri, ".hoodie", "metadata", name)


@pytest.mark.parametrize("name", INDEXES)
def test_an_index_that_is_missing_or_damaged_is_told_of_and_built_again(untouched, table, name) -> None:
    assert problems(untouched) == []
    newest = max((file for file in folder(table, name).iterdir() if not file.name.endswith(".hoodie_partition_metadata")), key=str)
    newest.write_bytes(newest.read_bytes()[: newest.stat().st_size // 2])
    assert problems(table)
    shutil.rmtree(folder(table, name))
    assert problems(table)[0][:2] == ("metadata table is whole", name)
    table.services.index(rebuild=True)
    assert problems(table) == []


def test_keys_that_the_record_index_lost_are_counted(table, monkeypatch) -> None:
    for file in folder(table, "record_index").glob(".*.log.*"):
        file.unlink()
    ((check, subject, problem),) = problems(table)
    assert (check, subject) == ("metadata table is whole", "record_index")
    assert "is missing: commit" in problem
    monkeypatch.setattr(stated, "differences", lambda *_: ())  # as if no commit had named them
    ((check, subject, problem),) = problems(table)
    assert (check, subject) == ("record index has the keys of the table", "record_index")
    assert problem.endswith(f"and the table has {FILES}")


def test_readers_say_that_the_record_index_is_missing(table, caplog) -> None:
    shutil.rmtree(folder(table, "record_index"))
    assert table.to_arrow(filter="id = 'k7'").num_rows == 1
    assert "record_index of table" in caplog.text
    assert "is missing: commit" in caplog.text


def test_an_index_of_a_field_of_a_struct_rules_files_out(untouched) -> None:
    plan = untouched.inspect.plan("spot.y = 'y7'")["ruled_out_by"].to_pylist()
    assert sorted(plan, key=str) == [None, *["secondary_index_by_y"] * (FILES - 1)]
    assert untouched.to_arrow(filter="spot.y = 'y7'")["id"].to_pylist() == ["k7"]


def test_a_key_inside_a_struct_is_looked_up(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["spot.y"])
    for number in range(FILES):
        table.insert([{"id": f"k{number}", "s": "s", "spot": {"y": f"y{number}"}}], options=OPTIONS)
    plan = table.inspect.plan("spot.y = 'y7'")["ruled_out_by"].to_pylist()
    assert sorted(plan, key=str) == [None, *["record_index"] * (FILES - 1)]
    assert table.to_arrow(filter="spot.y = 'y7'")["id"].to_pylist() == ["k7"]


@pytest.mark.parametrize("engine", ["SIMPLE", "CONSISTENT_HASHING"])
def test_keys_that_begin_in_the_log_of_a_bucket_come_into_the_record_index(tmp_path: Path, engine: str) -> None:
    options = {
        **OPTIONS,
        "hoodie.index.type": "BUCKET",
        "hoodie.index.bucket.engine": engine,
        "hoodie.bucket.index.num.buckets": "1",
        "hoodie.bucket.index.min.num.buckets": "1",
    }
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], table_type="MERGE_ON_READ")
    for number in range(3):
        table.upsert([{"id": f"k{number}", "s": f"s{number}", "spot": None}], options=options)
    assert [table.count(filter=f"id = 'k{number}'") for number in range(3)] == [1, 1, 1]
    table.services.compact(mode="both")
    assert problems(table) == []
