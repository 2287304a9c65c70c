"""Resizing buckets of consistent hashing: rows stay as they are, and are found where the new metadata says."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from pyhudi.codec.actions.plan_codec import encode_clustering_plan
from pyhudi.errors import ConflictError, CorruptTableError, OptionError, UnsupportedError, UsageError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.index.bucket_resizing import Node, Tag
from pyhudi.index.consistent_hashing import HashingMetadata, hashing_metadata_file, load_hashing_metadata, render_hashing_metadata
from pyhudi.kernels.arrays.bucket_hash import bucket_indices, consistent_hashes
from pyhudi.service.clustering.clustering_settings import clustering_settings
from pyhudi.service.clustering.resize_plan import Resizing, clustering_plan
from pyhudi.spec.actions.clustering import ClusteringPlan, ClusteringSlice, Strategy
from pyhudi.spec.actions.clustering_slices import render_slice
from pyhudi.spec.files.file_group import FileSlice
from pyhudi.spec.instant import Action
from pyhudi.spec.options import resolve
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.create_new_table import create_table
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.clock import SystemClock
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.write_instant import TimelineWriter
from tests.unit.table.tables import copy_of

SCHEMA = pa.schema({"id": pa.int64(), "kind": pa.string(), "value": pa.int64(), "day": pa.string()})
CONSISTENT_HASHING = {
    "hoodie.index.type": "BUCKET",
    "hoodie.index.bucket.engine": "CONSISTENT_HASHING",
    "hoodie.bucket.index.num.buckets": "2",
}
QUIET = {"hoodie.compact.inline": "false"}
SPLIT = {"hoodie.bucket.index.max.num.buckets": "4", "hoodie.parquet.max.file.size": "2000"}
MERGE = {"hoodie.bucket.index.min.num.buckets": "1"}


def rows(first: int, end: int, value: int) -> pa.Table:
    numbers = range(first, end)
    columns = {"id": list(numbers), "kind": [f"k{n % 3}" for n in numbers], "value": [value] * len(numbers)}
    return pa.table({**columns, "day": ["d1" if n % 2 else "d2" for n in numbers]}, schema=SCHEMA)


def empty(keys: tuple[str, ...] = ("id",), by: tuple[str, ...] = (), table_type: str = "MERGE_ON_READ", version: str = "9") -> HudiTable:
    storage, options = MemoryStorage(), {"hoodie.write.table.version": version}
    create_table(
        storage,
        SCHEMA,
        name="t",
        keys=keys,
        partition_by=by,
        order_by=["value"],
        table_type=table_type,
        options=options,
        clock=SystemClock(),
    )
    return HudiTable(storage)


def make(version: str = "9", **options: str) -> HudiTable:
    return copy_of(_made(version, tuple(options.items())))


@functools.cache
def _made(version: str, options: tuple[tuple[str, str], ...]) -> HudiTable:
    table = empty(by=("day",), version=version)
    given = {**QUIET, **{name.replace("__", "."): value for name, value in options}}
    table.upsert(rows(0, 60, 1), {**CONSISTENT_HASHING, **given})
    table.upsert(rows(5, 25, 2), given)
    table.delete(rows(7, 9, 3), options=given)
    return table


def state(table: HudiTable) -> list[dict[str, Any]]:
    """The rows with commit times, sequence numbers and keys, which a resizing keeps."""
    retained = ["_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", *SCHEMA.names]
    result: list[dict[str, Any]] = table.to_arrow(meta_columns=True).select(retained).sort_by("id").to_pylist()
    return result


def hashing(table: HudiTable, path: str) -> HashingMetadata:
    result = load_hashing_metadata(FileSystemView(table.storage, table.config, load_timeline(table.storage, table.config)), path)
    assert result is not None
    return result


def check_places(table: HudiTable) -> None:
    table_rows = table.to_arrow(meta_columns=True)
    for path in set(table_rows["_hoodie_partition_path"].to_pylist()):
        present = table_rows.filter(pa.compute.field("_hoodie_partition_path") == path)
        now = hashing(table, path)
        indices = bucket_indices(now.values, consistent_hashes(present["_hoodie_record_key"].combine_chunks(), ["id"])).tolist()
        groups = [name.partition("_")[0] for name in present["_hoodie_file_name"].to_pylist()]
        assert groups == [now.file_ids[index] for index in indices]


@pytest.mark.parametrize("version", ["9", pytest.param("8", marks=pytest.mark.slow), "6"])
def test_rows_stay_as_they_are_through_split_and_merge(version: str) -> None:
    table = make(version, hoodie__metadata__record__index__enable="true")
    before, commits = state(table), len(table.history())
    (done,) = table.services.cluster(options=SPLIT)
    assert (done.state, done.partitions, done.splits, done.merged, done.rows) == ("completed", 2, 4, 0, 58)
    assert state(table) == before
    assert [len(hashing(table, path).values) for path in ("d1", "d2")] == [4, 4]
    check_places(table)
    assert table.inspect.health().to_pylist() == []
    assert table.upsert(rows(55, 65, 4), QUIET).index == "BUCKET"
    before = state(table)
    (done,) = table.services.cluster(options=MERGE)
    assert (done.splits, done.merged) == (0, 8)
    assert state(table) == before
    check_places(table)
    assert table.inspect.health().to_pylist() == []
    assert table.services.cluster(options=MERGE) == ()
    assert len(table.history()) == commits + 3
    assert table.history()["action"].to_pylist()[-1] == "replacecommit"


def test_changes_and_the_past_know_nothing_of_it() -> None:
    table = make()
    first, second = table.history()["completed"].to_pylist()[:2]
    past, changed = table.to_arrow(as_of=first).sort_by("id"), table.changes(since=first).sort_by("id")
    table.services.cluster(options=SPLIT)
    assert table.to_arrow(as_of=first).sort_by("id") == past
    assert table.changes(since=first).sort_by("id") == changed
    assert len(table.changes(since=second)) == 0
    table.upsert(rows(0, 3, 9), QUIET)
    assert sorted(table.changes(since=second)["id"].to_pylist()) == [0, 1, 2]


def test_nothing_is_resized_without_limits_beyond_those_it_began_with() -> None:
    table = make()
    assert table.services.cluster(options={"hoodie.parquet.max.file.size": "2000"}) == ()
    assert table.services.cluster(mode="execute") == ()


def test_writers_wait_for_a_planned_resizing_and_it_can_be_rolled_back() -> None:
    table = make()
    before, files = state(table), _paths(table.storage)  # type: ignore[arg-type]
    (preview,) = table.services.cluster(options=SPLIT, dry_run=True)
    assert (preview.state, preview.instant) == ("planned", None)
    (planned,) = table.services.cluster(options=SPLIT, mode="schedule")
    assert planned.instant is not None
    assert table.services.cluster(options=SPLIT, mode="schedule") == ()  # one at a time in a partition
    with pytest.raises(UnsupportedError, match=rf"services\.cluster\('{planned.instant}'\)"):
        table.upsert(rows(0, 1, 5), QUIET)
    assert state(table) == before
    assert table.services.cluster(mode="execute", dry_run=True) == (planned,)
    assert table.services.rollback(planned.instant, dry_run=True)[0].requests == ()
    table.services.rollback(planned.instant)
    assert _paths(table.storage) == files  # type: ignore[arg-type]
    assert table.services.cluster(options=SPLIT, mode="both")[0].splits == 4
    with pytest.raises(UsageError, match="there is no pending clustering"):
        table.services.cluster(planned.instant)


def _paths(storage: MemoryStorage) -> set[str]:
    result, waiting = set(), [""]
    while waiting:
        for status in storage.list(waiting.pop()):
            if status.is_dir:
                waiting.append(status.path)
            else:
                result.add(status.path)
    return result


def test_other_hash_fields_than_the_table_was_written_by_change_nothing() -> None:
    table = empty(keys=("id", "kind"))
    storage = table.storage
    table.upsert(rows(0, 40, 1), {**CONSISTENT_HASHING, "hoodie.bucket.index.hash.field": "id"})
    before, files = state(table), _paths(storage)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"hoodie\.bucket\.index\.hash\.field must name the fields"):
        table.services.cluster(options=SPLIT)
    with pytest.raises(OptionError, match="names 'value', which is no record key field"):
        table.services.cluster(options={**SPLIT, "hoodie.bucket.index.hash.field": "value"})
    assert _paths(storage) == files  # type: ignore[arg-type]
    assert table.services.cluster(options={**SPLIT, "hoodie.bucket.index.hash.field": "id"})[0].splits == 2
    assert state(table) == before


def test_a_bucket_that_somebody_changed_meanwhile_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    table = make()
    (planned,) = table.services.cluster(options=SPLIT, mode="schedule")
    monkeypatch.setattr("pyhudi.txn.transaction.check_nothing_planned", lambda _: None)  # as a writer that knows nothing of plans
    monkeypatch.setattr("pyhudi.table.write_pipeline.give_way", lambda table, *_: table)
    table.upsert(rows(0, 60, 7), QUIET)
    before = state(table)
    with pytest.raises(ConflictError, match="not to the buckets that take its place"):
        table.services.cluster(planned.instant)
    assert planned.instant is not None
    table.services.rollback(planned.instant)
    assert table.services.cluster(options=SPLIT)[0].splits == 4
    assert state(table) == before


def test_hashing_metadata_that_was_rolled_back_does_not_count() -> None:
    table = make()
    table.services.cluster(options=SPLIT)
    path, now = "d1", hashing(table, "d1")
    # Apache Hudi leaves such files: all buckets but one are those that hold rows.
    left = HashingMetadata(now.values, ("00000000-0000-0000-0000-000000000001", *now.prefixes[1:]), "20990101000000000", 2, 2)
    table.storage.create(hashing_metadata_file(path, left.instant), render_hashing_metadata(left, path))
    assert hashing(table, path).prefixes == now.prefixes


def test_hashing_metadata_that_apache_hudi_left_of_a_run_blocks_nothing() -> None:
    table = make()
    (planned,) = table.services.cluster(options=SPLIT, mode="schedule")
    assert planned.instant is not None
    table.storage.create(hashing_metadata_file("d1", planned.instant), b"{}")
    assert table.services.cluster(planned.instant)[0].splits == 4
    check_places(table)


def test_a_bucket_that_apache_hudi_plans_to_rewrite_as_it_is() -> None:
    table = make()
    before, now = state(table), hashing(table, "d1")
    view = FileSystemView(table.storage, table.config, load_timeline(table.storage, table.config))
    file_slices = {file_slice.group.file_id: file_slice for file_slice in view.latest_slices("d1")}
    new = Node(now.values[1], "00000000-0000-0000-0000-000000000001", Tag.REPLACE)
    result = [Resizing(now, (file_slices[now.file_ids[1]],), (new,))]
    content = encode_clustering_plan(clustering_plan(result, ["d1"], clustering_settings(resolve({})), table.storage.uri), sync=bytes(16))
    TimelineWriter(table.storage, table.config).request(Action.CLUSTERING, "20990101000000000", content)
    (done,) = table.services.cluster(mode="execute")
    assert (done.splits, done.merged, done.slices, done.files_written) == (0, 0, 1, 1)
    assert state(table) == before
    check_places(table)
    assert hashing(table, "d1").prefixes == (now.prefixes[0], new.prefix)


@pytest.mark.parametrize(
    ("strategy", "text"),
    [
        (Strategy("org.apache.hudi.client.clustering.run.strategy.FlinkSortStrategy", {}), "FlinkSortStrategy"),
        (None, "a class that it does not name"),
        (
            Strategy("x.SparkConsistentBucketClusteringExecutionStrategy", {"hoodie.clustering.plan.strategy.sort.columns": "value"}),
            "sorts rows by value",
        ),
    ],
)
def test_what_another_clustering_plans_is_left_to_apache_hudi(strategy: Strategy | None, text: str) -> None:
    table = make()
    content = encode_clustering_plan(ClusteringPlan((), strategy), sync=bytes(16))
    TimelineWriter(table.storage, table.config).request(Action.CLUSTERING, "20990101000000000", content)
    for act in (lambda: table.services.cluster(mode="execute"), lambda: table.services.rollback("20990101000000000")):
        with pytest.raises(UnsupportedError, match=text):
            act()


@pytest.mark.parametrize("changed", [{"partition_path": "../x"}, {"partition_path": "d2"}, {"file_id": None}])
def test_a_plan_that_leads_elsewhere_is_damaged(changed: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    table = make()

    def forged(file_slice: FileSlice, uri: str) -> ClusteringSlice:
        return dataclasses.replace(render_slice(file_slice, uri), **changed)

    monkeypatch.setattr("pyhudi.service.clustering.resize_plan.render_slice", forged)
    monkeypatch.setattr("pyhudi.service.clustering.schedule_clustering.groups_of", lambda *_: ())
    table.services.cluster(options=SPLIT, mode="schedule")
    monkeypatch.undo()
    with pytest.raises(CorruptTableError):
        table.services.cluster(mode="execute")


def test_inline_it_comes_after_so_many_commits_and_before_a_write_that_finds_a_plan() -> None:
    inline = {**QUIET, **SPLIT, "hoodie.clustering.inline": "true", "hoodie.clustering.inline.max.commits": "2"}
    table = empty()
    table.upsert(rows(0, 40, 1), {**CONSISTENT_HASHING, **inline})
    assert table.history()["action"].to_pylist() == ["deltacommit"]
    table.upsert(rows(0, 40, 2), inline)
    assert table.history()["action"].to_pylist() == ["deltacommit", "deltacommit", "replacecommit"]
    table.services.cluster(options={**MERGE}, mode="schedule")
    table.upsert(rows(0, 40, 3), inline)
    assert table.history()["action"].to_pylist() == [*["deltacommit"] * 2, *["replacecommit"] * 2, "deltacommit"]
    assert set(table.to_arrow()["value"].to_pylist()) == {3}


def test_a_table_without_consistent_hashing_is_not_resized() -> None:
    table = empty(table_type="COPY_ON_WRITE")
    with pytest.raises(UnsupportedError, match=r"CONSISTENT_HASHING|consistent hashing"):
        table.upsert(rows(0, 3, 1), {**CONSISTENT_HASHING, "hoodie.clustering.inline": "true"})
    table.upsert(rows(0, 3, 1))
    with pytest.raises(UnsupportedError, match="not laid out by consistent hashing"):
        table.services.cluster(options={"hoodie.clustering.plan.strategy.class": "SparkConsistentBucketClusteringPlanStrategy"})
    assert len(table.history()) == 1


def test_a_table_with_consistent_hashing_is_clustered_by_its_own_classes_only() -> None:
    table = make()
    other = {"hoodie.clustering.inline": "true", "hoodie.clustering.plan.strategy.class": "SparkSizeBasedClusteringPlanStrategy"}
    with pytest.raises(UnsupportedError, match="SparkConsistentBucketClusteringPlanStrategy"):
        table.upsert(rows(0, 3, 5), other)
    assert 5 not in table.to_arrow()["value"].to_pylist()
