"""Which record stays, stated on single cases. (The kernels are held to these rules in tests/unit/kernels.)"""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.merge.merge_rules import RecordVersion, combine_versions, incoming_wins, newer_wins
from pyhudi.spec.table.merge_mode import MergeMode

EVENT = MergeMode.EVENT_TIME_ORDERING
COMMIT = MergeMode.COMMIT_TIME_ORDERING
NAN = float("nan")


@pytest.mark.parametrize(
    ("stored", "incoming", "wins"),
    [
        ([1], [2], True),
        ([2], [2], True),
        ([2], [1], False),
        ([None], [None], True),
        ([None], [-5], True),
        ([-5], [None], False),
        ([1e300], [NAN], True),
        ([NAN], [1e300], False),
        ([0.0], [-0.0], False),
        ([-0.0], [0.0], True),
        ([-0.0], [-0.0], True),
        ([1, "b"], [1, "a"], False),
        ([1, "z"], [2, None], True),
    ],
)
def test_by_event_time_the_greater_or_equal_ordering_value_wins(stored: list[Any], incoming: list[Any], wins: bool) -> None:
    assert newer_wins(stored, incoming, EVENT) is wins


def test_by_commit_time_the_incoming_record_wins_whatever_its_ordering_value() -> None:
    assert newer_wins([2], [1], COMMIT)


def test_delete_by_commit_time_wins_over_a_later_stored_record() -> None:
    assert incoming_wins(RecordVersion({}, (9,)), RecordVersion({}, (), deletes=True, by_commit_time=True), EVENT)


def test_delete_with_an_ordering_value_loses_when_it_is_late() -> None:
    assert not incoming_wins(RecordVersion({}, (9,)), RecordVersion({}, (8,), deletes=True), EVENT)


def test_of_one_batch_the_last_of_the_greatest_stays() -> None:
    assert combine_versions([RecordVersion({}, (1,))], EVENT) == 0
    assert (
        combine_versions([RecordVersion({}, (1,)), RecordVersion({}, (3,)), RecordVersion({}, (3,)), RecordVersion({}, (2,))], EVENT) == 2
    )


def test_record_behind_a_delete_by_commit_time_stays_even_with_a_small_ordering_value() -> None:
    delete = RecordVersion({}, (), deletes=True, by_commit_time=True)
    assert combine_versions([RecordVersion({}, (9,)), delete, RecordVersion({}, (1,))], EVENT) == 2
