"""One task: a new file, a merge into a file, deletes, late rows, what is left behind and reported."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pytest

from pyhudi.errors import AlreadyExistsError, KeyFieldError, SchemaError
from tests.unit.kernels.conftest import FIRST, SECOND, SMALL_FILTER, Group, keyed, record_context_of

ROWS = keyed(pa.table({"id": [1, 2, 3], "v": ["a", "b", "c"]}))
EVENT = record_context_of(pa.schema({"id": pa.int64(), "ts": pa.int64(), "v": pa.string()}), ["ts"])


def values(group: Group) -> dict[int, str]:
    return {row["id"]: row["v"] for row in group.read(["id", "v"])}


def test_new_file_has_meta_columns_first_and_is_reported_as_a_new_group(group: Group) -> None:
    result = group.write(ROWS)
    name = "f1-0_0-1-2_20260101000000000.parquet"
    assert group.read(meta_columns=True)[1] == {
        "_hoodie_commit_time": FIRST,
        "_hoodie_commit_seqno": f"{FIRST}_0_1",
        "_hoodie_record_key": "2",
        "_hoodie_partition_path": "",
        "_hoodie_file_name": name,
        "id": 2,
        "v": "b",
    }
    stat = result.stat
    assert (stat.file_id, stat.path, stat.prev_commit, stat.prev_base_file) == ("f1-0", name, "null", None)
    assert (stat.num_writes, stat.num_inserts, stat.num_update_writes, stat.num_deletes) == (3, 3, 0, 0)
    size = group.storage.stat(name)
    assert size is not None
    assert stat.file_size_in_bytes == stat.total_write_bytes == size.size


def test_marker_and_partition_metafile_stand_beside_the_file(group: Group) -> None:
    group.partition = "a/b"
    result = group.write(ROWS)
    assert group.storage.read(f".hoodie/.temp/{FIRST}/{result.file}.marker.CREATE") == b""
    metafile = group.storage.read("a/b/.hoodie_partition_metadata").decode()
    assert f"commitTime={FIRST}" in metafile
    assert "partitionDepth=2" in metafile
    result = group.write(ROWS)
    assert group.storage.read(f".hoodie/.temp/{SECOND}/{result.file}.marker.MERGE") == b""
    assert group.storage.read("a/b/.hoodie_partition_metadata").decode() == metafile


def test_merge_replaces_inserts_and_keeps(group: Group) -> None:
    group.write(ROWS)
    result = group.write(keyed(pa.table({"id": [9, 2], "v": ["new", "B"]})))
    assert values(group) == {1: "a", 2: "B", 3: "c", 9: "new"}
    stat = result.stat
    assert (stat.num_writes, stat.num_inserts, stat.num_update_writes) == (4, 1, 1)
    assert (stat.prev_commit, stat.prev_base_file) == (FIRST, "f1-0_0-1-2_20260101000000000.parquet")


def test_rows_that_a_merge_carries_over_keep_commit_time_and_seqno_but_not_the_file_name(group: Group) -> None:
    group.write(ROWS)
    group.write(keyed(pa.table({"id": [2], "v": ["B"]})))
    rows = {row["id"]: row for row in group.read(meta_columns=True)}
    assert (rows[1]["_hoodie_commit_time"], rows[1]["_hoodie_commit_seqno"]) == (FIRST, f"{FIRST}_0_0")
    assert (rows[2]["_hoodie_commit_time"], rows[2]["_hoodie_commit_seqno"]) == (SECOND, f"{SECOND}_1_0")
    assert {row["_hoodie_file_name"] for row in rows.values()} == {"f1-0_1-1-2_20260101000000001.parquet"}


def test_rows_marked_for_deletion_need_nothing_but_their_key(group: Group) -> None:
    group.write(ROWS)
    doomed = pa.table({"_hoodie_record_key": ["1", "77"], "_pyhudi_delete": [True, True]})
    result = group.write(doomed)
    assert values(group) == {2: "b", 3: "c"}
    assert (result.stat.num_deletes, result.stat.num_writes, result.stat.num_inserts) == (1, 2, 0)


def test_group_left_without_rows_still_has_a_file(group: Group) -> None:
    group.write(ROWS)
    result = group.write(pa.table({"_hoodie_record_key": ["1", "2", "3"], "_pyhudi_delete": [True] * 3}))
    assert group.read() == []
    assert result.stat.num_writes == 0


def test_append_only_keeps_rows_of_the_same_key(group: Group) -> None:
    group.write(ROWS)
    result = group.write(ROWS, append_only=True)
    assert sorted(row["id"] for row in group.read()) == [1, 1, 2, 2, 3, 3]
    assert (result.stat.num_inserts, result.stat.num_update_writes) == (3, 0)


def test_update_reaches_every_stored_row_of_its_key(group: Group) -> None:
    group.write(ROWS)
    group.write(ROWS, append_only=True)
    result = group.write(keyed(pa.table({"id": [2], "v": ["B"]})))
    assert sorted(row["v"] for row in group.read()) == ["B", "B", "a", "a", "c", "c"]
    assert result.stat.num_update_writes == 2


def test_late_row_is_ignored_and_counted() -> None:
    group = Group(EVENT)
    group.write(keyed(pa.table({"id": [1, 2], "ts": [5, 5], "v": ["a", "b"]})))
    result = group.write(keyed(pa.table({"id": [1, 2], "ts": [4, 5], "v": ["late", "B"]})))
    assert values(group) == {1: "a", 2: "B"}
    assert (result.late_dropped, result.stat.num_update_writes) == (1, 1)


def test_delete_by_commit_time_wins_over_any_ordering_value() -> None:
    group = Group(EVENT)
    group.write(keyed(pa.table({"id": [1], "ts": [5], "v": ["a"]})))
    group.write(pa.table({"_hoodie_record_key": ["1"], "_pyhudi_delete": [True]}))
    assert values(group) == {}


@pytest.mark.parametrize(("ts", "left"), [(4, [1]), (5, [])])
def test_row_that_marks_itself_deleted_carries_its_ordering_value(ts: int, left: list[int]) -> None:
    schema = pa.schema({"id": pa.int64(), "ts": pa.int64(), "_hoodie_is_deleted": pa.bool_()})
    group = Group(record_context_of(schema, ["ts"]))
    group.write(keyed(pa.table({"id": [1], "ts": [5], "_hoodie_is_deleted": pa.array([None], pa.bool_())})))
    group.write(keyed(pa.table({"id": [1], "ts": [ts], "_hoodie_is_deleted": [True]})))
    assert [row["id"] for row in group.read()] == left


def test_delete_marker_of_a_column_deletes() -> None:
    schema = pa.schema({"id": pa.int64(), "op": pa.string()})
    group = Group(record_context_of(schema, delete_field="op", delete_marker="D"))
    group.write(keyed(pa.table({"id": [1, 2], "op": ["I", "D"]})))
    group.write(keyed(pa.table({"id": [1], "op": ["D"]})))
    assert group.read() == []


def test_batches_that_come_one_by_one_give_the_same_file_as_a_table(group: Group) -> None:
    group.write(ROWS.to_batches(max_chunksize=1))
    assert values(group) == {1: "a", 2: "b", 3: "c"}
    assert [row["_hoodie_commit_seqno"][-2:] for row in group.read(meta_columns=True)] == ["_0", "_1", "_2"]


def test_column_added_to_the_table_is_null_in_the_rows_carried_over(group: Group) -> None:
    group.write(ROWS)
    group.context = record_context_of(pa.schema({"id": pa.int64(), "v": pa.string(), "w": pa.float64()}))
    group.write(keyed(pa.table({"id": [2], "v": ["B"], "w": [0.5]})))
    assert {row["id"]: row["w"] for row in group.read()} == {1: None, 2: 0.5, 3: None}


def test_file_that_exists_is_not_written_again(group: Group) -> None:
    group.write(ROWS)
    again = replace(group, base=None, writes=0)
    with pytest.raises(AlreadyExistsError):
        again.write(ROWS)


def test_null_key_is_refused(group: Group) -> None:
    with pytest.raises(KeyFieldError, match="_hoodie_record_key"):
        group.write(pa.table({"_hoodie_record_key": ["1", None], "id": [1, 2], "v": ["a", "b"]}))


def test_value_that_does_not_fit_leaves_no_file_behind(group: Group) -> None:
    with pytest.raises(SchemaError, match="Column 'id'"):
        group.write(pa.table({"_hoodie_record_key": ["1"], "id": ["x"], "v": ["a"]}))
    assert not [status for status in group.storage.list("") if status.name.endswith(".parquet")]


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_error_behind_the_first_row_group_leaves_no_file_and_no_writer_behind(group: Group) -> None:
    def rows() -> Iterator[pa.RecordBatch]:
        yield from ROWS.to_batches()
        raise RuntimeError("no more rows")

    group.settings = replace(SMALL_FILTER, row_group_bytes=1)
    with pytest.raises(RuntimeError, match="no more rows"):
        group.write(rows())
    gc.collect()
    assert not [status for status in group.storage.list("") if status.name.endswith(".parquet")]
