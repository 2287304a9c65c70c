"""Real processes that write, serve and read one table while some are killed and stopped: the history that they leave is sound."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pyhudi.errors
from tests.unit.processes.history import Commit, replay_of
from tests.unit.processes.workload import SHARED, Change

REPOSITORY = Path(__file__).parents[3]
SOURCES = Path(pyhudi.errors.__file__).parents[1]
#: Of all slow cases together, in seconds.
SOAK_S = float(os.environ.get("PYHUDI_SOAK_SECONDS", "600"))
LOCK_FILE = "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider"
FIRST = Change("upsert", ((900, SHARED, 0), (901, SHARED, 0)))
CASES = [
    ("COPY_ON_WRITE", 9, ()),
    ("MERGE_ON_READ", 9, ()),
    ("COPY_ON_WRITE", 8, ("--inline",)),
    ("MERGE_ON_READ", 8, ("--inline", "--lock-provider", LOCK_FILE)),
    ("COPY_ON_WRITE", 9, ("--inline", "--no-metadata-table", "--lock-provider", LOCK_FILE)),
    ("MERGE_ON_READ", 9, ("--inline",)),
]


def run_soak(folder: Path, seconds: float, kind: str, version: int, more: tuple[str, ...]) -> dict[str, Any]:
    arguments = [str(folder), "--seconds", str(seconds), "--kind", kind, "--version", str(version), *more]
    environment = {**os.environ, "PYTHONPATH": f"{SOURCES}{os.pathsep}{REPOSITORY}"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.processes.soak", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def check_soak(result: dict[str, Any], least: int) -> None:
    assert result["faults"] == []
    counts = result["counts"]
    assert min(counts["done"], counts["snapshot"], counts["changes"]) >= least, counts
    assert counts["kills"] + counts["stops"] >= least, counts


def test_processes_that_are_killed_and_stopped_leave_a_sound_history(tmp_path: Path) -> None:
    check_soak(run_soak(tmp_path / "soak", 4, "MERGE_ON_READ", 9, ("--every", "0.4")), 2)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "version", "more"), CASES, ids=str)
def test_the_same_for_minutes_for_each_kind_of_table(kind: str, version: int, more: tuple[str, ...], tmp_path: Path) -> None:
    check_soak(run_soak(tmp_path / "soak", SOAK_S / len(CASES), kind, version, more), 20)


def test_the_replay_knows_which_records_are_new_since_a_commit() -> None:
    changes = {
        "first": FIRST,
        "a": Change("upsert", ((1, "x", 1), (2, "x", 1))),
        "b": Change("add", ((900, SHARED, 0),)),
        "c": Change("delete", ((1, "x", 0),)),
        "d": Change("overwrite", ((3, "x", 4),), "x"),
    }
    replay = replay_of([Commit(name, str(number)) for number, name in enumerate(["first", "a", "", "b", "c", "d"])], changes)
    assert replay.rows(2) == [(1, "x", 1), (2, "x", 1), (900, SHARED, 0), (901, SHARED, 0)]
    assert replay.rows(6) == [(3, "x", 4), (900, SHARED, 1), (901, SHARED, 0)]
    assert replay.rows_between("1", "4") == [(900, SHARED, 1)]
    assert replay.rows_between("0", "4") == [(2, "x", 1), (900, SHARED, 1)]
    assert replay.rows_between(None, "5") == replay.rows(6)


def test_a_delete_comes_first_for_a_key_only_if_it_cannot_have_seen_it() -> None:
    changes = {
        "first": FIRST,
        "a": Change("upsert", ((1, "x", 1),)),
        "b": Change("upsert", ((910, SHARED, 2),)),
        "c": Change("delete", ((1, "x", 0), (910, SHARED, 0))),
    }
    commits = [Commit(name, str(number)) for number, name in enumerate(["first", "a", "b"])]
    own, both = frozenset({"x"}), frozenset({"x", SHARED})

    def rows_after(partitions: frozenset[str], least: int, before: list[Commit] = commits) -> list[int]:
        replay = replay_of([*before, Commit("c", "9", partitions)], changes, {"c": least})
        return [row[0] for row in replay.rows(len(before) + 1)]

    assert rows_after(own, 2) == [900, 901, 910]  # it began before b was acknowledged, and deleted only the key that it saw
    assert rows_after(own, 3) == [900, 901]  # b was acknowledged before it began: the row that is still there is a lost delete
    assert rows_after(both, 2) == [900, 901]  # it has deleted the key, so it saw it
    again = [*commits, Commit("a", "3", own)]
    assert rows_after(own, 2, again) == [900, 901, 910]  # what "a" changed again is as it was
    changed = [*commits, Commit("d", "3", own)]
    changes["d"] = Change("upsert", ((1, "x", 7),))
    assert rows_after(own, 2, changed) == [900, 901]  # no state has key 1 as the delete found it and lacks key 910
