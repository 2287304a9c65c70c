"""No action of a table gets a time that its metadata table took for a service, whatever the clocks say."""

from __future__ import annotations

import pytest

from pyhudi.errors import CorruptTableError
from pyhudi.metadata_table.read.writer_table import open_writer_table
from pyhudi.metadata_table.write.metadata_commit import write_changes
from pyhudi.spec.actions.commit import Operation
from pyhudi.spec.instant import Action, Instant, State
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.clock import InstantClock
from tests.unit.crash.tables import Driver, StoppedClock
from tests.unit.metadata_table.replays import sources


@pytest.mark.parametrize("limit", ["1", "2", "3"])
@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_updates_under_a_stopped_clock_are_all_recorded(limit: str, kind: str) -> None:
    options = {"hoodie.metadata.compact.max.delta.commits": limit, "hoodie.clean.automatic": "false"}
    driver = Driver(metadata_table=True, written_with=options, table_type=kind)
    storage = MemoryStorage()
    driver.create(storage)
    for value in range(10):
        driver.write(storage, Operation.UPSERT, [{"id": 1, "city": "oslo", "value": value}])
        driver.compact(storage, "execute" if value % 4 == 3 else "schedule")
    table = HudiTable(storage)
    assert table.to_arrow().to_pylist() == [{"id": 1, "city": "oslo", "value": 9}]
    assert {row["check"] for row in table.inspect.health().to_pylist()} <= {"nothing pending"}
    mdt = open_writer_table(storage, sources(StoppedClock()))
    assert mdt is not None
    compactions = {one.requested for one in mdt.timeline.instants if one.action in (Action.COMMIT, Action.COMPACTION)}
    assert compactions
    assert compactions.isdisjoint(table.history()["requested"].to_pylist())


def test_an_action_at_the_time_of_a_service_is_not_recorded() -> None:
    storage = MemoryStorage()
    driver = Driver(metadata_table=True)
    driver.create(storage)
    driver.write(storage, Operation.UPSERT, [{"id": 1, "city": "oslo", "value": 1}])
    mdt = open_writer_table(storage, sources(StoppedClock()))
    assert mdt is not None
    time = "20270101000000000"
    taken = mdt.with_instant(Instant(time, Action.COMMIT, State.COMPLETED, "20270101000000001"))
    with pytest.raises(CorruptTableError, match=f"commit {time} of the metadata table"):
        write_changes(taken, time, {})


def test_a_floor_is_only_raised() -> None:
    times = InstantClock(StoppedClock(), "UTC", "20270101000000000")
    times.raise_floor("20260101000000000")
    assert times.next() == "20270101000000001"
    times.raise_floor("20280101000000000")
    assert times.next() == "20280101000000001"
