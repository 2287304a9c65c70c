"""What each operation does to the rows, and what it answers."""

from __future__ import annotations

import pytest

from pyhudi.errors import ConflictError, KeyFieldError, SchemaError, UsageError
from pyhudi.spec.actions.commit import Operation
from pyhudi.table.write_table import write
from tests.unit.table.tables import make_table, ride, rows_of


def test_upsert_replaces_by_key_and_adds_the_rest() -> None:
    table = make_table()
    table.upsert([ride(1, value=1), ride(2, value=2)])
    result = table.upsert([ride(2, value=20), ride(3, value=30)])
    assert rows_of(table) == [ride(1, value=1), ride(2, value=20), ride(3, value=30)]
    assert (result.inserted, result.updated, result.deleted, result.late_dropped) == (1, 1, 0, 0)
    assert result.index == "SIMPLE"


def test_same_key_in_two_partitions_is_two_records() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo", 1), ride(1, "rome", 2)])
    table.upsert([ride(1, "rome", 20)])
    assert rows_of(table) == [ride(1, "oslo", 1), ride(1, "rome", 20)]


def test_insert_keeps_rows_whose_key_is_there_beside_them() -> None:
    table = make_table()
    table.insert([ride(1, value=1)])
    table.insert([ride(1, value=2)])
    assert rows_of(table) == [ride(1, value=1), ride(1, value=2)]


def test_insert_packs_new_rows_into_the_small_file() -> None:
    table = make_table()
    table.insert([ride(1)])
    table.insert([ride(2)])
    assert table.inspect.files().num_rows == 1


def test_upsert_and_delete_reach_every_copy_of_a_key() -> None:
    table = make_table()
    table.insert([ride(1, value=1)])
    table.bulk_insert([ride(1, value=2)])
    table.upsert([ride(1, value=9)])
    assert rows_of(table) == [ride(1, value=9), ride(1, value=9)]
    assert table.delete([{"id": 1}]).deleted == 2
    assert rows_of(table) == []


def test_insert_told_to_drop_duplicates_leaves_out_known_keys() -> None:
    table = make_table()
    table.insert([ride(1, value=1)])
    result = table.insert([ride(1, value=2), ride(3)], options={"hoodie.datasource.write.insert.drop.duplicates": "true"})
    assert rows_of(table) == [ride(1, value=1), ride(3)]
    assert result.inserted == 1


def test_insert_combines_its_own_rows_only_when_told() -> None:
    table = make_table()
    table.insert([ride(1, value=1), ride(1, value=2)])
    assert table.count() == 2
    table.insert([ride(2, value=1), ride(2, value=2)], options={"hoodie.combine.before.insert": "true"})
    assert table.to_arrow(filter="id = 2").to_pylist() == [ride(2, value=2)]


def test_bulk_insert_makes_new_files_as_many_as_the_greatest_size_asks_for() -> None:
    table = make_table()
    table.bulk_insert([ride(1)])
    options = {"hoodie.parquet.max.file.size": "100000", "hoodie.parquet.bloom.filter.enabled": "false"}
    result = table.bulk_insert([ride(n, value=n * n) for n in range(20000)], options=options)
    assert result.files_written > 1
    assert table.inspect.files().num_rows == 1 + result.files_written
    assert table.count() == 20001


def test_late_row_is_ignored_and_counted() -> None:
    table = make_table(order_by=["at"])
    table.upsert([ride(1, value=1, at=5)])
    result = table.upsert([ride(1, value=2, at=4)])
    assert rows_of(table) == [ride(1, value=1, at=5)]
    assert (result.updated, result.late_dropped) == (0, 1)
    with pytest.warns(DeprecationWarning, match="late_dropped"):
        assert result.ignored == 1
    assert (result.to_dict()["ignored"], result.to_dict()["late_dropped"]) == (1, 1)


def test_among_rows_of_one_key_the_greatest_ordering_value_stays() -> None:
    table = make_table(order_by=["at"])
    table.upsert([ride(1, value=1, at=5), ride(1, value=2, at=9), ride(1, value=3, at=7)])
    assert rows_of(table) == [ride(1, value=2, at=9)]


