"""Instants on storage: the files of each step, what a cut leaves, and answers that get lost."""

from __future__ import annotations

import pytest

from pyhudi.errors import AlreadyExistsError, ConflictError, LockLostError, StorageError, UnknownOutcomeError, UnsupportedError
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.testing.crash_points import crash_points
from pyhudi.testing.fault_injection import Fault, FaultStorage
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.write_instant import TimelineWriter

TIME, LATER = "20261201040547825", "20261201040550000"


def names(storage, folder=".hoodie/timeline") -> list[str]:
    return [status.name for status in storage.list(folder) if not status.is_dir]


def commit(storage, config, content=b"metadata") -> Instant:
    writer = TimelineWriter(storage, config)
    return writer.complete(writer.start(writer.request(Action.COMMIT, TIME)), LATER, content)


def test_commit_leaves_three_files_in_layout_2(storage, layout_2) -> None:
    assert commit(storage, layout_2) == Instant(TIME, Action.COMMIT, State.COMPLETED, LATER)
    assert names(storage) == [f"{TIME}.commit.requested", f"{TIME}.inflight", f"{TIME}_{LATER}.commit"]


def test_commit_leaves_three_files_in_layout_1(storage, layout_1) -> None:
    commit(storage, layout_1)
    assert names(storage, ".hoodie") == [f"{TIME}.commit", f"{TIME}.commit.requested", f"{TIME}.inflight"]


def test_savepoint_begins_inflight(storage, layout_2) -> None:
    assert TimelineWriter(storage, layout_2).request(Action.SAVEPOINT, TIME).state is State.INFLIGHT
    assert names(storage) == [f"{TIME}.savepoint.inflight"]


def test_clustering_is_not_written_to_layout_1(storage, layout_1) -> None:
    with pytest.raises(UnsupportedError, match="layout 1"):
        TimelineWriter(storage, layout_1).request(Action.CLUSTERING, TIME)


def test_taken_time_is_refused(storage, layout_2) -> None:
    writer = TimelineWriter(storage, layout_2)
    writer.request(Action.COMMIT, TIME)
    with pytest.raises(AlreadyExistsError):
        writer.request(Action.COMMIT, TIME)


class _Lost:
    """A lock that is lost after some looks at it."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    def is_held(self) -> bool:
        self.looks -= 1
        return self.looks >= 0


@pytest.mark.parametrize("looks", [0, 1])
@pytest.mark.parametrize("action", [Action.COMMIT, Action.CLEAN])
def test_an_action_does_not_begin_at_a_time_that_was_taken_under_a_lock_that_is_lost(storage, layout_2, action, looks) -> None:
    TimelineWriter(storage, layout_2).request(Action.ROLLBACK, TIME)
    with pytest.raises(LockLostError, match=f"before {action} {TIME} had begun.*may have taken the same time"):
        TimelineWriter(storage, layout_2, _Lost(looks)).request(action, TIME)
    planned = [f"{TIME}.clean.requested"] if looks and action is Action.CLEAN else []  # which the next holder of the lock may run already
    assert names(storage) == [*planned, f"{TIME}.rollback.requested"]


def test_removing_takes_the_latest_state_first(storage, layout_2) -> None:
    recorded = RecordingStorage(storage)
    writer = TimelineWriter(recorded, layout_2)
    writer.remove(writer.start(writer.request(Action.COMMIT, TIME)))
    deleted = [call.path.rsplit("/")[-1] for call in recorded.calls if call.method == "delete"]
    assert deleted == [f"{TIME}.inflight", f"{TIME}.commit.requested"]
    assert names(storage) == []


def test_completed_instant_is_never_removed(storage, layout_2) -> None:
    done = commit(storage, layout_2)
    with pytest.raises(ValueError, match="must stay"):
        TimelineWriter(storage, layout_2).remove(done)


def test_commit_rolled_back_by_another_writer_does_not_complete(storage, layout_2) -> None:
    writer = TimelineWriter(storage, layout_2)
    inflight = writer.start(writer.request(Action.COMMIT, TIME))
    writer.remove(inflight)
    with pytest.raises(ConflictError, match="rolled back"):
        writer.complete(inflight, LATER, b"metadata")


def test_cut_anywhere_shows_the_commit_whole_or_not_at_all(storage, layout_2) -> None:
    for run in crash_points(lambda cut: commit(cut, layout_2), storage.copy):
        timeline = load_timeline(run.storage, layout_2)
        visible = timeline.is_committed(TIME)
        assert visible or not run.returned, run.point
        if visible:
            assert run.storage.read(f".hoodie/timeline/{TIME}_{LATER}.commit") == b"metadata"


def inflight_on(storage, config) -> Instant:
    writer = TimelineWriter(storage, config)
    return writer.start(writer.request(Action.COMMIT, TIME))


def test_lost_answer_of_the_last_step_is_recognised_as_success(storage, layout_2) -> None:
    inflight = inflight_on(storage, layout_2)
    failing = FaultStorage(storage, 1, Fault.ERROR_BUT_DONE)
    assert TimelineWriter(failing, layout_2).complete(inflight, LATER, b"metadata").is_completed


def test_last_step_not_done_is_a_storage_error(storage, layout_2) -> None:
    inflight = inflight_on(storage, layout_2)
    with pytest.raises(StorageError):
        TimelineWriter(FaultStorage(storage, 1, Fault.ERROR_NOT_DONE), layout_2).complete(inflight, LATER, b"metadata")
    assert not load_timeline(storage, layout_2).is_committed(TIME)


def test_storage_that_stays_silent_is_an_unknown_outcome(storage, layout_2) -> None:
    inflight = inflight_on(storage, layout_2)
    silent = FaultStorage(FaultStorage(storage, 1, Fault.ERROR_BUT_DONE), 2, Fault.ERROR_NOT_DONE)
    with pytest.raises(UnknownOutcomeError, match="history"):
        TimelineWriter(silent, layout_2).complete(inflight, LATER, b"metadata")


def test_completion_by_somebody_else_is_a_conflict(storage, layout_2) -> None:
    inflight = inflight_on(storage, layout_2)
    storage.create(f".hoodie/timeline/{TIME}_{LATER}.commit", b"other")
    with pytest.raises(ConflictError, match="another writer"):
        TimelineWriter(storage, layout_2).complete(inflight, LATER, b"metadata")
