"""Incremental reads of version 6 stop before a pending write, and only there: pending compactions and clusterings change no row."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import UnsupportedError, UsageError
from tests.not_none import not_none
from tests.replay import Replay, State, counted, rows_of
from tests.tables import unpack

PENDING = ["apache_hudi/merge_on_read_pending_compaction_v6", "apache_hudi/merge_on_read_pending_clustering_v6"]
COMMIT_TIME = "_hoodie_commit_time"


def stories(path: Path) -> tuple[HudiTable, list[State]]:
    return HudiTable.open(path), list(Replay(path).states())


@pytest.mark.parametrize("name", PENDING)
def test_changes_up_to_each_write_are_the_rows_that_stand_then(name: str, fixture_table: Callable[[str], Path]) -> None:
    table, states = stories(fixture_table(name))
    names = table.schema.names
    for state in states:
        assert counted(rows_of(table.changes(until=state.time)), names) == counted(not_none(state.rows), names)
    assert counted(rows_of(table.changes()), names) == counted(rows_of(table.to_arrow()), names)


@pytest.mark.parametrize("name", PENDING)
def test_changes_between_two_writes_are_the_rows_of_the_writes_between(name: str, fixture_table: Callable[[str], Path]) -> None:
    table, states = stories(fixture_table(name))
    names = table.schema.names
    for before, after in itertools.combinations(states, 2):
        written = [row for row in not_none(after.rows) if row[COMMIT_TIME] > before.time]
        assert counted(rows_of(table.changes(before.time, after.time)), names) == counted(written, names)


@pytest.mark.parametrize("inflight", [True, False])
@pytest.mark.parametrize("name", PENDING)
def test_changes_stop_before_a_pending_write(name: str, inflight: bool, tmp_path: Path) -> None:
    path = unpack(name, tmp_path)
    _, states = stories(path)
    before, pending = states[-2:]
    (path / ".hoodie" / f"{pending.time}.deltacommit").unlink()
    if not inflight:
        (path / ".hoodie" / f"{pending.time}.deltacommit.inflight").unlink()
    (path / ".hoodie" / "20990101000000000.deltacommit").write_text("{}")
    table = HudiTable.open(path)
    names = table.schema.names
    assert counted(rows_of(table.changes()), names) == counted(not_none(before.rows), names)
    policy = "hoodie.read.timeline.holes.resolution.policy"
    assert table.changes(options={policy: "BLOCK"}).equals(table.changes())
    with pytest.raises(UsageError, match=rf"the write {pending.time} is pending, and commit 20990101000000000 after it is completed"):
        table.changes(options={policy: "FAIL"})
    assert counted(rows_of(table.changes(until=before.time, options={policy: "fail"})), names) == counted(not_none(before.rows), names)
    with pytest.raises(UnsupportedError, match="is of version 6, which keeps no completion times"):
        table.changes(options={policy: "USE_TRANSITION_TIME"})


def test_a_replace_commit_without_a_plan_is_a_pending_write(tmp_path: Path) -> None:
    """So is a clustering that was rolled back since the timeline was listed; what follows comes with the next read."""
    path = unpack(PENDING[1], tmp_path)
    _, states = stories(path)
    (plan,) = (path / ".hoodie").glob("*.replacecommit.requested")
    for removed in (".replacecommit.requested", ".replacecommit.inflight"):
        plan.rename(plan.with_name(plan.name.partition(".")[0] + removed))
        plan = plan.with_name(plan.name.partition(".")[0] + removed)
    table = HudiTable.open(path)
    names = table.schema.names
    expected = max((state for state in states if state.time < plan.name), key=lambda state: state.time)
    assert counted(rows_of(table.changes()), names) == counted(not_none(expected.rows), names)


def test_changes_up_to_an_archived_write_of_version_6(fixture_table: Callable[[str], Path]) -> None:
    """Nothing was cleaned in this table: each state of it can be read."""
    table, states = stories(fixture_table("apache_hudi/merge_on_read_archived_v6"))
    names = table.schema.names
    assert len(states) == 9
    for state in states:
        assert counted(rows_of(table.changes(until=state.time)), names) == counted(not_none(state.rows), names)
        assert counted(rows_of(table.to_arrow(as_of=state.time)), names) == counted(not_none(state.rows), names)
