"""What clusterings plan, read from their requested files; damaged and missing plans are errors that say what to do."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.codec.actions.plan_codec import encode_clustering_plan, encode_requested_replace
from pyhudi.errors import CorruptTableError
from pyhudi.spec.actions.clustering import ClusteringGroup, ClusteringPlan, ClusteringSlice, Strategy
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.files.file_group import FileGroupId
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.pending_clustering import clustered_groups, clustering_plan, pending_clustering, resizes_buckets
from pyhudi.timeline.write_instant import TimelineWriter

TIME, LATER = "20261201040547825", "20261201040550000"
REQUESTED = Instant(TIME, Action.CLUSTERING, State.REQUESTED)
FILE_ID = "11111111-1111-1111-1111-111111111111-0"


def plan_of(file_id: str = FILE_ID, partition_path: str = "oslo", strategy: str = "a.SparkSortAndSizeExecutionStrategy") -> bytes:
    group = ClusteringGroup((ClusteringSlice(file_id, partition_path, "f.parquet"),))
    return encode_clustering_plan(ClusteringPlan((group,), Strategy(strategy)), sync=bytes(16))


def put(storage: Any, name: str, content: bytes, folder: str = ".hoodie/timeline") -> None:
    storage.create(f"{folder}/{name}", content)


def test_a_pending_clustering_has_its_plan_and_its_file_groups(storage, layout_2) -> None:
    put(storage, f"{TIME}.clustering.requested", plan_of())
    plan = pending_clustering(storage, layout_2, REQUESTED)
    assert plan is not None
    assert [one.file_id for group in plan.groups or () for one in group.slices or ()] == [FILE_ID]
    assert clustered_groups(storage, layout_2, load_timeline(storage, layout_2)) == {FileGroupId("oslo", FILE_ID): REQUESTED}


def test_other_actions_and_overwrites_cluster_nothing(storage, layout_2) -> None:
    overwrite = Instant(TIME, Action.REPLACE_COMMIT, State.REQUESTED)
    put(storage, f"{TIME}.replacecommit.requested", encode_requested_replace(Operation.INSERT_OVERWRITE, sync=bytes(16)))
    assert pending_clustering(storage, layout_2, overwrite) is None
    assert pending_clustering(storage, layout_2, Instant(TIME, Action.COMMIT, State.REQUESTED)) is None
    assert clustered_groups(storage, layout_2, load_timeline(storage, layout_2)) == {}


def test_a_replacecommit_of_layout_1_may_be_a_clustering(storage, layout_1) -> None:
    put(storage, f"{TIME}.replacecommit.requested", plan_of(), ".hoodie")
    assert pending_clustering(storage, layout_1, Instant(TIME, Action.REPLACE_COMMIT, State.REQUESTED)) is not None


@pytest.mark.parametrize(("content", "problem"), [(None, "its file is missing"), (b"", "its file holds none"), (b"Obj\x01", "damaged")])
def test_a_plan_that_cannot_be_read_is_an_error_that_names_the_way_out(storage, layout_2, content, problem) -> None:
    put(storage, f"{TIME}.clustering.inflight", b"")
    if content is not None:
        put(storage, f"{TIME}.clustering.requested", content)
    with pytest.raises(CorruptTableError, match=problem) as raised:
        pending_clustering(storage, layout_2, Instant(TIME, Action.CLUSTERING, State.INFLIGHT))
    assert f"services.rollback('{TIME}')" in str(raised.value)


@pytest.mark.parametrize(("action", "state"), [(Action.CLUSTERING, State.INFLIGHT), (Action.REPLACE_COMMIT, State.REQUESTED)])
def test_a_plan_that_was_rolled_back_since_the_timeline_was_listed_is_none(storage, layout_2, action, state) -> None:
    """A writer reads the timeline without the lock, and another one rolls its own replacecommit or clustering back."""
    put(storage, f"{TIME}.{action}.requested", plan_of())
    if state is State.INFLIGHT:
        put(storage, f"{TIME}.{action}.inflight", b"")
    timeline = load_timeline(storage, layout_2)
    TimelineWriter(storage, layout_2).remove(Instant(TIME, action, state))
    assert clustered_groups(storage, layout_2, timeline) == {}


def test_a_plan_that_leads_out_of_the_table_is_refused(storage, layout_2) -> None:
    put(storage, f"{TIME}.clustering.requested", plan_of(partition_path="../other"))
    with pytest.raises(CorruptTableError, match=TIME):
        clustered_groups(storage, layout_2, load_timeline(storage, layout_2))


def test_the_plan_of_a_completed_clustering_is_that_of_its_request(storage, layout_2) -> None:
    done = Instant(TIME, Action.REPLACE_COMMIT, State.COMPLETED, LATER)
    assert clustering_plan(storage, layout_2, done) is None
    put(storage, f"{TIME}.clustering.requested", plan_of())
    plan = clustering_plan(storage, layout_2, done)
    assert plan is not None
    assert plan == clustering_plan(storage, layout_2, REQUESTED)
    assert clustering_plan(storage, layout_2, Instant(TIME, Action.COMMIT, State.COMPLETED, LATER)) is None


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (None, False),
        (Strategy(None), False),
        (Strategy("org.SparkConsistentBucketClusteringExecutionStrategy"), True),
        (Strategy("org.Consistent.SparkSortAndSizeExecutionStrategy"), False),
    ],
)
def test_a_resizing_is_known_by_the_class_of_its_strategy(strategy: Strategy | None, expected: bool) -> None:
    assert resizes_buckets(ClusteringPlan((), strategy)) is expected