def test_upsert_told_not_to_combine_refuses_a_key_that_stands_twice() -> None:
    table = make_table()
    with pytest.raises(KeyFieldError, match="'1' occurs more than once"):
        table.upsert([ride(1, value=1), ride(1, value=2)], options={"hoodie.combine.before.upsert": "false"})


def test_delete_needs_only_keys_and_partition_values() -> None:
    table = make_table(partition_by=["city"], order_by=["at"])
    table.upsert([ride(1, "oslo", at=9), ride(1, "rome", at=9)])
    result = table.delete([{"id": 1, "city": "rome"}])
    assert rows_of(table) == [ride(1, "oslo", at=9)]
    assert result.deleted == 1


def test_delete_by_condition_removes_the_rows_it_is_true_for() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo", 1), ride(2, "oslo", 5), ride(3, "rome", 7)])
    assert table.delete(where="value > 4").deleted == 2
    assert rows_of(table) == [ride(1, "oslo", 1)]


@pytest.mark.parametrize("delete", [{"data": [{"id": 7}]}, {"where": "id = 7"}, {"partitions": ["nowhere"]}])
def test_delete_that_finds_nothing_commits_nothing(delete) -> None:
    table = make_table()
    table.upsert([ride(1)])
    result = table.delete(**delete)
    assert result.instant is None
    assert table.history().num_rows == 1


def test_delete_of_all_rows_leaves_a_group_that_takes_the_next_inserts() -> None:
    table = make_table()
    table.upsert([ride(1)])
    table.delete([{"id": 1}])
    assert table.count() == 0
    table.upsert([ride(2)])
    assert rows_of(table) == [ride(2)]
    assert table.inspect.files().num_rows == 1


def test_rows_marked_deleted_remove_their_records_and_are_never_stored() -> None:
    table = make_table()
    table.upsert([{**ride(1), "_hoodie_is_deleted": False}, {**ride(2), "_hoodie_is_deleted": True}])
    assert table.count() == 1
    result = table.upsert([{**ride(1), "_hoodie_is_deleted": True}])
    assert (table.count(), result.deleted) == (0, 1)


def test_delete_by_key_of_a_table_without_keys_is_refused() -> None:
    table = make_table(keys=())
    table.insert([ride(1), ride(1)])
    with pytest.raises(KeyFieldError, match="where="):
        table.delete([{"id": 1}])
    assert table.delete(where="id = 1").deleted == 2


def test_delete_takes_exactly_one_argument() -> None:
    table = make_table()
    with pytest.raises(UsageError):
        table.delete()
    with pytest.raises(UsageError):
        table.delete([{"id": 1}], where="id = 1")


def test_overwrite_replaces_the_whole_table() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo"), ride(2, "rome")])
    table.overwrite([ride(3, "bern")])
    assert rows_of(table) == [ride(3, "bern")]


def test_overwrite_with_no_rows_empties_the_table() -> None:
    table = make_table()
    table.upsert([ride(1)])
    result = table.overwrite(table.schema.empty_table())
    assert result.instant is not None
    assert table.count() == 0
    assert table.schema.names == ["id", "city", "value", "at"]


def test_dynamic_overwrite_replaces_the_partitions_of_its_rows() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo"), ride(2, "rome")])
    table.overwrite([ride(3, "rome")], dynamic=True)
    assert rows_of(table) == [ride(1, "oslo"), ride(3, "rome")]


def test_overwrite_of_named_partitions_empties_those_without_rows_and_refuses_others() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo"), ride(2, "rome"), ride(3, "bern")])
    table.overwrite([ride(4, "rome")], partitions=["rome", "bern"])
    assert rows_of(table) == [ride(1, "oslo"), ride(4, "rome")]
    with pytest.raises(KeyFieldError, match="oslo"):
        table.overwrite([ride(4, "oslo")], partitions=["rome"])


def test_delete_of_partitions_replaces_their_groups() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo"), ride(2, "rome")])
    result = table.delete(partitions=["rome"])
    assert rows_of(table) == [ride(1, "oslo")]
    assert result.operation is Operation.DELETE_PARTITION
    table.upsert([ride(2, "rome", 5)])
    assert rows_of(table) == [ride(1, "oslo"), ride(2, "rome", 5)]


