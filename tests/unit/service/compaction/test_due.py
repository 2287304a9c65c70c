"""When each trigger asks for a compaction."""

from __future__ import annotations

from datetime import date

import pytest

from pyhudi.service.compaction.compaction_settings import CompactionSettings, compaction_settings
from pyhudi.service.compaction.compaction_trigger import compaction_is_due
from pyhudi.service.run_mode import RunMode
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.spec.options import resolve
from pyhudi.timeline.timeline import Timeline

NOW = "20260101001000000"


def settings(trigger: str = "NUM_COMMITS", commits: int = 2, seconds: int = 300) -> CompactionSettings:
    options = {
        "hoodie.compact.inline.trigger.strategy": trigger,
        "hoodie.compact.inline.max.delta.commits": str(commits),
        "hoodie.compact.inline.max.delta.seconds": str(seconds),
    }
    return compaction_settings(resolve(options), date(2026, 1, 1))


def at(minute: int) -> str:
    return f"202601010{minute // 60:01}{minute % 60:02}00000"


def delta(minute: int) -> Instant:
    return Instant(at(minute), Action.DELTA_COMMIT, State.COMPLETED, at(minute)[:-1] + "1")


def compaction(minute: int, *, done: bool = True) -> Instant:
    if not done:
        return Instant(at(minute), Action.COMPACTION, State.REQUESTED)
    return Instant(at(minute), Action.COMMIT, State.COMPLETED, at(minute)[:-1] + "1")


def due(trigger: str, *instants: Instant, commits: int = 2, seconds: int = 300) -> bool:
    return compaction_is_due(Timeline(tuple(sorted(instants)), 2), settings(trigger, commits, seconds), NOW)


@pytest.mark.parametrize(("count", "expected"), [(1, False), (2, True), (3, True)])
def test_commits_are_counted_from_the_first_when_nothing_was_compacted(count, expected) -> None:
    assert due("NUM_COMMITS", *(delta(minute) for minute in range(count))) is expected


def test_commits_are_counted_from_the_last_compaction() -> None:
    assert not due("NUM_COMMITS", delta(0), delta(1), compaction(2), delta(3))
    assert due("NUM_COMMITS", delta(0), delta(1), compaction(2), delta(3), delta(4))


def test_pending_compaction_restarts_the_count_for_its_trigger_only() -> None:
    instants = (delta(0), delta(1), compaction(2, done=False), delta(3))
    assert due("NUM_COMMITS", *instants)
    assert not due("NUM_COMMITS_AFTER_LAST_REQUEST", *instants)


def test_time_counts_from_the_last_compaction_or_the_first_commit() -> None:
    assert due("TIME_ELAPSED", delta(5))
    assert not due("TIME_ELAPSED", delta(6))
    assert not due("TIME_ELAPSED", delta(0), compaction(6), delta(7))


def test_both_or_either_of_commits_and_time() -> None:
    late_one, early_two = (delta(0),), (delta(8), delta(9))
    assert not due("NUM_AND_TIME", *late_one)
    assert not due("NUM_AND_TIME", *early_two)
    assert due("NUM_AND_TIME", delta(0), delta(9))
    assert due("NUM_OR_TIME", *late_one)
    assert due("NUM_OR_TIME", *early_two)
    assert not due("NUM_OR_TIME", delta(9))


def test_table_without_commits_is_never_due() -> None:
    assert not due("NUM_OR_TIME")


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ({}, RunMode.INLINE),
        ({"hoodie.compact.inline": "false"}, RunMode.OFF),
        ({"hoodie.compact.schedule.inline": "true"}, RunMode.SCHEDULE),
        ({"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline": "true"}, RunMode.INLINE),
        ({"hoodie.compact.schedule.inline": "true", "hoodie.compact.inline": "false"}, RunMode.SCHEDULE),
        ({"hoodie.datasource.compaction.async.enable": "true"}, RunMode.BACKGROUND),
        ({"hoodie.datasource.compaction.async.enable": "true", "hoodie.compact.inline": "true"}, RunMode.INLINE),
    ],
)
def test_what_a_write_does_about_compaction(options, mode) -> None:
    assert compaction_settings(resolve(options), date(2026, 1, 1)).mode is mode
