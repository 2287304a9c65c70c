"""Tables of every version, type, generator and merge rule: each state, and what changed up to it, is what replaying the writes leaves."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.histories import EVERY, Shape, each_once, lived
from tests.replay import Replay, counted, rows_of
from tests.slow_cases import slow_cases

COMMIT_TIME = "_hoodie_commit_time"


@pytest.mark.parametrize("shape", slow_cases(EVERY, set(EVERY) - set(each_once())), ids=str)
def test_every_state_and_all_changes_up_to_it_are_what_the_writes_left(shape: Shape, tmp_path: Path) -> None:
    table = lived(tmp_path / "t", shape)
    states = list(Replay(tmp_path / "t").states())
    columns = [*table.schema.names, COMMIT_TIME]
    assert len(states) > 1
    for state in states:
        assert counted(rows_of(table.to_arrow(as_of=state.time, meta_columns=True)), columns) == counted(state.rows or [], columns)
        assert counted(rows_of(table.changes(until=state.time)), table.schema.names) == counted(state.rows or [], table.schema.names)
    for before, after in pairwise(states):
        written = [row for row in after.rows or [] if row[COMMIT_TIME] == after.instant.requested]
        assert counted(rows_of(table.changes(before.time, after.time)), table.schema.names) == counted(written, table.schema.names)
    assert counted(rows_of(table.to_arrow()), table.schema.names) == counted(states[-1].rows or [], table.schema.names)
