"""Two machines run or resume the same table service: the second one is refused while the first one shows life, takes over when it does
not, and the first one then ends without harm to what the second one did.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyhudi.errors import ConflictError, HudiError, LockLostError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.intercepted_storage import Call
from pyhudi.testing.invariants import garbage, timeline_faults
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.service.machines import Machine, SharedLock, Suspended, table_on
from tests.unit.table.tables import make_table, ride, rows_of

Service = Callable[[HudiTable], Any]
WITHOUT_SERVICES = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false"}
BY_LISTING = {"hoodie.metadata.enable": "false"}
DUE = {"hoodie.compact.inline.max.delta.commits": "1"}
ROWS = [ride(1, value=3), ride(2, "rome", 3)]


def compact(table: HudiTable) -> Any:
    return table.services.compact(options=DUE)


def log_compact(table: HudiTable) -> Any:
    return table.services.log_compact(options={"hoodie.log.compaction.blocks.threshold": "2"})


def cluster(table: HudiTable) -> Any:
    return table.services.cluster()


def clean(table: HudiTable) -> Any:
    return table.services.clean(options={"hoodie.clean.commits.retained": "1"})


def writes_data(call: Call) -> bool:
    return call.method == "open_output" and not call.path.startswith(".hoodie/")


def wrote_data(call: Call) -> bool:
    return call.method == "close_output" and not call.path.startswith(".hoodie/")


def deletes_data(call: Call) -> bool:
    return call.method == "delete" and call.path.endswith(".parquet")


class World:
    """A table of merge-on-read with rows to compact, cluster and clean, and two machines that share it."""

    def __init__(self, stops_at: Callable[[Call], bool], table_type: str = "MERGE_ON_READ") -> None:
        self.now_ms = 1_800_000_000_000
        self.shared = MemoryStorage(clock=lambda: self.now_ms * 1_000_000)
        table = make_table(self.shared, partition_by=("city",), table_type=table_type)
        for number in range(4):
            table.upsert([ride(1, value=number), ride(2, "rome", number)], options=WITHOUT_SERVICES)
        self.provider = provider = SharedLock()
        self.machine = Machine(self.shared, stops_at)
        self.first, self.second = table_on(self.machine, provider), table_on(Machine(self.shared), provider)

    def pass_time(self, seconds: int) -> None:
        """Let time pass on the storage; the process of the first machine is suspended meanwhile."""
        self.now_ms += 1000 * seconds

    def check(self) -> None:
        assert rows_of(HudiTable(self.shared)) == ROWS
        assert HudiTable(self.shared).to_arrow(options=BY_LISTING).num_rows == len(ROWS)
        assert list(timeline_faults(self.shared)) == []
        assert list(garbage(self.shared)) == []
        assert [name for name in self.shared.file_names(".hoodie/.locks") if "service" in name] == []


SERVICES = [(compact, writes_data), (log_compact, writes_data), (cluster, writes_data)]


@pytest.mark.parametrize(("service", "stops_at"), SERVICES)
def test_second_machine_is_refused_while_the_first_one_shows_life(service: Service, stops_at: Callable[[Call], bool]) -> None:
    world = World(stops_at)
    running = Suspended(world.machine, lambda: service(world.first))
    world.pass_time(119)
    with pytest.raises(ConflictError, match=r"of host .* showed life 119 seconds ago, and counts as dead 120 seconds after"):
        service(world.second)
    assert not isinstance(running.end(), Exception)
    world.check()


def test_second_clean_is_refused_while_the_first_one_shows_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyhudi.service.cleaning.inline_cleaning._FEW", 0)  # a clean of many files runs without the table's lock
    world = World(deletes_data, "COPY_ON_WRITE")
    running = Suspended(world.machine, lambda: clean(world.first))
    with pytest.raises(ConflictError, match="is cleaning table"):
        clean(world.second)
    assert not isinstance(running.end(), Exception)
    world.check()


@pytest.mark.parametrize(("service", "stops_at"), [*SERVICES, (cluster, wrote_data), (compact, wrote_data)])
def test_machine_that_was_taken_for_dead_harms_nothing(service: Service, stops_at: Callable[[Call], bool]) -> None:
    """It wakes up when the second one has completed the service, and has files of the same instant to write still."""
    world = World(stops_at)
    running = Suspended(world.machine, lambda: service(world.first))
    world.pass_time(121)
    completed = service(world.second)
    assert completed[0].state == "completed"
    error = running.end()
    assert isinstance(error, HudiError)
    assert any("completed by another process" in note for note in error.__notes__)
    world.check()


@pytest.mark.parametrize(("service", "stops_at"), [(cluster, writes_data), (cluster, wrote_data), (compact, writes_data)])
def test_machine_that_was_taken_for_dead_wakes_up_while_the_second_one_runs(service: Service, stops_at: Callable[[Call], bool]) -> None:
    world = World(stops_at)
    running = Suspended(world.machine, lambda: service(world.first))
    world.pass_time(121)
    second = Machine(world.shared, lambda call: call.method == "close_output" and not call.path.startswith(".hoodie/"))
    taking_over = Suspended(second, lambda: service(table_on(second, world.provider)))
    error = running.end()
    assert isinstance(error, HudiError)
    assert any("left to the process that has taken over" in note for note in error.__notes__)
    assert not isinstance(taking_over.end(), Exception)
    world.check()


def test_clean_that_was_taken_over_is_completed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyhudi.service.cleaning.inline_cleaning._FEW", 0)
    world = World(deletes_data, "COPY_ON_WRITE")
    running = Suspended(world.machine, lambda: clean(world.first))
    world.pass_time(121)
    clean(world.second)
    assert isinstance(running.end(), LockLostError)
    assert len([name for name in world.shared.file_names(".hoodie/timeline") if name.endswith(".clean")]) == 1
    world.check()


@pytest.mark.parametrize(
    "harm",
    [
        lambda table, pending, _: table.services.rollback(pending),
        lambda table, pending, _: table.services.revert(pending),
        lambda table, _, earlier: table.services.restore(to=earlier),
    ],
)
def test_plan_that_another_machine_runs_is_not_taken_away(harm: Callable[[HudiTable, str, str], object]) -> None:
    world = World(writes_data)
    running = Suspended(world.machine, lambda: cluster(world.first))
    timeline = load_timeline(world.shared, HudiTable(world.shared).config)
    with pytest.raises(ConflictError, match="is clustering table"):
        harm(world.second, timeline.pending()[0].requested, timeline.data_instants()[0].requested)
    assert not isinstance(running.end(), Exception)
    world.check()


def test_index_is_built_by_one_machine_at_a_time() -> None:
    world = World(lambda call: call.method == "open_output" and "record_index" in call.path)
    running = Suspended(world.machine, lambda: world.first.services.index("record_index"))
    with pytest.raises(ConflictError, match="is building indexes of table"):
        world.second.services.index("record_index")
    assert not isinstance(running.end(), Exception)
    world.check()


def test_deduplication_excludes_a_clustering_of_another_machine() -> None:
    world = World(writes_data)
    HudiTable(world.shared).bulk_insert([ride(1, value=4)], options=WITHOUT_SERVICES)
    running = Suspended(world.machine, lambda: cluster(world.first))
    with pytest.raises(ConflictError, match="is clustering table"):
        world.second.services.deduplicate("oslo")
    assert not isinstance(running.end(), Exception)


def test_table_of_one_machine_needs_no_lease() -> None:
    world = World(writes_data)
    compact(HudiTable(world.shared))
    assert world.shared.file_names(".hoodie/.locks") == ()
