"""Packing and planning: pure functions of counts, files and limits."""

from __future__ import annotations

import itertools

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyhudi.index.rows import TaggedRows
from pyhudi.kernels.base_file.base_file import WriterSettings
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice, LogFile
from pyhudi.spec.files.file_names import BaseFileName, LogFileName
from pyhudi.write.plan.insert_placement import pack_inserts, record_bytes, spread_inserts
from pyhudi.write.plan.workload_profile import PartitionProfile, Profile, inflight_metadata
from pyhudi.write.plan.write_plan import Sizing, plan_write

SETTINGS = WriterSettings(max_file_bytes=1000, small_file_bytes=800)
INSTANT = "20260101000000000"


def file(name: str, size: int, partition: str = "p") -> BaseFile:
    return BaseFile(partition, BaseFileName(name, "0-0-0", "20250101000000000"), size)


def slice_of(base: BaseFile, *logs: str) -> FileSlice:
    group = FileGroupId(base.partition_path, base.name.file_id)
    files = tuple(LogFile(group.partition_path, LogFileName(group.file_id, instant, 1, "0-0-0"), 10) for instant in logs)
    return FileSlice(group, base.name.instant, base, files)


def new_ids():
    return (f"new{n}" for n in itertools.count()).__next__


def plan(profile: Profile, operation: Operation, files=(), row_bytes: float = 10.0):
    prefixes = (f"u{n}" for n in itertools.count())
    return plan_write(profile, operation, INSTANT, Sizing({"p": files}, row_bytes, SETTINGS), prefixes.__next__)


def test_small_files_are_filled_the_smallest_first_then_new_groups_come() -> None:
    files = [file("big", 800), file("b", 700), file("a", 500)]
    groups = pack_inserts(200, files, 10.0, SETTINGS, new_ids())
    assert [(group.file_id, group.count) for group in groups] == [("a", 50), ("b", 30), ("new0", 100), ("new1", 20)]


def test_small_file_limit_of_zero_turns_packing_off() -> None:
    settings = WriterSettings(max_file_bytes=1000, small_file_bytes=0)
    assert [g.file_id for g in pack_inserts(5, [file("a", 1)], 10.0, settings, new_ids())] == ["new0"]


def test_row_larger_than_a_file_still_gets_one() -> None:
    assert [group.count for group in pack_inserts(2, [], 5000.0, SETTINGS, new_ids())] == [1, 1]


@given(st.integers(0, 10**6), st.lists(st.integers(0, 2000), max_size=8), st.floats(1, 5000))
def test_every_insert_gets_a_place_and_no_group_comes_twice(count, sizes, row_bytes) -> None:
    files = [file(f"f{n}", size) for n, size in enumerate(sizes)]
    groups = pack_inserts(count % 5000, files, row_bytes, SETTINGS, new_ids())
    assert sum(group.count for group in groups) == count % 5000
    assert len({group.file_id for group in groups}) == len(groups)
    assert all(group.count > 0 for group in groups)


@given(st.integers(0, 5000), st.floats(1, 5000))
@example(1, 1001.0)
def test_bulk_groups_are_as_few_as_allowed_and_of_equal_size(count, row_bytes) -> None:
    counts = [group.count for group in spread_inserts(count, row_bytes, SETTINGS, new_ids())]
    assert sum(counts) == count
    assert all(number > 0 for number in counts)
    assert not counts or max(counts) - min(counts) <= 1
    assert not counts or (len(counts) - 1) * SETTINGS.max_file_bytes < count * row_bytes


def test_group_with_updates_takes_inserts_in_the_same_task() -> None:
    small = file("a", 500)
    write = plan(Profile({"p": PartitionProfile(inserts=60, updates={slice_of(small): 7})}), Operation.UPSERT, [small])
    assert [(b.task.file_id, b.updates, b.inserts) for b in write.assignments] == [("a", 7, 50), ("u0-0", 0, 10)]
    assert [b.task.base for b in write.assignments] == [small, None]
    assert [b.task.write_token for b in write.assignments] == ["0-0-0", "1-0-0"]


@pytest.mark.parametrize(
    ("operation", "ids", "appends"),
    [
        (Operation.INSERT, ["a", "u0-0"], True),
        (Operation.UPSERT, ["a", "u0-0"], False),
        (Operation.BULK_INSERT, ["u0-0"], True),
        (Operation.INSERT_OVERWRITE, ["u0-0"], True),
    ],
)
def test_operation_decides_whether_small_files_are_filled_and_keys_may_repeat(operation, ids, appends) -> None:
    write = plan(Profile({"p": PartitionProfile(inserts=60)}), operation, [file("a", 500)])
    assert [bucket.task.file_id for bucket in write.assignments] == ids
    assert all(bucket.task.append_only is appends for bucket in write.assignments)


def test_bulk_file_ids_number_one_prefix() -> None:
    write = plan(Profile({"p": PartitionProfile(inserts=250)}), Operation.BULK_INSERT)
    assert [bucket.task.file_id for bucket in write.assignments] == ["u0-0", "u0-1", "u0-2"]


def test_inflight_metadata_counts_inserts_first_then_each_group() -> None:
    profile = Profile({"p": PartitionProfile(3, {slice_of(file("a", 1)): 2})})
    metadata = inflight_metadata(profile, Operation.UPSERT)
    inserts, updates = metadata.stats["p"]
    assert (inserts.file_id, inserts.num_inserts, inserts.prev_commit) == ("", 3, "null")
    assert (updates.file_id, updates.num_update_writes, updates.prev_commit) == ("a", 2, "20250101000000000")
    assert metadata.extra_metadata == {}


def tagged(rows: int) -> list[TaggedRows]:
    return [TaggedRows("p", (), pa.table({"_hoodie_record_key": [str(n) for n in range(rows)]}))]


def commit(size: int, records: int) -> CommitMetadata:
    return CommitMetadata({"p": (WriteStat("a", "p/a", num_writes=records, total_write_bytes=size),)})


def test_record_size_comes_from_a_commit_that_wrote_enough() -> None:
    assert record_bytes(commit(8000, 100), tagged(5), SETTINGS, threshold=1.0) == 80.0


def test_record_size_of_a_small_commit_is_not_believed() -> None:
    assert record_bytes(commit(700, 1), tagged(5000), SETTINGS, threshold=1.0) < 100


def test_record_size_of_a_write_without_new_records_is_positive() -> None:
    assert record_bytes(None, [], SETTINGS, threshold=1.0) > 0
