"""The timeline as a value: folding, visibility, time travel."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from pyhudi.spec.instant import Action, Instant, State
from pyhudi.timeline.state import next_instant
from pyhudi.timeline.timeline import Timeline, collapse_states


def time(day: int) -> str:
    return f"202612{day:02}000000000"


def done(day: int, action: Action = Action.COMMIT, completed_day: int | None = None) -> Instant:
    return Instant(time(day), action, State.COMPLETED, time(completed_day or day)[:-1] + "5")


def pending(day: int, action: Action = Action.COMMIT, state: State = State.INFLIGHT) -> Instant:
    return Instant(time(day), action, state)


def timeline(*instants: Instant, **fields) -> Timeline:
    return Timeline(collapse_states(instants), 2, **fields)


def test_states_of_one_instant_fold_to_the_highest() -> None:
    instants = [pending(1), done(1), pending(1, state=State.REQUESTED), pending(2, state=State.REQUESTED)]
    assert collapse_states(instants) == (done(1), pending(2, state=State.REQUESTED))


@pytest.mark.parametrize(
    ("begun", "completed"),
    [
        (Action.COMPACTION, Action.COMMIT),
        (Action.LOG_COMPACTION, Action.DELTA_COMMIT),
        (Action.CLUSTERING, Action.REPLACE_COMMIT),
    ],
)
def test_action_that_completes_under_another_name_is_one_instant(begun, completed) -> None:
    assert collapse_states([pending(1, begun), done(1, completed)]) == (done(1, completed),)


def test_savepoint_stands_beside_its_commit() -> None:
    line = timeline(done(1), done(1, Action.SAVEPOINT))
    assert [instant.action for instant in line.find(time(1))] == [Action.COMMIT, Action.SAVEPOINT]
    assert line.last_completed() == done(1)


def test_pending_and_completed_are_told_apart() -> None:
    line = timeline(done(1), pending(2), done(3, Action.CLEAN))
    assert line.pending() == (pending(2),)
    assert line.completed() == (done(1), done(3, Action.CLEAN))
    assert line.data_instants() == (done(1),)


def test_completed_data_is_visible_and_pending_or_unknown_is_not() -> None:
    line = timeline(done(2), pending(3), done(5, Action.CLEAN))
    assert line.is_committed(time(2))
    assert not line.is_committed(time(3))
    assert not line.is_committed(time(4))
    assert not line.is_committed(time(5))


def test_older_than_all_active_instants_counts_as_archived() -> None:
    assert timeline(done(2)).is_committed(time(1))
    assert not timeline(done(2), archive_boundary="").is_committed(time(1))
    assert not timeline().is_committed(time(1))


@pytest.mark.parametrize("action", [Action.CLEAN, Action.ROLLBACK, Action.RESTORE, Action.INDEXING, Action.SCHEMA_COMMIT])
def test_an_action_that_lags_behind_does_not_bound_the_archive(action) -> None:
    line = timeline(done(1, action), pending(2, action), done(5, Action.DELTA_COMMIT), done(7))
    assert line.is_committed(time(3))
    assert not line.is_committed(time(6))


@pytest.mark.parametrize("action", [Action.COMPACTION, Action.CLUSTERING, Action.DELTA_COMMIT, Action.LOG_COMPACTION])
def test_what_is_pending_bounds_the_archive(action) -> None:
    line = timeline(done(1, Action.CLEAN), pending(3, action), done(5))
    assert line.is_committed(time(2))
    assert not line.is_committed(time(4))


def test_a_savepointed_commit_that_stays_behind_does_not_bound_the_archive() -> None:
    line = timeline(done(1), done(1, Action.SAVEPOINT), done(5))
    assert line.is_committed(time(3))
    assert not timeline(done(1), done(1, Action.SAVEPOINT)).is_committed(time(3))


def test_savepoint_of_an_archived_commit_does_not_move_the_start() -> None:
    line = timeline(done(1, Action.SAVEPOINT), done(5))
    assert line.is_committed(time(3))


def test_pending_oldest_instant_is_not_taken_for_archived() -> None:
    assert not timeline(pending(1), done(2)).is_committed(time(1))


def test_as_of_shows_what_was_requested_until_then() -> None:
    line = timeline(done(2), pending(3), done(4), done(6)).as_of(time(4))
    assert line.completed() == (done(2), done(4))
    assert line.is_committed(time(2))
    assert not line.is_committed(time(6))


def test_as_of_before_the_first_instant_shows_archived_files_until_then_only() -> None:
    line = timeline(done(5)).as_of(time(3))
    assert line.is_committed(time(2))
    assert not line.is_committed(time(4))
    assert not line.is_committed(time(5))


def test_as_of_goes_by_completion_times() -> None:
    """Writers that ran beside one another: the first one that began ended last."""
    line = timeline(done(1, completed_day=8), done(2, completed_day=4), done(3, completed_day=6))
    at = {day: line.as_of(time(day)[:-1] + "9") for day in (1, 4, 6, 8)}
    assert {day: [i.requested for i in timeline_then.completed()] for day, timeline_then in at.items()} == {
        1: [],
        4: [time(2)],
        6: [time(2), time(3)],
        8: [time(1), time(2), time(3)],
    }
    assert not at[6].is_committed(time(1))
    assert line.as_of(time(3)).completed() == at[6].completed()


def test_the_requested_time_of_a_table_service_names_no_write() -> None:
    line = timeline(done(1), done(2, completed_day=4), done(3, completed_day=3), services=frozenset({time(2)}))
    assert line.as_of(time(2)).completed() == (done(1),)


def test_as_of_goes_by_requested_times_in_layout_1() -> None:
    line = Timeline((done(1, completed_day=8), done(2)), 1)
    assert line.as_of(time(1)).completed() == (done(1, completed_day=8),)


def test_what_a_view_of_the_past_leaves_out_does_not_count_as_archived() -> None:
    line = timeline(done(1, completed_day=9), done(1, Action.SAVEPOINT), done(5)).as_of(time(6))
    assert not line.is_committed(time(1))
    assert line.is_committed(time(3))


def test_completion_time_comes_from_the_name_or_the_history() -> None:
    line = timeline(done(2), pending(3), completion={time(1): time(9), time(3): "wrong"})
    assert line.completion_time(time(2)) == done(2).completed
    assert line.completion_time(time(3)) is None
    assert line.completion_time(time(1)) == time(9)
    assert line.completion_time(time(8)) is None


def test_history_is_not_asked_for_active_instants() -> None:
    class Untouchable(dict[Any, Any]):
        def get(self, key, default=None):
            raise AssertionError("history was read")

    line = timeline(done(2), completion=Untouchable())
    assert line.completion_time(time(2)) == done(2).completed
    assert line.is_committed(time(1))


def test_greatest_time_regards_completion_times() -> None:
    assert timeline(done(1, completed_day=9), done(2)).greatest_time() == done(1, completed_day=9).completed
    assert timeline().greatest_time() == ""


def test_timeline_pickles() -> None:
    line = timeline(done(1), pending(2)).as_of(time(1))
    assert pickle.loads(pickle.dumps(line)) == line
    assert pickle.loads(pickle.dumps(line)).is_committed(time(1))


def test_instant_walks_through_its_states() -> None:
    requested = pending(1, Action.COMPACTION, State.REQUESTED)
    inflight = next_instant(requested)
    assert inflight == pending(1, Action.COMPACTION)
    assert next_instant(inflight, time(2)) == Instant(time(1), Action.COMMIT, State.COMPLETED, time(2))


@pytest.mark.parametrize(
    ("instant", "completed"),
    [
        (done(1), time(2)),
        (pending(1), None),
        (pending(1), time(1)),
        (pending(2), time(1)),
        (pending(1, state=State.REQUESTED), time(2)),
    ],
)
def test_illegal_step_is_refused(instant, completed) -> None:
    with pytest.raises(ValueError, match=instant.requested):
        next_instant(instant, completed)


def test_timelines_are_compared_without_reading_the_history() -> None:
    class History(dict[Any, Any]):
        def __eq__(self, other):
            raise AssertionError("read")

        __hash__ = None

    assert timeline(done(1), completion=History()) == timeline(done(1), completion=History())
    assert timeline(done(1)) != timeline(done(1), done(2))


class Archive:
    """Two archived commits, of which the first took until day 6."""

    is_whole = True

    def instants(self) -> tuple[Instant, ...]:
        return done(1, completed_day=6), done(2)

    def latest_completion(self, first: str, last: str) -> str:
        return max((one.completed or "" for one in self.instants() if first <= one.requested <= last), default="")


@pytest.mark.parametrize(("day", "knows"), [(2, True), (4, True), (5, True), (7, False)])
def test_archived_instants_are_read_for_times_before_some_of_them_were_completed(day: int, knows: bool) -> None:
    active = timeline(done(3), done(4), archive=Archive())
    known = active.known_at(time(day))
    assert [one.requested for one in known.instants] == [time(each) for each in ((1, 2, 3, 4) if knows else (3, 4))]
    assert timeline(done(3)).known_at(time(day)).instants == (done(3),)


def test_whether_something_was_completed_so_late_is_answered_for_archived_instants_too() -> None:
    active = timeline(done(3), done(4), archive=Archive())
    assert active.completed_at_or_after(time(1), time(1), time(6))
    assert not active.completed_at_or_after(time(2), time(4), time(5))
    assert active.completed_at_or_after(time(2), time(4), time(4))
