"""Equality of keys: one file group is read where the record index is proven to know every row, all where it is not."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.read.execute import read_table, select
from pyhudi.read.skipping.data_skipping import Skipping
from pyhudi.read.snapshot.query_type import SnapshotQuery
from pyhudi.read.snapshot.snapshot import open_snapshot
from pyhudi.table.read_table import selection
from pyhudi.testing.call_log import RecordingStorage

SCHEMA = pa.schema({"id": pa.string(), "p": pa.string(), "amount": pa.int64(), "word": pa.string()})
GROUPS = 12
OPTIONS = {
    "hoodie.parquet.small.file.limit": "0",
    "hoodie.metadata.global.record.level.index.enable": "true",
    "hoodie.metadata.global.record.level.index.min.filegroup.count": "1",
    "hoodie.metadata.global.record.level.index.max.filegroup.count": "1",
}


def rows(*numbers: int, partition: str = "x") -> pa.Table:
    result = [{"id": f"k{number:03}", "p": partition, "amount": number, "word": f"w{number % 3}"} for number in numbers]
    return pa.Table.from_pylist(result, schema=SCHEMA)


def table_at(path: Path, **more: str) -> HudiTable:
    """Twelve file groups, over all of which the keys are spread."""
    table = HudiTable.create(path, SCHEMA, name="t", keys=["id"], partition_by=["p"])
    for group in range(GROUPS):
        table.insert(rows(*range(group, 5 * GROUPS, GROUPS), partition="xy"[group % 2]), options=OPTIONS | more)
    return table


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> HudiTable:
    return table_at(tmp_path_factory.mktemp("keys") / "t")


@pytest.fixture
def table(untouched: HudiTable, tmp_path: Path) -> HudiTable:
    """A copy to be changed."""
    shutil.copytree(untouched.storage.uri, tmp_path / "t")
    return HudiTable.open(tmp_path / "t")


def reasons(table: HudiTable, condition: str) -> Counter[Any]:
    return Counter(table.inspect.plan(condition)["ruled_out_by"].to_pylist())


def test_a_key_is_read_from_the_one_file_group_that_has_it(untouched: HudiTable) -> None:
    assert reasons(untouched, "id = 'k017'") == {"record_index": GROUPS - 1, None: 1}
    storage = RecordingStorage(untouched.storage)
    selection = select(open_snapshot(storage, SnapshotQuery()), None, "id = 'k017'")
    assert read_table(selection)["amount"].to_pylist() == [17]
    assert len({call.path for call in storage.calls if call.path.endswith(".parquet")}) == 1


def test_keys_in_a_list_are_looked_up_together_and_unknown_ones_rule_everything_out(untouched: HudiTable) -> None:
    assert reasons(untouched, "id IN ('k001', 'k002', 'nobody') AND amount >= 0") == {"record_index": GROUPS - 2, None: 2}
    assert reasons(untouched, "id IN ('', 'k001', '', 'k002')") == {"record_index": GROUPS - 2, None: 2}  # no row has an empty key
    assert reasons(untouched, "_hoodie_record_key = 'nobody'") == {"record_index": GROUPS}
    assert untouched.to_arrow(filter="id = 'nobody'").num_rows == 0


def test_keys_that_are_not_unique_are_read_from_every_file_group_that_can_hold_them(table: HudiTable) -> None:
    table.insert(rows(17), options=OPTIONS)
    assert "record_index" not in reasons(table, "id = 'k017'")
    assert table.to_arrow(filter="id = 'k017'")["amount"].to_pylist() == [17, 17]


def test_a_key_that_stands_in_two_partitions_is_found_in_both(table: HudiTable) -> None:
    table.upsert(rows(17, partition="x"), options=OPTIONS | {"hoodie.index.type": "SIMPLE"})
    assert sorted(table.to_arrow(filter="id = 'k017'")["p"].to_pylist()) == ["x", "y"]


def test_an_older_snapshot_is_not_read_by_what_the_index_says_of_now(table: HudiTable) -> None:
    before = open_snapshot(table.storage, SnapshotQuery())
    table.delete(rows(17, partition="y"), options=OPTIONS)
    assert read_table(select(before, None, "id = 'k017'")).num_rows == 1
    assert table.to_arrow(filter="id = 'k017'").num_rows == 0
    then = str(before.timeline.completion_time(before.instant or ""))
    assert table.to_arrow(filter="id = 'k017'", as_of=then).num_rows == 1


@pytest.mark.parametrize("version", ["9", "8", "6"])
def test_an_older_snapshot_is_not_read_by_indexes_that_were_built_later(tmp_path: Path, version: str) -> None:
    table = HudiTable.create(
        tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["p"], options={"hoodie.write.table.version": version}
    )
    first = pa.concat_tables([rows(number, partition=f"p{number}") for number in range(6)])
    then = table.insert(first, options=OPTIONS)
    if version != "6":
        table.services.index("by_amount", "amount")
    earlier = open_snapshot(table.storage, SnapshotQuery())
    table.upsert(first.set_column(2, "amount", pa.array([-1] * 6)), options=OPTIONS)
    table.services.index(rebuild=True)
    for condition in ("amount >= 0", "amount = 3", "id = 'k003' AND amount = 3"):
        result = table.to_arrow(filter=condition, as_of=then.instant).num_rows
        assert result == read_table(select(earlier, None, condition)).num_rows == (6 if ">=" in condition else 1), condition
    assert table.count(filter="amount = -1") == 6


def test_bloom_filters_serve_where_there_is_no_record_index(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    chosen = {"hoodie.parquet.small.file.limit": "0", "hoodie.metadata.index.bloom.filter.enable": "true"}
    for group in range(GROUPS):
        table.insert(rows(*range(group, 5 * GROUPS, GROUPS)), options=chosen | {"hoodie.metadata.index.column.stats.enable": "false"})
    assert reasons(table, "id = 'k017'") == {"bloom_filters": GROUPS - 1, None: 1}


def test_few_files_are_read_without_asking_indexes_of_more(tmp_path: Path) -> None:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"])
    table.insert(rows(1, 2, 3), options=OPTIONS)
    assert reasons(table, "id = 'nobody'") == {None: 1}


@pytest.mark.parametrize("option", ["hoodie.enable.data.skipping", "hoodie.metadata.enable"])
def test_options_switch_indexes_off(untouched: HudiTable, option: str) -> None:
    plan = untouched.inspect.plan("id = 'k017'", options={option: "false"})
    assert set(plan["ruled_out_by"].to_pylist()) == {None}


def test_a_damaged_secondary_index_is_said_by_its_name(table: HudiTable, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table.services.index("by_amount", "amount")
    assert reasons(table, "amount = 17") == {"secondary_index_by_amount": GROUPS - 1, None: 1}
    for file in (tmp_path / "t/.hoodie/metadata/secondary_index_by_amount").iterdir():
        if "secondary-index" in file.name:
            file.write_bytes(file.read_bytes()[:40])
    assert table.to_arrow(filter="amount = 17")["id"].to_pylist() == ["k017"]
    assert "secondary_index_by_amount of table" in caplog.text
    assert reasons(table, "id = 'k017'") == {"record_index": GROUPS - 1, None: 1}


def test_a_damaged_index_is_said_and_its_files_are_read(table: HudiTable, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for file in (tmp_path / "t/.hoodie/metadata/record_index").iterdir():
        if "record-index" in file.name:
            file.write_bytes(file.read_bytes()[:40])
    assert table.to_arrow(filter="id = 'k017'")["amount"].to_pylist() == [17]
    assert "record_index" in caplog.text


def test_an_index_that_is_switched_off_is_not_asked(untouched: HudiTable) -> None:
    def indexes_used(condition: str, options: dict[str, str]) -> set[str | None]:
        selected = selection(untouched.storage, None, condition, None, "snapshot", meta_columns=False, options=options)
        chosen = Skipping(selected.snapshot, selected.test, at_any_price=True).choose(selected.paths)
        return {*chosen.partitions_out.values(), *(index for _, index in chosen.slices_out), chosen.others_out} - {None}

    assert indexes_used("id = 'k017'", {}) == {"record_index"}
    statistics = {"hoodie.metadata.index.column.stats.enable": "false"}
    assert indexes_used("amount = 0", {}) == {"partition_stats", "column_stats"}
    assert indexes_used("amount = 0", statistics) == {"partition_stats"}
    assert indexes_used("amount = 0", statistics | {"hoodie.metadata.index.partition.stats.enable": "false"}) == set()
    for switch in ("hoodie.metadata.record.index.enable", "hoodie.metadata.record.level.index.enable"):
        assert "record_index" not in indexes_used("id = 'k017'", {switch: "false"})
        other_kind = {"hoodie.metadata.record.index.enable": "true", "hoodie.metadata.record.level.index.enable": "true"}
        assert indexes_used("id = 'k017'", other_kind | {switch: "false"}) == {"record_index"}
        assert untouched.to_arrow(["amount"], "id = 'k017'", options=statistics | {switch: "false"}).to_pylist() == [{"amount": 17}]
