"""Pairs of actions under every schedule in which the second one runs whole at a call of the first one, and some with more changes of turn.

`PYHUDI_EVERY_CALL=1 make test-slow` begins the second action at each call that does not commute with it, without it at each fourth.
"""

from __future__ import annotations

import os
import random

import pytest

import pyhudi.txn.optimistic as optimistic
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.intercepted_storage import Call
from tests.slow_cases import slow_cases
from tests.unit.txn.action_pairs import SERVICES, WRITES, Script, calls_of, depending_calls, faults_of_schedule, prepared

WHOLE = 1 << 40
EVERY = 1 if os.environ.get("PYHUDI_EVERY_CALL") else 4
SOME = [
    ("upsert", "upsert"),
    ("upsert", "compaction"),
    ("upsert", "clustering"),
    ("upsert", "clean"),
    ("delete_partition", "upsert"),
    ("insert_overwrite", "upsert"),
    ("archive", "upsert"),
    ("clustering", "insert_overwrite"),
    ("clean", "archive"),
    ("compaction", "clustering"),
    ("upsert", "restore"),
    ("clean", "savepoint"),
    ("index build", "upsert"),
]
ALL = [(first, second) for first in (*WRITES, *SERVICES) for second in (*WRITES, *SERVICES)]


STARTS = [("MERGE_ON_READ", 9), ("COPY_ON_WRITE", 9), ("MERGE_ON_READ", 8), ("COPY_ON_WRITE", 8)]


@pytest.fixture(scope="module", params=slow_cases(STARTS, STARTS[1:]), ids=str)
def start(request: pytest.FixtureRequest) -> MemoryStorage:
    return prepared(*request.param)


def skip_what_does_nothing(start: MemoryStorage, first: str, second: str) -> None:
    """Skip what the table does not have: log files, or a version to go to; of version 8 only upgrades are tried."""
    config, pair = HudiTable(start).config, {first, second}
    if not config.is_merge_on_read and pair.intersection({"compaction", "log compaction"}):
        pytest.skip("copy-on-write tables are not compacted")
    if ("upgrade" in pair) != (config.version == 8) or ("downgrade" in pair and config.version == 8):
        pytest.skip("nothing to upgrade or downgrade")


def faults_of_pair(start: MemoryStorage, first: str, second: str, every: int, offset: int = 0) -> list[str]:
    skip_what_does_nothing(start, first, second)
    calls = calls_of(first, start)
    for number in depending_calls(calls, calls_of(second, start))[offset::every]:
        faults = faults_of_schedule(start, first, second, Script(number, WHOLE))
        if faults:
            return [f"{second} at call {number} ({calls[number]}) of {first}", *faults]
    return []


@pytest.mark.parametrize(("first", "second"), SOME, ids=str)
def test_some_pairs_at_some_calls(start: MemoryStorage, first: str, second: str) -> None:
    assert faults_of_pair(start, first, second, 45, 20) == []


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), ALL, ids=str)
def test_every_pair_at_every_call_that_matters(start: MemoryStorage, first: str, second: str) -> None:
    assert faults_of_pair(start, first, second, EVERY) == []


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), ALL, ids=str)
def test_every_pair_with_both_suspended(start: MemoryStorage, first: str, second: str) -> None:
    skip_what_does_nothing(start, first, second)
    chance, counts = random.Random(f"{first} {second}"), [len(calls_of(name, start)) for name in (first, second)]
    for _ in range(20):
        script = Script(chance.randrange(counts[0] + 1), chance.randrange(counts[1] + 1))
        assert faults_of_schedule(start, first, second, script) == [], f"{script}"


def test_calls_that_touch_different_folders_commute() -> None:
    first = [Call("create", "a/x"), Call("stat", "b/x"), Call("list", "a"), Call("lock", ""), Call("stat", "c/x")]
    second = [Call("list", "a"), Call("create", "b/y"), Call("lock", "")]
    assert depending_calls(first, second) == [0, 1, 3]


def test_a_missing_check_of_conflicts_is_noticed(start: MemoryStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimistic, "check_conflicts", lambda before, now, mine, strategy: ())
    assert faults_of_pair(start, "upsert", "insert_overwrite", 15)
