"""What becomes of a record when a later version comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from pyhudi.merge.apply_rule import ABSENT, apply_incoming
from pyhudi.merge.merge_rules import RecordVersion
from pyhudi.merge.partial_update import FillPolicy, Record
from pyhudi.spec.table.merge_mode import MergeMode
from pyhudi.spec.table.payload_class import PartialMode

EVENT, COMMIT = MergeMode.EVENT_TIME_ORDERING, MergeMode.COMMIT_TIME_ORDERING
DEFAULTS = FillPolicy(PartialMode.IGNORE_DEFAULTS)
DELETE = RecordVersion({}, (None,), deletes=True, by_commit_time=True)


def version(ts: Any, present_columns: frozenset[str] | None = None, **record: Any) -> RecordVersion:
    return RecordVersion({"ts": ts, **record}, (ts,), present_columns=present_columns)


def test_a_late_record_after_a_delete_by_commit_time_is_a_new_record() -> None:
    late = version(1, n="new")
    assert apply_incoming(apply_incoming(version(5, n="old"), DELETE, EVENT), late, EVENT) == late


def test_a_record_after_a_delete_is_not_filled_from_what_was_deleted() -> None:
    deleted = apply_incoming(version(1, n="old"), DELETE, COMMIT, DEFAULTS)
    assert apply_incoming(deleted, version(2, n=None), COMMIT, DEFAULTS).record["n"] is None


def test_a_record_after_a_delete_with_an_ordering_value_is_not_filled_either() -> None:
    deleted = RecordVersion({"ts": 1, "n": "old"}, (1,), deletes=True)
    assert apply_incoming(deleted, version(2, n=None), EVENT, DEFAULTS).record["n"] is None


def test_a_newer_record_is_filled_from_the_one_that_it_replaces() -> None:
    assert apply_incoming(version(1, n="old"), version(2, n=None), EVENT, DEFAULTS).record == {"ts": 2, "n": "old"}


def test_a_late_record_fills_the_gaps_of_the_newer_one() -> None:
    assert apply_incoming(version(5, n=None), version(3, n=7), EVENT, DEFAULTS).record == {"ts": 5, "n": 7}


def test_a_late_partial_record_is_ignored() -> None:
    stored = version(5, n=1)
    assert apply_incoming(stored, version(3, frozenset({"ts", "n"}), n=7), EVENT) is stored


def test_a_partial_record_keeps_what_it_does_not_bring_and_its_nulls_count() -> None:
    result = apply_incoming(version(5, n=1, s="x"), version(6, frozenset({"ts", "n"}), n=None, s=None), EVENT)
    assert result.record == {"ts": 6, "n": None, "s": "x"}


def test_a_partial_record_without_ordering_value_takes_effect() -> None:
    partial = RecordVersion({"ts": None, "n": 2}, (ABSENT,), present_columns=frozenset({"n"}))
    assert apply_incoming(version(5, n=1), partial, EVENT) == RecordVersion({"ts": 5, "n": 2}, (5,))


@dataclass(frozen=True)
class Longest:
    def merge(self, older: Record, newer: Record) -> Record | None:
        return older if len(older["s"]) >= len(newer["s"]) else newer


def test_a_merger_decides_between_two_records_whatever_their_ordering_values() -> None:
    assert apply_incoming(version(5, s="a"), version(1, s="bb"), MergeMode.CUSTOM, merger=Longest()).record["s"] == "bb"


def test_a_merger_that_keeps_the_older_record_changes_nothing() -> None:
    stored = version(1, s="bb")
    assert apply_incoming(stored, version(5, s="a"), MergeMode.CUSTOM, merger=Longest()) is stored


def test_the_first_version_of_a_record_is_as_it_comes_and_its_missing_ordering_values_are_null() -> None:
    first = RecordVersion({"n": "new"}, (ABSENT, 2))
    assert apply_incoming(None, first, EVENT) == RecordVersion({"n": "new"}, (None, 2))


def test_a_merger_that_returns_nothing_deletes_the_record() -> None:
    class Deletes:
        def merge(self, stored: Record, incoming: Record) -> None:
            return None

    result = apply_incoming(version(2, n="old"), version(1, n="new"), MergeMode.CUSTOM, merger=Deletes())
    assert result.deletes


@pytest.mark.parametrize(("value", "missing"), [("?", True), (b"?", True), (None, False), ("x", False)])
def test_the_marker_of_values_that_were_not_sent_is_a_gap_and_null_is_none(value: object, missing: bool) -> None:
    assert FillPolicy(PartialMode.FILL_UNAVAILABLE, "?").is_missing("n", value) is missing
    assert not FillPolicy(PartialMode.FILL_UNAVAILABLE).is_missing("n", value)


def test_a_default_of_a_field_is_a_gap_like_null() -> None:
    policy = FillPolicy(PartialMode.IGNORE_DEFAULTS, defaults=(("n", 7),))
    assert [policy.is_missing(name, value) for name, value in (("n", 7), ("n", None), ("other", None), ("other", 7))] == [
        True,
        False,
        True,
        False,
    ]
