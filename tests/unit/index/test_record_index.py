"""The record index of the metadata table tells where records live; where it cannot be asked, the files are."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from pyhudi.index.record_index import RecordIndexLookup
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.call_log import RecordingStorage
from tests.unit.table.tables import make_table, ride, rows_of

RECORDS = {"hoodie.metadata.enable": "true", "hoodie.metadata.global.record.level.index.enable": "true"}
NAMED = {**RECORDS, "hoodie.index.type": "GLOBAL_RECORD_LEVEL_INDEX"}


def test_table_with_a_record_index_asks_it_and_opens_no_other_data_file() -> None:
    storage = RecordingStorage(MemoryStorage())
    table = make_table(storage, partition_by=["city"])
    table.upsert([ride(n, f"city{n}") for n in range(8)], options=RECORDS)
    storage.calls.clear()
    result = table.upsert([ride(3, "city3", 1)], options=RECORDS)
    assert (result.index, result.index_reason) == ("RECORD_LEVEL_INDEX", "the metadata table has a record index")
    new_buckets = {call.path for call in storage.calls if call.method == "open_input" and call.path.endswith(".parquet")}
    assert {path.split("/")[0] for path in new_buckets} == {"city3"}


def test_many_keys_are_read_from_small_files_rather_than_looked_up_one_by_one() -> None:
    table = make_table()
    table.upsert([ride(n) for n in range(200)], options=RECORDS)
    recorded = table.inspect.explain_upsert([ride(n) for n in range(150)], options=RECORDS)
    assert recorded.index == "SIMPLE"
    assert recorded.reason.startswith("the metadata table has a record index; 150 keys against 1 base files")
    assert table.inspect.explain_upsert([ride(n) for n in range(100)], options=RECORDS).index == "RECORD_LEVEL_INDEX"


@pytest.mark.parametrize(("move", "path"), [("false", "oslo"), ("true", "rome")])
def test_record_found_in_another_partition_stays_or_moves_as_told(move: str, path: str) -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo"), ride(2, "oslo")], options=RECORDS)
    table.upsert([ride(1, "rome", 5)], options={**NAMED, "hoodie.record.index.update.partition.path": move})
    rows = {row["id"]: row["_hoodie_partition_path"] for row in table.to_arrow(meta_columns=True).to_pylist()}
    assert rows == {1: path, 2: "oslo"}


def test_key_means_what_it_meant_before_somebody_made_an_index() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo"), ride(1, "rome"), ride(2, "oslo")])
    table.services.index("record_index")
    result = table.upsert([*(ride(1, city, 5) for city in ("oslo", "rome", "bern")), ride(2, "oslo", 6), ride(2, "rome", 6)])
    assert result.index == "RECORD_LEVEL_INDEX"
    assert rows_of(table) == [*(ride(1, city, 5) for city in ("bern", "oslo", "rome")), ride(2, "oslo", 6), ride(2, "rome", 6)]


def test_index_by_partition_knows_a_key_once_in_each() -> None:
    table = make_table(partition_by=["city"])
    options = {"hoodie.metadata.enable": "true", "hoodie.metadata.record.level.index.enable": "true"}
    table.upsert([ride(1, "oslo"), ride(1, "rome"), ride(2, "oslo")], options=options)
    result = table.upsert([ride(1, "rome", 5), ride(2, "rome", 6)], options=options)
    assert result.index == "RECORD_LEVEL_INDEX"
    assert rows_of(table) == [ride(1, "oslo"), ride(1, "rome", 5), ride(2, "oslo"), ride(2, "rome", 6)]


def test_table_without_record_index_is_looked_through_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    table = make_table(partition_by=["city"])
    options = {"hoodie.metadata.enable": "false", "hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true"}
    table.upsert([ride(1, "oslo")], options=options)
    with caplog.at_level(logging.WARNING, RecordIndexLookup.__module__):
        table.upsert([ride(1, "rome", 2)], options=options)
    assert rows_of(table) == [ride(1, "rome", 2)]
    assert "the record index of" in caplog.text
    assert "hoodie.table.metadata.partitions" in caplog.text


def test_reading_trusts_no_count_of_rows_that_went_to_the_logs_of_buckets(tmp_path: Path) -> None:
    options = {**RECORDS, "hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1", "hoodie.compact.inline": "false"}
    table = make_table(LocalStorage(tmp_path), partition_by=["city"], table_type="MERGE_ON_READ")  # type: ignore[arg-type]
    table.upsert([ride(n, f"city{n}") for n in range(30)], options=options)
    table.upsert([ride(0, "city1", 2)], options=options)
    rows = table.to_arrow(filter="id = 0").to_pylist()
    assert sorted((row["city"], row["value"]) for row in rows) == [("city0", 0), ("city1", 2)]


@pytest.mark.parametrize("first", ["oslo", "rome"])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("named", [{}, {"hoodie.index.type": "RECORD_LEVEL_INDEX"}], ids=["chosen", "named"])
def test_key_of_two_partitions_is_found_in_one_when_the_other_lost_it(first: str, table_type: str, named: dict[str, str]) -> None:
    (second,) = {"oslo", "rome"} - {first}
    table = make_table(partition_by=["city"], table_type=table_type)
    table.upsert([ride(1, "oslo"), ride(1, "rome"), ride(2, "oslo")], options=RECORDS)
    table.delete([ride(1, first)], options=named)
    result = table.upsert([ride(1, second, 5)], options={**named, "hoodie.parquet.small.file.limit": "0"})
    assert (result.index, result.updated) == ("RECORD_LEVEL_INDEX", 1)
    assert table.delete([ride(1, second)], options=named).deleted == 1
    assert rows_of(table) == [ride(2, "oslo")]


@pytest.mark.parametrize(("has_index", "moving"), [(False, True), (True, False)])
def test_a_record_index_that_the_table_does_not_have_moves_records_as_a_simple_one_does(*, has_index: bool, moving: bool) -> None:
    table = make_table(partition_by=["city"])
    options = {**(RECORDS if has_index else {}), "hoodie.index.type": "RECORD_INDEX"}
    table.upsert([ride(1, "oslo")], options=options)
    table.upsert([ride(1, "rome", 5)], options={"hoodie.index.type": "RECORD_INDEX"})
    assert [row["_hoodie_partition_path"] for row in table.to_arrow(meta_columns=True).to_pylist()] == ["rome" if moving else "oslo"]
