"""A deduplication, cut at every storage call: all duplicates stay or all are removed, no other row changes, and the next run ends it."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.table.table_services import Services
from pyhudi.testing.crash_points import crash_points
from pyhudi.testing.fault_injection import Fault
from tests.unit.crash.tables import CountedIds, StoppedClock, check_sound
from tests.unit.table.tables import make_table, ride, rows_of

OPTIONS = {"hoodie.parquet.small.file.limit": "0", "hoodie.metadata.enable": "false", "hoodie.clean.automatic": "false"}
ONE_THREAD = LocalEngine(threads=1)


def deduplicate(storage: Storage) -> Any:
    return Services(storage, StoppedClock(), CountedIds()).deduplicate(engine=ONE_THREAD)


def values(storage: Storage) -> list[tuple[int, int]]:
    return [(row["id"], row["value"]) for row in rows_of(HudiTable(storage))]


@pytest.mark.parametrize("faults", [(Fault.AFTER,), pytest.param(tuple(Fault), marks=pytest.mark.slow, id="all")])
def test_cut_anywhere_leaves_all_duplicates_or_none(faults: tuple[Fault, ...]) -> None:
    storage = MemoryStorage()
    table = make_table(storage)
    table.insert([ride(1, value=1), ride(2, value=2)], options=OPTIONS)
    table.insert([ride(1, value=10), ride(3, value=3)], options=OPTIONS)
    without = [(1, 10), (2, 2), (3, 3)]
    before = [(1, 1), *without]
    points = 0
    for run in crash_points(deduplicate, storage.copy, faults):
        points += 1
        assert values(run.storage) in (before, without), run.point
        check_sound(run.storage, run.point)
        services = Services(run.storage, StoppedClock(), CountedIds())
        services.cluster(mode="execute", engine=ONE_THREAD)  # what a killed run has left pending is a clustering
        deduplicate(run.storage)
        assert values(run.storage) == without, run.point
        assert not any(row["state"] != "completed" for row in HudiTable(run.storage).history().to_pylist()), run.point
    assert points > 10
