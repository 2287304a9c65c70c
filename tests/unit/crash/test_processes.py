"""Real processes on a real disk: killed, interrupted, and writing at the same time."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pyhudi.errors
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.merge_oracle import Oracle
from pyhudi.timeline.load_timeline import load_timeline
from tests.not_none import not_none
from tests.unit.crash import writer_process
from tests.unit.crash.tables import DRIVER, check_at_rest, check_rows, check_sound
from tests.unit.crash.writer_process import rows_of

REPOSITORY = Path(__file__).parents[3]
SOURCES = Path(pyhudi.errors.__file__).parents[1]


@pytest.fixture
def storage(tmp_path) -> LocalStorage:
    storage = LocalStorage(str(tmp_path / "rides"))
    DRIVER.create(storage)
    return storage


def writer(storage, first: int, count: int, name: str = "a") -> subprocess.Popen[str]:
    """Start a writing process and wait until it has opened the table."""
    arguments = [sys.executable, writer_process.__file__, storage.root, str(first), str(count), name]
    environment = {**os.environ, "PYTHONPATH": f"{SOURCES}{os.pathsep}{REPOSITORY}"}
    process = subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert not_none(process.stdout).readline() == "ready\n", not_none(process.stderr).read()
    return process


def after(oracle: Oracle, first: int, past: int, name: str = "a") -> Oracle:
    for number in range(first, past):
        oracle = oracle.after(Operation.UPSERT, rows_of(name, number))
    return oracle


def stop_some_time(storage, first: int, delay_s: float, sign: signal.Signals) -> int:
    """Start a writer, stop it after a while, and return the number of the first write that it did not tell of."""
    with writer(storage, first, 1000) as process:
        time.sleep(delay_s)
        process.send_signal(sign)
        recorded, _ = process.communicate(timeout=60)
    return max([first, *(int(line) + 1 for line in recorded.split())])


def find_next(storage, oracle: Oracle, first: int, untold: int) -> tuple[Oracle, int]:
    """Return the oracle and number after the last visible write: all that were told, and perhaps one more."""
    rows = DRIVER.read(storage)
    for past in (untold, untold + 1):
        candidate = after(oracle, first, past)
        if candidate.agrees(rows):
            return candidate, past
    raise AssertionError(f"writes {first} to {untold} were told: {after(oracle, first, untold).difference(rows)}")


def seconds_of_writes(storage, count: int) -> float:
    """Return how long a new writer takes for its first writes on this machine, as loaded as it is now."""
    with writer(storage, 0, count) as process:
        start = time.monotonic()
        for number in range(count):
            assert not_none(process.stdout).readline() == f"{number}\n", not_none(process.stderr).read()
        return time.monotonic() - start


def stop_again_and_again(storage, times: int, sign: signal.Signals, seed: int, *, hits: int = 0) -> None:
    """Stop writers at random times of their first writes, so many times, and more often until so many stops hit a write."""
    random_source = random.Random(seed)
    longest_s = seconds_of_writes(storage, 4)
    oracle, number = after(Oracle("id", "city"), 0, 4), 4
    stops = hit = 0
    while stops < times or (hit < hits and stops < 10 * times):
        untold = stop_some_time(storage, number, random_source.uniform(0, longest_s), sign)
        oracle, number = find_next(storage, oracle, number, untold)
        check_sound(storage, number)
        stops += 1
        hit += is_cut_off(storage)
    assert hit >= hits, f"{hit} of {stops} stops hit a write, so little was tested"
    HudiTable(storage).upsert(rows_of("z", 0))
    check_rows(storage, oracle.after(Operation.UPSERT, rows_of("z", 0)), "after the last stop")
    check_at_rest(storage, "after the last stop")


def is_cut_off(storage) -> bool:
    """Tell whether the last writer left a write that the next one has to roll back; a clean is completed."""
    return any(one.action.writes_data for one in load_timeline(storage, TableConfig(load_properties(storage))).pending())


@pytest.mark.parametrize("times", [4, pytest.param(40, marks=pytest.mark.slow)])
def test_writer_killed_at_many_times_loses_nothing_it_told_of(storage, times: int) -> None:
    stop_again_and_again(storage, times, signal.SIGKILL, seed=1, hits=1)
    assert "rollback" in HudiTable(storage).history().column("action").to_pylist()


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_writer_interrupted_by_the_keyboard_leaves_whole_writes(storage, times: int) -> None:
    stop_again_and_again(storage, times, signal.SIGINT, seed=2)


def test_two_processes_writing_at_once_wait_for_each_other(storage) -> None:
    with writer(storage, 0, 12, "a") as first, writer(storage, 0, 12, "b") as second:
        for process in (first, second):
            recorded, problems = process.communicate(timeout=120)
            assert process.returncode == 0, problems
            assert recorded.split() == [str(number) for number in range(12)]
    oracle = after(after(Oracle("id", "city"), 0, 12, "a"), 0, 12, "b")
    check_rows(storage, oracle, "both writers")
    check_at_rest(storage, "both writers")
    assert sum(action != "clean" for action in HudiTable(storage).history()["action"].to_pylist()) == 24


def test_writer_whose_rival_is_killed_takes_over(storage) -> None:
    with writer(storage, 0, 1000, "a") as first, writer(storage, 0, 8, "b") as second:
        assert not_none(first.stdout).readline() == "0\n"  # both are at work
        first.kill()
        recorded, problems = second.communicate(timeout=120)
        assert second.returncode == 0, problems
        assert len(recorded.split()) == 8
        first.communicate()
    check_sound(storage, "after the kill")
    rows = {row["id"]: row for row in DRIVER.read(storage)}
    assert all(row["id"] in rows for number in range(8) for row in rows_of("b", number))
