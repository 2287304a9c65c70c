"""GLOBAL_SIMPLE: a key lives once in the table, whatever partition its rows name."""

from __future__ import annotations

import pytest

from tests.unit.table.tables import make_table, ride, rows_of

GLOBAL = {"hoodie.index.type": "GLOBAL_SIMPLE"}
STAY = {**GLOBAL, "hoodie.simple.index.update.partition.path": "false"}


def partition_paths(table) -> dict[int, str]:
    rows = table.to_arrow(meta_columns=True)
    return dict(zip(rows["id"].to_pylist(), rows["_hoodie_partition_path"].to_pylist(), strict=True))


def test_record_that_comes_with_another_partition_moves_there() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo", 1), ride(2, "oslo", 2), ride(3, "rome", 3)])
    result = table.upsert([ride(1, "rome", 10), ride(3, "rome", 30), ride(4, "bern", 40)], options=GLOBAL)
    assert rows_of(table) == [ride(1, "rome", 10), ride(2, "oslo", 2), ride(3, "rome", 30), ride(4, "bern", 40)]
    assert result.index == "GLOBAL_SIMPLE"


def test_record_stays_where_it_is_when_moving_is_turned_off() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo", 1)])
    table.upsert([ride(1, "rome", 10)], options=STAY)
    assert rows_of(table) == [ride(1, "oslo", 10)]  # the partition's value, whatever the row says, as in Apache Hudi
    assert partition_paths(table) == {1: "oslo"}


def test_rows_of_one_key_in_several_partitions_become_one() -> None:
    table = make_table(partition_by=["city"], order_by=["at"])
    table.upsert([ride(1, "oslo", 1, at=5), ride(1, "rome", 2, at=3)], options=GLOBAL)
    assert rows_of(table) == [ride(1, "oslo", 1, at=5)]


@pytest.mark.parametrize(("at", "city"), [(4, "oslo"), (5, "rome"), (6, "rome")])
def test_late_record_moves_nothing(at, city) -> None:
    table = make_table(partition_by=["city"], order_by=["at"])
    table.upsert([ride(1, "oslo", 1, at=5), ride(2, "oslo", 2, at=5)])
    result = table.upsert([ride(1, "rome", 9, at=at)], options=GLOBAL)
    assert partition_paths(table) == {1: city, 2: "oslo"}
    assert result.late_dropped == (1 if city == "oslo" else 0)


def test_delete_needs_no_partition_value_and_finds_the_record_anywhere() -> None:
    table = make_table(partition_by=["city"], order_by=["at"])
    table.upsert([ride(1, "oslo", at=5), ride(2, "rome", at=5)])
    assert table.delete([{"id": 1}, {"id": 9}], options=GLOBAL).deleted == 1
    assert rows_of(table) == [ride(2, "rome", at=5)]


def test_row_marked_deleted_removes_the_record_from_another_partition() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([{**ride(1, "oslo"), "_hoodie_is_deleted": False}])
    table.upsert([{**ride(1, "rome"), "_hoodie_is_deleted": True}], options=GLOBAL)
    assert rows_of(table) == []


def test_copies_of_a_key_in_other_partitions_are_all_removed_when_it_moves() -> None:
    table = make_table(partition_by=["city"])
    table.insert([ride(1, "oslo"), ride(1, "rome"), ride(1, "bern")])
    table.upsert([ride(1, "rome", 5)], options=GLOBAL)
    assert rows_of(table) == [ride(1, "rome", 5)]


def test_insert_that_drops_duplicates_drops_keys_known_in_any_partition() -> None:
    table = make_table(partition_by=["city"])
    table.insert([ride(1, "oslo")])
    options = {**GLOBAL, "hoodie.datasource.write.insert.drop.duplicates": "true"}
    table.insert([ride(1, "rome", 5), ride(2, "rome"), ride(2, "bern", 7)], options=options)
    assert rows_of(table) == [ride(1, "oslo"), ride(2, "bern", 7)]


def test_a_virtual_key_below_log_files_moves_and_leaves_no_copy() -> None:
    options = {"hoodie.populate.meta.fields": "false"}
    table = make_table(partition_by=["city"], order_by=["at"], table_type="MERGE_ON_READ", options=options)
    table.upsert([ride(1), ride(2)])
    table.upsert([ride(1, at=1)])
    table.upsert([ride(1, "rome", 7, at=2), ride(2, "rome", 7, at=2)], options=GLOBAL)
    assert rows_of(table) == [ride(1, "rome", 7, at=2), ride(2, "rome", 7, at=2)]
