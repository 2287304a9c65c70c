"""The past of tables stays readable while Apache Hudi continues with them: writes, archival, compaction, clustering, cleaning,
migrations.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pyhudi import HudiTable
from pyhudi.errors import UsageError
from tests.interop.lifetime_recipes import KEEP_ALL
from tests.interop.merge_on_read_recipes import MERGE_ON_READ, ONCE, ORDERED, events, statements
from tests.interop.recipes import options
from tests.interop.reference import ReferenceHudi
from tests.replay import Replay, State, counted, rows_of
from tests.slow_cases import slow_cases
from tests.tables import unpack

TABLES = ["upgraded_v8", "upgraded_v9", "downgraded_v6", "pending_clustering_v6", "pending_compaction_v6", "pending_compaction_v9"]
ARCHIVE = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}
Step = Callable[[ReferenceHudi, Path, dict[str, str]], None]


def archives(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    """Writes until the first commits are archived; nothing is cleaned."""
    for step in range(5):
        reference.write(path, events((1, 60 + step, 600 + step)), "append", table | ARCHIVE | {"hoodie.clean.automatic": "false"})


def compacts(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    statements(reference, path, table, f"CALL run_compaction(op => 'run', path => '{path}')")
    reference.write(path, events((1, 60, 600)), "append", table | KEEP_ALL)
    statements(reference, path, table, f"CALL run_compaction(op => 'scheduleandexecute', path => '{path}')", **ONCE)
    reference.write(path, events((3, 60, 603)), "append", table | KEEP_ALL)


def clusters(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    statements(reference, path, table, f"CALL run_clustering(path => '{path}', op => 'scheduleandexecute')")
    reference.write(path, events((3, 60, 603)), "append", table | KEEP_ALL)


def cleans(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
    compacts(reference, path, table)
    for step in range(4):
        reference.write(path, events((5, 70 + step, 600 + step)), "append", table | ARCHIVE)


def moves_to(version: str) -> Step:
    def moves(reference: ReferenceHudi, path: Path, table: dict[str, str]) -> None:
        call = "downgrade_table" if version == "SIX" else "upgrade_table"
        statements(reference, path, table, f"CALL {call}(table => '{{t}}', to_version => '{version}')")

    return moves


STEPS: dict[str, Step] = {
    "archives": archives,
    "compacts": compacts,
    "clusters": clusters,
    "cleans": cleans,
    "to_9": moves_to("NINE"),
    "to_6": moves_to("SIX"),
}
CASES = [f"{name}-{step}" for name in TABLES for step in STEPS if name[-1] != step[-1] or not step.startswith("to_")]
SHORT = {"upgraded_v9-archives", "downgraded_v6-archives", "downgraded_v6-to_9"}


def same(path: Path, state: State, names: list[str]) -> bool:
    try:
        rows = rows_of(HudiTable.open(path).to_arrow(as_of=state.time))
    except UsageError as refused:
        if "deleted files of that time" not in str(refused):
            raise
        return True
    return counted(rows, names) == counted(state.rows or [], names)


@pytest.mark.parametrize("case", slow_cases(CASES, set(CASES) - SHORT))
def test_each_state_is_read_as_before(case: str, reference: ReferenceHudi, tmp_path: Path) -> None:
    name, step = case.split("-")
    path = unpack(f"apache_hudi/merge_on_read_{name}", tmp_path, times=True)
    table = HudiTable.open(path)
    names, states = table.schema.names, list(Replay(path).states())
    given = options(f"merge_on_read_{name}", table.config.version) | MERGE_ON_READ | ORDERED | {"hoodie.write.auto.upgrade": "false"}
    STEPS[step](reference, path, given)
    assert [state.time for state in states if not same(path, state, names)] == []
    assert all(same(path, state, names) for state in Replay(path).states() if state.rows is not None)
    now = HudiTable.open(path)
    assert counted(rows_of(now.to_arrow()), names) == counted(rows_of(reference.read(path)), names)
    assert counted(rows_of(now.changes()), names) == counted(rows_of(reference.read(path)), names)
