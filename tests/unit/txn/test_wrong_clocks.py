"""Writers on machines whose clocks are hours apart, jump back, or are stopped: no time is used twice or out of order, no row is lost."""

from __future__ import annotations

import contextlib
import functools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.invariants import garbage, timeline_faults
from pyhudi.timeline.clock import SystemClock
from pyhudi.timeline.load_timeline import load_timeline
from tests.not_none import not_none
from tests.slow_cases import slow_cases
from tests.unit.table.tables import make_table, ride, rows_of
from tests.unit.txn.test_non_blocking import NBCC
from tests.unit.txn.test_optimistic import Between

BEGIN = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
OCC = {"hoodie.write.concurrency.mode": "optimistic_concurrency_control"}
QUIET = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
WRITES = 12


class Clock:
    """The clock of one machine, `hours` wrong."""

    def __init__(self, hours: int, ticks: Iterator[int]) -> None:
        self.hours, self._ticks = hours, ticks

    def now(self) -> datetime:
        return BEGIN + timedelta(hours=self.hours, milliseconds=next(self._ticks))


def stopped() -> Iterator[int]:
    while True:
        yield 0


def counting() -> Iterator[int]:
    yield from range(10**9)


def clocks_of(kind: str) -> list[Clock]:
    ticks = stopped() if kind == "stopped" else counting()
    hours = (0, 0) if kind == "stopped" else (5, -5)
    return [Clock(number, ticks) for number in hours]


@pytest.mark.parametrize("kind", ["hours apart", "jumping", "stopped"])
@pytest.mark.parametrize(
    ("version", "options"),
    [("6", {}), ("8", OCC), ("9", OCC), pytest.param("9", {}, marks=pytest.mark.slow)],
    ids=["6", "8", "9", "9, one writer"],
)
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", pytest.param("MERGE_ON_READ", marks=pytest.mark.slow)])
def test_times_of_machines_with_wrong_clocks(kind: str, version: str, options: dict[str, str], table_type: str) -> None:
    storage = MemoryStorage()
    make_table(storage, partition_by=("city",), table_type=table_type, options={"hoodie.write.table.version": version})
    clocks, chance = clocks_of(kind), random.Random(kind)
    tables = [HudiTable(storage, clock=clock, engine=LocalEngine(threads=1)) for clock in clocks]
    state, states = dict[int, int](), list[dict[int, int]]()
    for number in range(WRITES):
        table = tables[number % 2]
        if kind == "jumping":
            clocks[number % 2].hours = chance.randint(-5, 5)
        rows = [ride(number % 3, "oslo", number), ride(100 + number, "rome", number)]
        table.upsert(rows, options=options | QUIET)
        state |= {row["id"]: row["value"] for row in rows}
        states.append(dict(state))
        if number == WRITES // 2 and table_type == "MERGE_ON_READ":
            assert table.services.compact(options=options)
        if number == WRITES - 3:
            assert table.services.clean(options=options | {"hoodie.clean.commits.retained": "4"})
    table = tables[0]
    assert {row["id"]: row["value"] for row in rows_of(table)} == state
    timeline = load_timeline(storage, table.config)
    writes = [one for one in timeline.completed() if one.action.value in ("commit", "deltacommit")]
    times = [time for one in timeline.completed() for time in (one.requested, *([one.completed or ""] if table.config.layout > 1 else []))]
    assert len(set(times)) == len(times)
    if table.config.layout > 1:
        assert times == sorted(times)
    written = [one for one in writes if table_type == "COPY_ON_WRITE" or one.action.value == "deltacommit"]
    assert len(written) == WRITES
    for one, expected in list(zip(written, states, strict=True))[-3:]:
        read_at = one.requested if table.config.layout == 1 else not_none(one.completed)
        assert {row["id"]: row["value"] for row in table.to_arrow(as_of=read_at).to_pylist()} == expected
    assert timeline_faults(storage) + garbage(storage) == []


class JumpingClock(SystemClock):
    """A clock that is set to another hour now and then, also between the request and the completion of one action; nobody sets the seconds
    that have passed.
    """

    def __init__(self, chance: random.Random, ticks: Iterator[int]) -> None:
        self._chance, self._ticks, self._hours = chance, ticks, 0

    def now(self) -> datetime:
        if self._chance.random() < 0.3:
            self._hours = self._chance.randint(-5, 5)
        return BEGIN + timedelta(hours=self._hours, milliseconds=next(self._ticks))


@pytest.mark.parametrize("version", slow_cases(("9", "8"), {"8"}))
@pytest.mark.parametrize(
    ("table_type", "options"),
    [("COPY_ON_WRITE", OCC), ("MERGE_ON_READ", OCC), ("MERGE_ON_READ", NBCC)],
    ids=["optimistic, copy-on-write", "optimistic, merge-on-read", "non-blocking"],
)
def test_clock_that_jumps_within_an_action(table_type: str, options: dict[str, str], version: str) -> None:
    storage, chance = MemoryStorage(), random.Random(table_type)
    make_table(storage, partition_by=("city",), table_type=table_type, options={"hoodie.write.table.version": version})
    clocks = [JumpingClock(chance, counting()) for _ in range(2)]
    state: dict[int, int] = {}
    changes, since = Counter[tuple[int, int]](), "0"

    def write(number: int, rows: list[dict[str, Any]], during: Callable[[], None] | None = None) -> None:
        engine = LocalEngine(threads=1) if during is None else Between(during, after=number % 4 == 0)
        HudiTable(storage, clock=clocks[number % 2], engine=engine).upsert(rows, options=options | QUIET)
        state.update({row["id"]: row["value"] for row in rows})

    def write_shared(number: int) -> None:
        write(number, [ride(number % 3, "oslo", number), ride(100 + number, "rome", number)])

    for number in range(0, 12, 2):
        with contextlib.suppress(ConflictError):
            write(number, [ride(200 + number, "oslo", number)], functools.partial(write_shared, number + 1))
        services = HudiTable(storage, clock=clocks[number // 2 % 2], engine=LocalEngine(threads=1)).services
        if number == 8 and table_type == "MERGE_ON_READ":
            assert services.compact(options=options | {"hoodie.compact.inline.max.delta.commits": "1"})
        if number == 6 and options is OCC:
            assert services.cluster(options=options)
        until = max(not_none(one.completed) for one in load_timeline(storage, HudiTable(storage).config).completed())
        changes.update((row["id"], row["value"]) for row in HudiTable(storage).changes(since, until).to_pylist())
        since = until
    assert {row["id"]: row["value"] for row in rows_of(HudiTable(storage))} == state
    assert set(changes.values()) == {1}, "a change is handed out once"
    assert set(state.items()) <= set(changes)
    completed = load_timeline(storage, HudiTable(storage).config).completed()
    times = [time for one in completed for time in (one.requested, not_none(one.completed))]
    assert len(set(times)) == len(times)
    assert all(one.requested < not_none(one.completed) for one in completed)
    assert timeline_faults(storage) + garbage(storage) == []
