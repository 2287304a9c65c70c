"""Which buckets are split and which are merged."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import replace

import pytest

from pyhudi.errors import CorruptTableError, UnsupportedError
from pyhudi.index.bucket_resizing import Tag
from pyhudi.index.consistent_hashing import HashingMetadata, file_id_of
from pyhudi.service.clustering.clustering_settings import ClusteringSettings, clustering_settings
from pyhudi.service.clustering.resize_plan import resizings
from pyhudi.service.clustering.rewrite_plan import parse_plan
from pyhudi.service.clustering.rewrite_settings import rewrite_settings
from pyhudi.service.run_mode import RunMode
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringPlan, ClusteringSlice, Strategy
from pyhudi.spec.files.file_group import BaseFile, FileGroupId, FileSlice
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.spec.options import resolve

SETTINGS = ClusteringSettings(
    mode=RunMode.OFF,
    due_commits=4,
    expires_after_minutes=None,
    most_buckets=8,
    least_buckets=1,
    split_bytes=200,
    merge_bytes=20,
    most_groups=30,
    default_base_bytes=100,
    hash_fields=None,
    resizes=True,
    rewrite=rewrite_settings(resolve({})),
)


def hashing_of(count: int) -> HashingMetadata:
    return HashingMetadata(
        tuple(range(1000, 1000 * count + 1, 1000)), tuple(str(uuid.UUID(int=index)) for index in range(count)), first_count=count
    )


def planned(sizes: list[int | None], settings: ClusteringSettings = SETTINGS) -> list[tuple[list[int], list[tuple[int, Tag]]]]:
    """What becomes of buckets of these sizes, None for one without rows: indices, and nodes."""
    hashing, numbers = hashing_of(len(sizes)), itertools.count(100)
    slices = []
    for prefix, size in zip(hashing.prefixes, sizes, strict=True):
        if size is not None:
            name = BaseFileName(file_id_of(prefix), "0-0-0", "20260101000000000")
            slices.append(FileSlice(FileGroupId("p", file_id_of(prefix)), name.instant, BaseFile("p", name, size)))
    result = resizings(hashing, slices, settings, lambda: str(uuid.UUID(int=next(numbers))))
    indices = {file_id_of(prefix): index for index, prefix in enumerate(hashing.prefixes)}
    return [
        ([indices[file_slice.group.file_id] for file_slice in one.slices], [(node.value, node.tag) for node in one.nodes]) for one in result
    ]


def test_a_bucket_above_the_threshold_is_split() -> None:
    assert [indices for indices, _ in planned([201, 200])] == [[0]]
    assert planned([200, 100]) == []


def test_no_more_buckets_than_allowed_and_the_largest_come_first() -> None:
    three = replace(SETTINGS, most_buckets=4)
    assert [indices for indices, _ in planned([300, 500, 400], three)] == [[1]]
    assert [indices for indices, _ in planned([300, 500, 400], replace(SETTINGS, most_buckets=5))] == [[1], [2]]
    for most in (None, 2):
        assert planned([300, 500, 400], replace(SETTINGS, most_buckets=most)) == []


def test_small_neighbours_are_merged_and_the_last_one_of_a_run_gives_the_end() -> None:
    assert planned([50, 5, 6, 50]) == [([1, 2], [(2000, Tag.DELETE), (3000, Tag.REPLACE)])]
    assert planned([5, 50, 6, 50]) == []


def test_a_run_wraps_around_the_hash_space() -> None:
    assert planned([5, 50, 50, 6]) == [([3, 0], [(4000, Tag.DELETE), (1000, Tag.REPLACE)])]


def test_a_run_may_take_all_buckets_but_not_twice() -> None:
    assert planned([5, 5]) == [([1, 0], [(2000, Tag.DELETE), (1000, Tag.REPLACE)])]
    assert planned([5]) == []


def test_a_run_ends_once_it_is_larger_than_the_threshold() -> None:
    assert [indices for indices, _ in planned([50, 15, 15, 15, 15, 50])] == [[1, 2], [3, 4]]


def test_no_fewer_buckets_than_allowed() -> None:
    assert [indices for indices, _ in planned([50, 1, 1, 1, 1, 50], replace(SETTINGS, least_buckets=4))] == [[1, 2, 3]]
    assert planned([50, 1, 1, 1, 1, 50], replace(SETTINGS, least_buckets=None)) == []


def test_splits_make_room_for_merges() -> None:
    result = planned([300, 1, 1, 1, 50], replace(SETTINGS, least_buckets=5))
    assert [indices for indices, _ in result] == [[0], [1, 2]]


def test_buckets_without_rows_part_runs() -> None:
    assert planned([50, 5, None, 5, 50]) == []


def test_sizes_go_by_the_largest_file() -> None:
    options = {"hoodie.parquet.max.file.size": "1000", "hoodie.bucket.index.split.threshold": "1.5"}
    settings = clustering_settings(resolve(options))
    assert (settings.split_bytes, settings.merge_bytes, settings.most_groups) == (1500, 200, 30)


def test_other_clustering_is_refused_by_name() -> None:
    for key in ("hoodie.clustering.plan.strategy.class", "hoodie.clustering.execution.strategy.class"):
        with pytest.raises(UnsupportedError, match=r"com.example.Mine.* is not served.*SparkS"):
            clustering_settings(resolve({key: "com.example.Mine"}))


SLICE = ClusteringSlice("f-0", "p", "p/f-0_0-0-0_20260101000000000.parquet", (), "")


@pytest.mark.parametrize(
    ("groups", "what"),
    [([(SLICE, SLICE)], "holds file group f-0 of partition 'p' twice"), ([(SLICE,), (SLICE,)], "more than one group of the plan")],
)
def test_a_plan_that_holds_a_file_group_twice_is_damaged(groups: list[tuple[ClusteringSlice, ...]], what: str) -> None:
    """Its rows would be in the table twice."""
    content = ClusteringPlan(tuple(ClusteringGroup(slices, {}, 1) for slices in groups), Strategy("x", {}), preserve_meta_columns=True)
    with pytest.raises(CorruptTableError, match=what):
        parse_plan(content)
