"""Writers on machines whose clocks are hours apart, jump back, or are stopped: no time is used twice or out of order, no row is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.invariants import garbage, timeline_faults
from pyhudi.timeline.load_timeline import load_timeline
from tests.not_none import not_none
from tests.unit.table.tables import make_table, ride, rows_of

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