def test_delete_of_partitions_takes_them_from_rows_when_none_are_named() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo"), ride(2, "rome"), ride(3, "rome")])
    write(table, Operation.DELETE_PARTITION, [ride(9, "rome")])
    assert rows_of(table) == [ride(1, "oslo")]
    write(table, Operation.DELETE_PARTITION, [ride(9, "rome")], partitions=["oslo"])
    assert rows_of(table) == []


def test_write_of_no_rows_commits_nothing() -> None:
    table = make_table()
    assert table.insert([]).instant is None
    assert table.upsert(table.schema.empty_table()).instant is None
    assert table.history().num_rows == 0


def test_new_columns_and_wider_types_become_the_table_s() -> None:
    table = make_table()
    table.upsert([ride(1)])
    table.upsert([{**ride(2), "note": "new"}])
    assert table.schema.names[-1] == "note"
    assert rows_of(table) == [{**ride(1), "note": None}, {**ride(2), "note": "new"}]


def test_located_rows_are_written_without_asking_an_index() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo", 1), ride(2, "oslo", 2)])
    read = table.to_arrow(filter="id = 2", meta_columns=True)
    changed = read.set_column(read.schema.get_field_index("value"), "value", [[9]])
    result = write(table, Operation.UPSERT_PREPPED, changed, prepped=True)
    assert rows_of(table) == [ride(1, "oslo", 1), ride(2, "oslo", 9)]
    assert (result.updated, result.index) == (1, None)


def test_located_row_whose_partition_value_changed_moves() -> None:
    table = make_table(partition_by=["city"])
    table.upsert([ride(1, "oslo", 1), ride(2, "oslo", 2)])
    read = table.to_arrow(filter="id = 2", meta_columns=True)
    moving = read.set_column(read.schema.get_field_index("city"), "city", [["rome"]])
    write(table, Operation.UPSERT_PREPPED, moving, prepped=True)
    assert rows_of(table) == [ride(1, "oslo", 1), ride(2, "rome", 2)]
    assert table.to_arrow(filter="city = 'rome'", meta_columns=True)["_hoodie_partition_path"].to_pylist() == ["rome"]


def test_located_row_whose_key_changed_is_refused() -> None:
    table = make_table()
    table.upsert([ride(1)])
    read = table.to_arrow(meta_columns=True)
    with pytest.raises(KeyFieldError, match=r"^table \w+: the record key '1' would become '5'"):
        write(table, Operation.UPSERT_PREPPED, read.set_column(5, "id", [[5]]), prepped=True)


def test_located_rows_read_before_another_commit_conflict() -> None:
    table = make_table()
    table.upsert([ride(1)])
    read = table.to_arrow(meta_columns=True)
    table.upsert([ride(2)])
    with pytest.raises(ConflictError, match="run the statement again"):
        write(table, Operation.DELETE_PREPPED, read, prepped=True)
    assert table.count() == 2


def test_generated_keys_are_unique_and_stay_on_update() -> None:
    table = make_table(keys=())
    table.insert([ride(1), ride(1)])
    table.insert([ride(2)])
    read = table.to_arrow(meta_columns=True)
    keys = read["_hoodie_record_key"].to_pylist()
    assert len(set(keys)) == 3
    write(table, Operation.UPSERT_PREPPED, read, prepped=True)
    assert sorted(table.to_arrow(meta_columns=True)["_hoodie_record_key"].to_pylist()) == sorted(keys)


def test_column_that_pyhudi_uses_itself_is_refused() -> None:
    with pytest.raises(SchemaError, match="_pyhudi_delete"):
        make_table().upsert([{**ride(1), "_pyhudi_delete": True}])


def test_result_says_what_was_done_for_people_and_for_json() -> None:
    result = make_table().upsert([ride(1)])
    assert str(result).startswith(f"upsert {result.instant}: 1 inserted; 1 file, ")
    assert result.to_dict()["operation"] == "UPSERT"
    assert result.to_dict()["inserted"] == 1
