"""Every operation on a merge-on-read table: what goes to log files, what is written again, and which rows are there afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.errors import ConflictError
from pyhudi.fsview import committed_sizes as stated
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.read.snapshot import query_type, slice_cache
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.options import resolve
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.write_table import write
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.write.plan import insert_placement as candidates
from tests.unit.table.tables import by_id, make_table, ride, rows_of

GLOBAL = {"hoodie.index.type": "GLOBAL_SIMPLE"}
STAYS = {**GLOBAL, "hoodie.simple.index.update.partition.path": "false"}


def merged_on_read(**arguments: Any) -> HudiTable:
    return make_table(table_type="MERGE_ON_READ", **arguments)


def slices(table: HudiTable) -> list[FileSlice]:
    view = FileSystemView(table.storage, table.config, load_timeline(table.storage, table.config))
    return [file_slice for path in view.partition_paths() for file_slice in view.latest_slices(path)]


def logs(table: HudiTable) -> list[int]:
    return [len(file_slice.logs) for file_slice in slices(table)]


def actions(table: HudiTable) -> list[str]:
    result: list[str] = table.history()["action"].to_pylist()
    return result


def test_insert_makes_base_files_and_upsert_of_known_keys_a_log_file() -> None:
    table = merged_on_read()
    table.insert([ride(n) for n in range(3)])
    assert logs(table) == [0]
    result = table.upsert([ride(1, value=9)])
    assert (result.updated, result.inserted, result.files_written) == (1, 0, 1)
    assert logs(table) == [1]
    assert rows_of(table) == [ride(0), ride(1, value=9), ride(2)]
    assert actions(table) == ["deltacommit", "deltacommit"]


def test_new_rows_join_a_small_base_file_without_logs_together_with_its_updates() -> None:
    table = merged_on_read()
    table.insert([ride(1), ride(2)])
    table.upsert([ride(2, value=8), ride(3)])
    assert [(len(file_slice.logs), file_slice.group.file_id) for file_slice in slices(table)] == [(0, slices(table)[0].group.file_id)]
    assert rows_of(table) == [ride(1), ride(2, value=8), ride(3)]


def test_new_rows_never_join_a_slice_with_logs() -> None:
    table = merged_on_read()
    table.insert([ride(1)])
    table.upsert([ride(1, value=9)])
    table.upsert([ride(1, value=10), ride(2)])
    assert sorted(logs(table)) == [0, 2]
    assert rows_of(table) == [ride(1, value=10), ride(2)]


def test_candidates_limit_of_zero_gives_new_rows_files_of_their_own() -> None:
    table = merged_on_read()
    table.insert([ride(1)])
    table.upsert([ride(1, value=2), ride(2)], {"hoodie.merge.small.file.group.candidates.limit": "0"})
    assert sorted(logs(table)) == [0, 1]


def test_large_base_file_is_not_written_again_for_few_new_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    table = merged_on_read()
    table.insert([ride(1)])
    table.insert([ride(2)])
    assert len(slices(table)) == 1
    monkeypatch.setattr(candidates, "_CHEAP_BYTES", 1000)
    table.insert([ride(3)])
    assert len(slices(table)) == 2


def test_delete_by_key_writes_a_delete_block_and_a_later_row_is_new() -> None:
    table = merged_on_read(order_by=["at"])
    table.insert([ride(1, at=5), ride(2, at=5)])
    assert table.delete([{"id": 1}]).deleted == 1
    assert rows_of(table) == [ride(2, at=5)]
    table.upsert([ride(1, at=3)])
    assert rows_of(table) == [ride(1, at=3), ride(2, at=5)]


def test_late_row_is_ignored_when_it_is_read() -> None:
    table = merged_on_read(order_by=["at"])
    table.insert([ride(1, at=5)])
    table.upsert([ride(1, value=7, at=9)])
    result = table.upsert([ride(1, value=8, at=7)])
    assert (result.updated, result.late_dropped) == (1, None)
    assert rows_of(table) == [ride(1, value=7, at=9)]


@pytest.mark.parametrize(
    ("operation", "action"),
    [
        (Operation.BULK_INSERT, "deltacommit"),
        (Operation.INSERT_OVERWRITE_TABLE, "replacecommit"),
        (Operation.INSERT_OVERWRITE, "replacecommit"),
    ],
)
def test_bulk_operations_write_base_files_as_on_other_tables(operation: Operation, action: str) -> None:
    table = merged_on_read()
    table.insert([ride(1)])
    table.upsert([ride(1, value=2)])
    write(table, operation, [ride(7)])
    assert actions(table)[-1] == action
    assert rows_of(table) == ([ride(7)] if operation.replaces else [ride(1, value=2), ride(7)])


def test_deleted_partition_takes_its_log_files_along() -> None:
    table = merged_on_read(partition_by=["city"])
    table.insert([ride(1, "oslo"), ride(2, "rome")])
    table.upsert([ride(1, "oslo", 5)])
    table.delete(partitions=["oslo"])
    assert rows_of(table) == [ride(2, "rome")]


def test_insert_that_drops_duplicates_takes_a_key_that_a_log_deleted() -> None:
    table = merged_on_read()
    table.insert([ride(1), ride(2)])
    table.delete([{"id": 1}])
    table.insert([ride(1, value=5), ride(2, value=6)], {"hoodie.datasource.write.insert.drop.duplicates": "true"})
    assert rows_of(table) == [ride(1, value=5), ride(2)]


def test_located_delete_of_rows_that_stand_in_logs() -> None:
    table = merged_on_read()
    table.insert([ride(1), ride(2), ride(3)])
    table.upsert([ride(2, value=50)])
    assert table.delete(where="value = 50").deleted == 1
    assert rows_of(table) == [ride(1), ride(3)]


def test_located_rows_conflict_with_a_log_file_written_since() -> None:
    table = merged_on_read()
    table.insert([ride(1), ride(2)])
    read_snapshot = load_timeline(table.storage, table.config).visibility
    read = table.to_arrow(filter="id = 1", meta_columns=True)
    table.upsert([ride(2, value=7)])
    with pytest.raises(ConflictError, match="run the statement again"):
        write(table, Operation.DELETE_PREPPED, read, prepped=True, read_snapshot=read_snapshot)
    assert table.count() == 2


def test_located_rows_of_one_group_do_not_conflict_with_logs_of_another() -> None:
    table = merged_on_read(partition_by=["city"])
    table.insert([ride(1, "oslo"), ride(2, "rome")])
    read_snapshot = load_timeline(table.storage, table.config).visibility
    read = table.to_arrow(filter="id = 1", meta_columns=True)
    table.upsert([ride(2, "rome", 7)])
    write(table, Operation.DELETE_PREPPED, read, prepped=True, read_snapshot=read_snapshot)
    assert rows_of(table) == [ride(2, "rome", 7)]


def test_row_that_moves_between_partitions_stands_once() -> None:
    table = merged_on_read(partition_by=["city"])
    table.insert([ride(1, "oslo"), ride(2, "oslo")])
    for city in ("rome", "oslo", "bern", "rome"):
        table.upsert([ride(1, city)], GLOBAL)
        assert rows_of(table) == [ride(1, city), ride(2, "oslo")]


@pytest.mark.parametrize("index", [{}, GLOBAL, STAYS])
def test_record_that_was_deleted_and_inserted_again_is_updated_once(index: dict[str, str]) -> None:
    table = merged_on_read(partition_by=["city"])
    table.insert([ride(1), ride(2)])
    table.delete([{"id": 1, "city": "oslo"}])
    table.insert([ride(1, value=5)])
    table.upsert([ride(1, value=6)], index)
    assert rows_of(table) == [ride(1, value=6), ride(2)]
    table.delete([{"id": 1, "city": "oslo"}], options=index)
    table.upsert([ride(1, value=7)], index)
    assert rows_of(table) == [ride(1, value=7), ride(2)]


def test_late_row_moves_nothing_also_when_the_record_stands_in_a_log() -> None:
    table = merged_on_read(partition_by=["city"], order_by=["at"])
    table.insert([ride(1, "oslo", at=1), ride(2, "oslo", at=1)])
    table.upsert([ride(1, "oslo", 3, at=9)], GLOBAL)
    result = table.upsert([ride(1, "rome", 4, at=5)], GLOBAL)
    assert rows_of(table) == [ride(1, "oslo", 3, at=9), ride(2, "oslo", at=1)]
    assert result.late_dropped == 1


def test_late_row_for_the_partition_that_the_record_left_is_ignored() -> None:
    table = merged_on_read(partition_by=["city"], order_by=["at"])
    table.insert([ride(1, "oslo", at=1), ride(2, "oslo", at=1)])
    table.upsert([ride(1, "rome", 3, at=9)], GLOBAL)
    table.upsert([ride(1, "oslo", 4, at=5)], GLOBAL)
    assert rows_of(table) == [ride(1, "rome", 3, at=9), ride(2, "oslo", at=1)]


def test_record_that_left_its_partition_is_updated_where_it_went() -> None:
    table = merged_on_read(partition_by=["city"])
    table.insert([ride(1, "oslo"), ride(2, "oslo")])
    table.upsert([ride(1, "rome", 3)], GLOBAL)
    table.upsert([ride(1, "oslo", 4)], STAYS)
    assert [row["value"] for row in rows_of(table) if row["id"] == 1] == [4]
    assert len(rows_of(table)) == 2


@pytest.mark.parametrize("blocks", ["avro", "parquet"])
def test_positions_of_unknown_and_doubled_keys_leave_rows_right(blocks: str) -> None:
    table = merged_on_read()
    table.insert([ride(1), ride(1), ride(2), ride(3)])
    table.upsert([ride(1, value=5), ride(3, value=6)], {"hoodie.logfile.data.block.format": blocks})
    assert rows_of(table) == [ride(1, value=5), ride(1, value=5), ride(2), ride(3, value=6)]


@pytest.mark.parametrize("index", ["SIMPLE", "GLOBAL_SIMPLE", "BLOOM", "GLOBAL_BLOOM"])
def test_keys_in_a_group_of_log_files_only_are_found_by_every_index(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stated, "differences", lambda *_: ())  # as if no commit had written the base file
    table, listed = merged_on_read(), {"hoodie.metadata.enable": "false"}
    table.insert([ride(1)], options=listed)
    table.upsert([ride(1, value=2)], options=listed)
    (file_slice,) = slices(table)
    assert file_slice.base is not None
    table.storage.delete(file_slice.base.path)
    table.upsert([ride(1, value=3), ride(2, value=3)], options={**listed, "hoodie.index.type": index})
    assert rows_of(table) == [ride(1, value=3), ride(2, value=3)]


def test_logs_beyond_the_limit_of_a_read_are_merged_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    table = merged_on_read()
    table.insert([ride(n) for n in range(9)])
    table.upsert([ride(n, value=n) for n in range(6)])
    whole, parts = rows_of(table), []
    counted = slice_cache.slice_delta  # type: ignore[attr-defined]

    def noted(storage: Any, context: Any, task: Any) -> Any:
        parts.append(task.part[1])
        return counted(storage, context, task)

    monkeypatch.setattr(slice_cache, "slice_delta", noted)
    monkeypatch.setattr(query_type, "LEAST_MERGE_BYTES", 1)
    rows = table.to_arrow(options={"hoodie.memory.merge.max.size": "4000"}).to_pylist()
    assert by_id(rows) == whole
    assert len(parts) == parts[0] > 1


def test_the_least_merge_size_leaves_few_parts() -> None:
    assert query_type.snapshot_query(resolve({"hoodie.memory.merge.max.size": "5"})).slice_bytes >= 1 << 18
