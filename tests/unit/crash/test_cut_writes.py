"""Every storage call of every kind of write, cut in every way: rows are those before or after, the next write recovers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pyhudi.errors import HudiError, UnknownOutcomeError
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.crash_points import CrashRun, Part, calls_of, crash_points
from pyhudi.testing.fault_injection import Fault
from pyhudi.testing.invariants import garbage
from pyhudi.testing.merge_oracle import Oracle, Row
from tests.unit.crash.tables import DRIVER, check_at_rest, check_rows, check_sound, each_part, ride, stored_table

Write = tuple[Operation, list[Row]]
WRITES: dict[str, Write] = {
    "insert into a new and an old partition": (Operation.INSERT, [ride(5, "bern", 50), ride(6, "oslo", 60)]),
    "bulk insert": (Operation.BULK_INSERT, [ride(5, "bern", 50), ride(6, "oslo", 60)]),
    "upsert of old and new rows": (Operation.UPSERT, [ride(1, "oslo", 99), ride(3, "rome", 99), ride(7, "bern", 70)]),
    "delete of some rows": (Operation.DELETE, [ride(2, "oslo", 0), ride(9, "oslo", 0)]),
    "delete of all rows": (Operation.DELETE, [ride(n, "oslo" if n < 3 else "rome", 0) for n in (1, 2, 3, 4)]),
    "overwrite of one partition": (Operation.INSERT_OVERWRITE, [ride(8, "oslo", 80)]),
    "delete of a partition": (Operation.DELETE_PARTITION, [ride(0, "rome", 0)]),
    "overwrite of the table": (Operation.INSERT_OVERWRITE_TABLE, [ride(8, "bern", 80)]),
}
NEXT: Write = (Operation.UPSERT, [ride(4, "rome", 41), ride(20, "oslo", 200)])

BATCHED_MARKERS = {
    "hoodie.write.markers.type": "TIMELINE_SERVER_BASED",
    "hoodie.markers.timeline_server_based.batch.interval_ms": "0",
    "hoodie.markers.timeline_server_based.batch.num_threads": "1",  # one order of calls
}


def check_answer(run: CrashRun, before: Oracle, after: Oracle) -> Oracle:
    """Compare the rows right after the cut with what the caller was told, and return the oracle they agree with."""
    rows = DRIVER.read(run.storage)
    done = after.agrees(rows)
    assert done or before.agrees(rows), f"{run.point}: neither before nor after: {before.difference(rows)}"
    if run.returned:
        assert done, f"{run.point}: success was told, but {after.difference(rows)}"
    elif isinstance(run.error, HudiError) and not isinstance(run.error, UnknownOutcomeError):
        assert before.agrees(rows), f"{run.point}: {run.error!r} was told, but the write is visible"
    return after if done else before


def check_recovery(run: CrashRun, oracle: Oracle, following: Write = NEXT) -> None:
    """Let the next writer come, and check that nothing is left of the cut."""
    check_sound(run.storage, run.point)
    DRIVER.write(run.storage, *following)
    check_rows(run.storage, oracle.after(*following), run.point)
    check_at_rest(run.storage, run.point)


def run_all_cuts(storage: MemoryStorage, before: Oracle, name: str, part: Part) -> None:
    after = before.after(*WRITES[name])
    for run in crash_points(lambda cut: DRIVER.write(cut, *WRITES[name]), storage.copy, part=part):
        check_recovery(run, check_answer(run, before, after))


@pytest.fixture(scope="module")
def stored() -> tuple[MemoryStorage, Oracle]:
    return stored_table()


@each_part
def test_first_write_cut_anywhere_is_whole_or_not_at_all(part: Part) -> None:
    empty = MemoryStorage()
    DRIVER.create(empty)
    run_all_cuts(empty, Oracle("id", "city"), "insert into a new and an old partition", part)


@pytest.mark.parametrize("name", ["upsert of old and new rows", "overwrite of one partition"])
def test_interrupted_write_takes_itself_back_at_once(stored, name) -> None:
    storage, _ = stored
    for run in crash_points(lambda cut: DRIVER.write(cut, *WRITES[name]), storage.copy, (Fault.INTERRUPT,)):
        assert isinstance(run.error, KeyboardInterrupt), run.point
        left = [path for path in garbage(run.storage) if not path.startswith(".hoodie/.temp/")]
        assert left == [], run.point


@each_part
@pytest.mark.parametrize("name", WRITES)
def test_write_cut_anywhere_is_whole_or_not_at_all_and_the_next_write_recovers(stored, name, part) -> None:
    run_all_cuts(*stored, name, part)  # type: ignore[call-arg]


@each_part
def test_write_with_batched_markers_cut_anywhere_recovers(stored, part) -> None:
    driver, write = replace(DRIVER, written_with=BATCHED_MARKERS), WRITES["upsert of old and new rows"]
    storage, before = stored
    after = before.after(*write)
    written = {call.path.rpartition("/")[2] for call in calls_of(lambda whole: driver.write(whole, *write), storage.copy)}
    assert {"MARKERS.type", "MARKERS0"} <= written
    for run in crash_points(lambda cut: driver.write(cut, *write), storage.copy, part=part):
        check_recovery(run, check_answer(run, before, after))


def died(storage: MemoryStorage, name: str, method: str, path_end: str) -> MemoryStorage:
    """What a writer left that died right after the first such call."""
    for run in crash_points(lambda cut: DRIVER.write(cut, *WRITES[name]), storage.copy, (Fault.AFTER,)):
        if run.point.call.method == method and run.point.call.path.endswith(path_end):
            return run.storage.copy()
    raise AssertionError(f"{name} makes no call {method} of {path_end}")


@pytest.mark.parametrize(
    ("name", "method", "path_end"),
    [
        ("upsert of old and new rows", "create", ".requested"),
        ("upsert of old and new rows", "close_output", ".parquet"),
        ("upsert of old and new rows", "create", ".commit"),
        ("overwrite of one partition", "close_output", ".parquet"),
    ],
)
@each_part
def test_recovery_cut_anywhere_converges(stored, name, method, path_end, part) -> None:
    """The double crash: a writer dies, and the next one dies at every call of its recovery and of its own write."""
    storage, before = stored
    first = died(storage, name, method, path_end)
    after = before.after(*WRITES[name])
    oracle = after if after.agrees(DRIVER.read(first)) else before
    for run in crash_points(lambda cut: DRIVER.write(cut, *NEXT), first.copy, part=part):
        check_recovery(run, check_answer(run, oracle, oracle.after(*NEXT)))
