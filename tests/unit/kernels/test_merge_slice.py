"""File slices with logs: positions, duplicates, filters, parts, counts, damage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.kernels.base_file.base_file import RecordContext
from pyhudi.kernels.merge.merge_slice import MergeCounts, count_merged, iter_merged
from pyhudi.kernels.merge.slice_delta import slice_delta
from pyhudi.merge.partial_update import Record
from pyhudi.spec.files.delete_record import COMMIT_TIME_DELETE
from pyhudi.spec.files.log_block import BlockType
from pyhudi.spec.table.merge_mode import MergeMode
from tests.unit.kernels.conftest import FIRST, SMALL_FILTER, record_context_of
from tests.unit.kernels.log_tables import LoggedSlice, Row

SCHEMA = pa.schema({"ts": pa.int64(), "n": pa.int64()})
AVRO = BlockType.AVRO


def row(key: str, n: int, ts: int | None = 1) -> Row:
    return {"_hoodie_record_key": key, "ts": ts, "n": n}


def by_commit_time(*base: Row) -> LoggedSlice:
    made = LoggedSlice(record_context_of(SCHEMA))
    made.write_base(base)
    return made


def by_event_time(*base: Row) -> LoggedSlice:
    made = LoggedSlice(record_context_of(SCHEMA, ["ts"]))
    made.write_base(base)
    return made


def read(made: LoggedSlice, condition: pc.Expression | None = None, **more: Any) -> list[tuple[str, int]]:
    batches = iter_merged(made.storage, made.context, made.task(columns=("_hoodie_record_key", "n")), condition, **more)
    return sorted((entry["_hoodie_record_key"], entry["n"]) for batch in batches for entry in batch.to_pylist())


def test_an_update_stands_once_for_each_base_row_of_its_key() -> None:
    made = by_commit_time(row("a", 1), row("b", 2), row("a", 3))
    made.add_log(made.data_block(AVRO, [row("a", 9)]))
    assert read(made) == [("a", 9), ("a", 9), ("b", 2)]


def test_a_record_that_comes_late_after_a_delete_statement_is_new() -> None:
    made = by_event_time(row("a", 1, ts=10))
    made.add_log(made.delete_block([("a", COMMIT_TIME_DELETE)]), made.data_block(AVRO, [row("a", 2, ts=5)]))
    assert read(made) == [("a", 2)]


def test_a_delete_with_a_smaller_ordering_value_than_the_base_row_is_late() -> None:
    made = by_event_time(row("a", 1, ts=10))
    made.add_log(made.delete_block([("a", 5)]))
    delta = slice_delta(made.storage, made.context, made.task())
    assert (read(made), delta.late, len(delta.masked)) == ([("a", 1)], 1, 0)


def test_positions_stand_for_keys_when_they_are_of_the_slices_base_file() -> None:
    made = by_commit_time(row("a", 1), row("b", 2))
    made.add_log(made.data_block(AVRO, [row("b", 9)], positions=[1]))
    assert slice_delta(made.storage, made.context, made.task()).masked.to_pylist() == [1]


def test_the_key_column_of_the_base_file_is_not_read_when_all_records_are_placed() -> None:
    made = by_commit_time(row("a", 1), row("b", 2))
    made.add_log(made.data_block(AVRO, [row("unheard of", 9)], positions=[1]))
    assert read(made) == [("a", 1), ("unheard of", 9)]


def test_positions_of_another_base_file_do_not_count() -> None:
    made = by_commit_time(row("a", 1), row("b", 2))
    made.add_log(made.data_block(AVRO, [row("b", 9)], positions=[0], positions_of="20250101000000000"))
    assert read(made) == [("a", 1), ("b", 9)]


def test_blocks_with_and_without_positions_are_merged_with_each_other() -> None:
    made = by_commit_time(row("a", 1), row("b", 2), row("c", 3))
    made.add_log(made.data_block(AVRO, [row("a", 8), row("b", 8)], positions=[0, 1]))
    made.add_log(made.data_block(AVRO, [row("b", 9), row("d", 9)]))
    assert read(made) == [("a", 8), ("b", 9), ("c", 3), ("d", 9)]


def test_a_position_behind_the_end_of_the_base_file_is_damage() -> None:
    made = by_commit_time(row("a", 1))
    made.add_log(made.data_block(AVRO, [row("a", 9)], positions=[7]))
    with pytest.raises(CorruptTableError, match="row 7"):
        read(made)
    with pytest.raises(CorruptTableError, match="row 7"):
        count_merged(made.storage, made.context, made.task())


def test_fewer_positions_than_records_are_damage() -> None:
    made = by_commit_time(row("a", 1), row("b", 2))
    made.add_log(made.data_block(AVRO, [row("a", 8), row("b", 8)], positions=[0]))
    with pytest.raises(CorruptTableError, match=r"log\.1_0-1-2.*block at byte 0"):
        read(made)


def test_a_filter_that_skips_row_groups_masks_the_right_rows() -> None:
    made = LoggedSlice(record_context_of(SCHEMA))
    made.write_base([row(f"k{number:04d}", number) for number in range(5000)], replace(SMALL_FILTER, row_group_bytes=50_000))
    assert made.base is not None
    assert pq.ParquetFile(made.storage.open_input(made.base.path)).num_row_groups > 3
    made.add_log(made.data_block(AVRO, [row("k4000", -1), row("k4500", 4999)]))
    assert read(made, pc.field("n") > 4997) == [("k4500", 4999), ("k4998", 4998), ("k4999", 4999)]
    assert read(made, (pc.field("n") == 2000) | ((pc.field("n") >= 4000) & (pc.field("n") < 4002))) == [("k2000", 2000), ("k4001", 4001)]


def test_placed_blocks_are_counted_without_their_contents() -> None:
    made = by_commit_time(row("a", 1), row("b", 2), row("c", 3))
    blocks = [
        made.data_block(AVRO, [row("a", 9), row("b", 9)], positions=[0, 1]),
        made.delete_block([("a", COMMIT_TIME_DELETE), ("c", COMMIT_TIME_DELETE)], positions=[0, 2]),
        made.data_block(AVRO, [row("a", 10)], positions=[0]),
    ]
    intact = by_commit_time(row("a", 1), row("b", 2), row("c", 3))
    intact.add_log(*blocks)
    assert count_merged(intact.storage, intact.context, intact.task()) == len(read(intact)) == 2
    # The first record's length becomes -1: whoever reads the content fails.
    damaged = blocks[0].replace(b"\0\0\0\3\0\0\0\2\0\0\0", b"\0\0\0\3\0\0\0\2\xff\xff\xff")
    assert damaged != blocks[0]
    made.add_log(damaged, *blocks[1:])
    assert count_merged(made.storage, made.context, made.task()) == 2
    with pytest.raises(CorruptTableError):
        read(made)


def test_ordered_deletes_are_counted_by_their_values_although_they_are_placed() -> None:
    made = by_event_time(row("a", 1, ts=10), row("b", 2, ts=10))
    made.add_log(made.delete_block([("a", 5), ("b", 15)], positions=[0, 1]))
    assert count_merged(made.storage, made.context, made.task()) == len(read(made)) == 1


def test_a_change_log_in_the_slice_is_passed_over() -> None:
    made = by_commit_time(row("a", 1))
    made.add_log(made.data_block(AVRO, [row("a", 9)]))
    made.logs[0] = replace(made.logs[0], name=replace(made.logs[0].name, suffix="-cdc"))
    assert read(made) == [("a", 1)]


def test_what_was_merged_is_counted() -> None:
    made = by_commit_time(row("a", 1), row("b", 2), row("c", 3))
    made.add_log(made.data_block(AVRO, [row("a", 9), row("x", 9)]), made.delete_block([("c", COMMIT_TIME_DELETE)]))
    counts = MergeCounts()
    list(iter_merged(made.storage, made.context, made.task(), limit_bytes=100, counts=counts))
    assert (counts.updates, counts.inserts, counts.deletes, counts.log_records) == (1, 1, 1, 3)


def test_a_slice_without_base_file_is_its_logs() -> None:
    made = LoggedSlice(record_context_of(SCHEMA))
    made.add_log(made.data_block(AVRO, [row("a", 1), row("b", 2)]), made.delete_block([("a", COMMIT_TIME_DELETE)]))
    assert (read(made), count_merged(made.storage, made.context, made.task())) == ([("b", 2)], 1)


@dataclass(frozen=True)
class Sum:
    """Adds the numbers up."""

    def merge(self, older: Record, newer: Record) -> Record | None:
        return {**newer, "n": older["n"] + newer["n"]}


def summing(*base: Row) -> LoggedSlice:
    plain = record_context_of(SCHEMA)
    context = RecordContext("t", SCHEMA, plain.avro_schema_json, (), MergeMode.CUSTOM, merger=Sum())
    made = LoggedSlice(context)
    made.write_base(base)
    return made


def test_a_merger_sees_each_version_once_after_the_other() -> None:
    made = summing(row("a", 1))
    made.add_log(made.data_block(AVRO, [row("a", 2), row("a", 3)]), made.data_block(AVRO, [row("b", 5)]))
    assert read(made) == [("a", 6), ("b", 5)]


def test_a_merger_does_not_see_the_rows_of_a_repeated_attempt_twice() -> None:
    made = summing(row("a", 1))
    made.add_log(made.data_block(AVRO, [row("a", 2)], attempt="0,0"), made.data_block(AVRO, [row("a", 2)], attempt="1,0"))
    assert read(made) == [("a", 3)]


def test_equal_rows_of_two_commits_are_both_merged() -> None:
    made = summing(row("a", 1))
    made.add_log(made.data_block(AVRO, [row("a", 2)], attempt="0,0"))
    later = str(int(FIRST) + 1)
    made.add_log(made.data_block(AVRO, [row("a", 2)], attempt="1,0", instant=later), instant=later)
    assert read(made) == [("a", 5)]


def test_memory_follows_the_limit_and_not_the_logs() -> None:
    made = by_commit_time(row("a", 1))
    for number in range(8):
        rows = [row(f"key{number}-{index:05d}-{'x' * 60}", index) for index in range(4000)]
        made.add_log(made.data_block(BlockType.PARQUET, rows))
    size = sum(log.size for log in made.logs)

    def peak(limit_bytes: int) -> int:
        before, most, total = pa.total_allocated_bytes(), 0, 0
        for batch in iter_merged(made.storage, made.context, made.task(), limit_bytes=limit_bytes):
            most = max(most, pa.total_allocated_bytes() - before)
            total += batch.num_rows
        assert total == 32_001
        return most

    assert peak(size // 8) < peak(size) / 3
