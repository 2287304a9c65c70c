"""Concurrent writers of version 6, where a log file is named by its slice: by names that differ, and not below a compaction of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, WriteConflictError
from pyhudi.spec.files.file_names import parse_log_file_name
from pyhudi.spec.instant import Action
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage
from pyhudi.timeline.clock import SystemClock
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.timeline.write_instant import TimelineWriter
from tests.unit.table.tables import by_id, make_table, ride, rows_of
from tests.unit.txn.test_optimistic import OCC, RETRIES, Between, beside, check_sound

DUE = {**OCC, "hoodie.compact.inline.max.delta.commits": "1"}
LOGS_DUE = {**OCC, "hoodie.log.compaction.blocks.threshold": "2"}
Service = Callable[[HudiTable], object]


@pytest.fixture(params=["true", "false"], ids=["with metadata table", "which the write builds"])
def table(request: pytest.FixtureRequest) -> HudiTable:
    created = {"hoodie.write.table.version": "6"}
    made = make_table(MemoryStorage(), table_type="MERGE_ON_READ", partition_by=("city",), options=created)
    for value in range(3):
        made.upsert([ride(1, value=value), ride(2, "rome", value)], options={"hoodie.metadata.enable": request.param})
    return made


def plan(table: HudiTable) -> None:
    assert table.services.compact(mode="schedule", options=DUE)


def compact(table: HudiTable) -> None:
    assert table.services.compact(options=DUE)


def log_compact(table: HudiTable) -> None:
    assert table.services.log_compact(options=LOGS_DUE)


def plan_logs(table: HudiTable) -> None:
    assert table.services.log_compact(mode="schedule", options=LOGS_DUE)


def logs_of(table: HudiTable) -> list[str]:
    return [name for name in table.storage.file_names("oslo") if parse_log_file_name(name)]


@pytest.mark.parametrize("service", [plan, compact, plan_logs, log_compact])
@pytest.mark.parametrize("after", [False, True])
def test_write_loses_to_a_compaction_that_was_planned_meanwhile(table: HudiTable, service: Service, after: bool) -> None:
    """Its log file belongs to the slice that the plan ends, and the plan does not hold it."""
    writer = beside(table, lambda: service(HudiTable(table.storage)), after=after)
    with pytest.raises(WriteConflictError, match="changed file group"):
        writer.upsert([ride(1, value=7)], options=OCC)
    table.services.compact(mode="execute", options=OCC)
    table.services.log_compact(mode="execute", options=OCC)
    assert rows_of(HudiTable(table.storage)) == [ride(1, value=2), ride(2, "rome", 2)]
    check_sound(HudiTable(table.storage))


@pytest.mark.parametrize("service", [plan, compact, plan_logs, log_compact])
def test_write_is_repeated_on_top_of_the_compaction(table: HudiTable, service: Service) -> None:
    writer = beside(table, lambda: service(HudiTable(table.storage)))
    writer.upsert([ride(1, value=7)], options={**OCC, RETRIES: "1"})
    for _ in range(2):
        assert rows_of(HudiTable(table.storage)) == [ride(1, value=7), ride(2, "rome", 2)]
        table.services.compact(mode="execute", options=OCC)
        table.services.log_compact(mode="execute", options=OCC)
    table.services.compact(options=DUE)
    assert rows_of(HudiTable(table.storage)) == [ride(1, value=7), ride(2, "rome", 2)]
    check_sound(HudiTable(table.storage))


def test_write_beside_a_compaction_that_was_planned_before_goes_on_top_of_it(table: HudiTable) -> None:
    plan(table)
    writer = beside(table, lambda: HudiTable(table.storage).services.compact(mode="execute", options=OCC))
    writer.upsert([ride(1, value=7)], options=OCC)
    assert rows_of(HudiTable(table.storage)) == [ride(1, value=7), ride(2, "rome", 2)]
    compact(table)
    assert rows_of(HudiTable(table.storage)) == [ride(1, value=7), ride(2, "rome", 2)]
    check_sound(HudiTable(table.storage))


def test_compaction_of_other_file_groups_is_no_conflict(table: HudiTable) -> None:
    table.upsert([ride(3, "bergen")])
    writer = beside(table, lambda: compact(HudiTable(table.storage)))
    writer.upsert([ride(3, "bergen", 7)], options=OCC)  # its file group has no logs to compact
    assert ride(3, "bergen", 7) in rows_of(HudiTable(table.storage))
    check_sound(HudiTable(table.storage))


def test_two_writers_name_no_log_file_alike(table: HudiTable) -> None:
    """Markers of both would name one file, and what the loser deletes would be the winner's."""
    names_after: list[list[str]] = []

    def upsert_too() -> None:
        table.upsert([ride(1, value=5)], options=OCC)
        names_after.append(logs_of(table))

    with pytest.raises(WriteConflictError):
        HudiTable(table.storage, engine=Between(upsert_too)).upsert([ride(1, value=7)], options=OCC)
    assert rows_of(HudiTable(table.storage)) == [ride(1, value=5), ride(2, "rome", 2)]
    tokens = [name.rpartition("_")[2] for name in logs_of(table)]
    assert len({token for token in tokens if not token.endswith("-0-0")}) == 2
    assert set(names_after[0]) <= set(logs_of(table))
    check_sound(HudiTable(table.storage))


def test_writer_that_was_rolled_back_does_not_complete(table: HudiTable) -> None:
    """Its log file stays, since a compaction that is planned meanwhile may name it, and no reader sees its rows."""

    class Late(InterceptedStorage):
        is_late = False

        def _pass(self, call: Call, effect: Callable[[], Any], torn: Callable[[], object] | None = None) -> Any:
            if call.method == "open_output" and ".log." in call.path and not self.is_late and not call.path.startswith(".hoodie"):
                self.is_late = True
                for beat in table.storage.list(".hoodie/.heartbeat"):
                    table.storage.delete(beat.path)  # the writer was held up for so long that it counts as dead
                table.services.clean(options=OCC)
            return effect()

    with pytest.raises(ConflictError, match="rolled back"):
        HudiTable(Late(table.storage), engine=LocalEngine(threads=1)).upsert([ride(1, value=7)], options=OCC)
    compact(table)
    for options in ({}, {"hoodie.metadata.enable": "false"}):
        assert by_id(HudiTable(table.storage).to_arrow(options=options).to_pylist()) == [ride(1, value=2), ride(2, "rome", 2)]


def test_write_loses_to_an_index_build_of_apache_hudi_that_began_meanwhile(table: HudiTable) -> None:
    def begin_build() -> None:
        now = SystemClock().now().strftime("%Y%m%d%H%M%S%f")[:17]
        TimelineWriter(table.storage, table.config).request(Action.INDEXING, now)

    with pytest.raises(WriteConflictError, match="builds indexes"):
        beside(table, begin_build).upsert([ride(1, value=7)], options=OCC)
    assert load_timeline(table.storage, table.config).pending()[-1].action is Action.INDEXING
    assert rows_of(HudiTable(table.storage)) == [ride(1, value=2), ride(2, "rome", 2)]


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_first_of_concurrent_writers_builds_the_metadata_table(kind: str) -> None:
    table = make_table(MemoryStorage(), table_type=kind, options={"hoodie.write.table.version": "6"})
    table.upsert([ride(1)], options={**OCC, "hoodie.metadata.enable": "true"})
    assert HudiTable(table.storage).config.metadata_partitions == ("column_stats", "files")
    check_sound(HudiTable(table.storage))
