"""Clusterings that give way to writes that are at work, by the conflict strategy PreferWriter."""

from __future__ import annotations

from typing import Any

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, WriteConflictError
from pyhudi.spec.instant import State
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.heartbeats import heartbeat_path
from tests.unit.table.tables import make_table, ride, rows_of
from tests.unit.txn.test_optimistic import MODE, OCC, STRATEGY, TYPES, Between, beside, check_sound

PREFER = OCC | {STRATEGY: "org.apache.hudi.client.transaction.PreferWriterConflictResolutionStrategy"}
FAILS = {"hoodie.clustering.fail.on.pending.ingestion.during.conflict.resolution": "true"}


@pytest.fixture(params=TYPES)
def table(request: pytest.FixtureRequest) -> HudiTable:
    made = make_table(MemoryStorage(), table_type=request.param, partition_by=("city",))
    made.upsert([ride(1), ride(2), ride(3, city="rome")], options={"hoodie.parquet.small.file.limit": "0"})
    return made


class WhileInflight(Between):
    """An engine that lets something else happen once, while the tasks that write files run, not those that look keys up."""

    def __init__(self, table: HudiTable, happens) -> None:
        super().__init__(happens)
        self._table = table

    def run(self, function, tasks):
        states = [one.state for one in load_timeline(self._table.storage, self._table.config).pending()]
        return super().run(function, tasks) if State.INFLIGHT in states else LocalEngine(threads=1).run(function, tasks)


def lost(table: HudiTable, text: str, **options: str):
    """Return an action that clusters, and loses."""

    def cluster() -> None:
        with pytest.raises(ConflictError, match=text):
            table.services.cluster(options=PREFER | options)

    return cluster


def test_a_clustering_gives_way_to_a_write_that_is_inflight(table: HudiTable) -> None:
    happens = lost(table, "is changing file group")
    HudiTable(table.storage, engine=WhileInflight(table, happens)).upsert([ride(1, value=7)], options=PREFER)
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]
    check_sound(table)
    table.services.cluster(options=PREFER)
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]


def test_by_the_simple_strategy_the_write_loses(table: HudiTable) -> None:
    first = beside(table, lambda: table.services.cluster(options=OCC))
    with pytest.raises(WriteConflictError):
        first.upsert([ride(1, value=7)], options=OCC)


def test_a_clustering_of_other_file_groups_completes(table: HudiTable) -> None:
    only = {"hoodie.clustering.plan.strategy.partition.selected": "rome"}
    done: list[Any] = []
    first = beside(table, lambda: done.extend(table.services.cluster(options=PREFER | only)))
    first.upsert([ride(1, value=7)], options=PREFER)
    assert len(done) == 1
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]
    check_sound(table)


def test_a_write_that_begins_while_the_clustering_runs_is_preferred(table: HudiTable) -> None:
    engine = Between(lambda: table.upsert([ride(1, value=7)], options=PREFER))
    with pytest.raises(ConflictError, match="a writer has changed or replaced it"):
        table.services.cluster(options=PREFER, engine=engine)
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]
    check_sound(table)


def test_a_clustering_gives_way_to_a_write_that_replaces_its_partition(table: HudiTable) -> None:
    engine = WhileInflight(table, lost(table, "is changing partition 'oslo'"))
    HudiTable(table.storage, engine=engine).overwrite([ride(4)], partitions=["oslo"], options=PREFER)
    assert rows_of(table) == [ride(3, city="rome"), ride(4)]
    check_sound(table)


@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_only_the_option_lets_a_clustering_give_way_to_a_live_write_that_is_only_requested(
    table: HudiTable, alive: bool, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the write looks keys up nobody knows yet which file groups it will change."""
    options = PREFER | (FAILS if fails else {})
    storage, requested = table.storage, list[str]()

    class Looking(Between):
        def run(self, function, tasks):
            pending = load_timeline(storage, table.config).pending()
            if not requested and pending:
                requested.append(pending[0].requested)
                if not alive:
                    storage.delete(heartbeat_path(pending[0].requested))
                if fails and alive:
                    lost(table, "has begun, and", **FAILS)()
                else:
                    table.services.cluster(options=options)
            return super().run(function, tasks)

    writer = HudiTable(storage, engine=Looking(None))
    if fails and alive:
        writer.upsert([ride(1, value=7)], options=options)
        assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]
    else:
        with pytest.raises(ConflictError):
            writer.upsert([ride(1, value=7)], options=options)
        assert rows_of(table) == [ride(1), ride(2), ride(3, city="rome")]
    assert requested


def test_writes_to_file_groups_of_a_plan_go_on_and_the_plan_cannot_run(table: HudiTable) -> None:
    table.services.cluster(mode="schedule", options=PREFER)
    table.upsert([ride(1, value=7)], options=PREFER)
    with pytest.raises(ConflictError, match="Roll it back"):
        table.services.cluster(mode="execute", options=PREFER)
    (pending,) = load_timeline(table.storage, table.config).pending()
    table.services.rollback(pending.requested)
    table.services.cluster(options=PREFER)
    assert rows_of(table) == [ride(1, value=7), ride(2), ride(3, city="rome")]


def test_the_strategy_of_a_single_writer_changes_nothing(table: HudiTable) -> None:
    table.services.cluster(mode="schedule")
    with pytest.raises(ConflictError, match="is planned and holds file group"):
        table.upsert([ride(1, value=7)], options={STRATEGY: PREFER[STRATEGY], MODE: "single_writer"})
