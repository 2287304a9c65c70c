"""Compaction concurrently with writers: later writes stay, groups replaced meanwhile are left alone, one process at a time compacts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, CorruptTableError, UsageError
from pyhudi.testing.invariants import garbage

SCHEMA = pa.schema({"id": pa.int64(), "city": pa.string(), "value": pa.int64()})
OFF = {"hoodie.compact.inline": "false"}
STORED = {number: ("oslo", "rome")[number % 2] for number in range(6)}


class Meanwhile:
    """An engine that does something else after its tasks have run, and before anybody hears of it."""

    name = "local"

    def __init__(self, act: Callable[[], Any]) -> None:
        self.act = act

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        results = LocalEngine(threads=1).run(function, tasks)
        self.act()
        return results


@pytest.fixture
def table(tmp_path) -> HudiTable:
    table = HudiTable.create(tmp_path / "t", SCHEMA, name="t", keys=["id"], partition_by=["city"], table_type="MERGE_ON_READ")
    upsert(table, dict.fromkeys(STORED, 0))
    upsert(table, dict.fromkeys(STORED, 1))
    return table


def upsert(table: HudiTable, values: dict[int, int]) -> None:
    table.upsert([{"id": key, "city": STORED.get(key, "bern"), "value": value} for key, value in values.items()], options=OFF)


def delete(table: HudiTable, *keys: int) -> None:
    table.delete([{"id": key, "city": STORED[key]} for key in keys], options=OFF)


def values(table: HudiTable, mode: str = "snapshot") -> dict[int, int]:
    rows = table.to_arrow(mode=mode).to_pylist()  # type: ignore[arg-type]
    result = {row["id"]: row["value"] for row in rows}
    assert len(result) == len(rows)
    return result


def actions(table: HudiTable) -> list[str]:
    return [row["action"] for row in table.history().to_pylist()]


def test_what_is_written_between_plan_and_run_stays(table) -> None:
    """R06: deletes after the plan must not come back, nor updates get lost."""
    table.services.compact(mode="schedule")
    delete(table, 0, 1)
    upsert(table, {2: 2, 7: 7})
    expected = {2: 2, 3: 1, 4: 1, 5: 1, 7: 7}
    assert values(table) == expected
    (done,) = table.services.compact(mode="execute")
    assert (done.log_files, done.rows) == (2, 6)
    assert values(table) == expected


@pytest.mark.parametrize("index", ["SIMPLE", "BLOOM"])
def test_key_inserted_again_while_the_compaction_of_its_deletion_is_pending_is_found(table, index: str) -> None:
    """Only a log file has it afterwards; Apache Hudi 1.2.0 looks in base files, and inserts it once more."""
    options = OFF | {"hoodie.index.type": index}
    delete(table, 0)
    table.services.compact(mode="schedule")
    table.upsert([{"id": 0, "city": STORED[0], "value": 2}], options=options)
    table.services.compact(mode="execute")
    assert 0 not in values(table, "read_optimized")
    table.upsert([{"id": 0, "city": STORED[0], "value": 3}], options=options)
    assert values(table) == dict.fromkeys(STORED, 1) | {0: 3}


def test_what_is_written_while_the_tasks_run_stays(table) -> None:
    def write() -> None:
        delete(table, 0)
        upsert(table, {1: 9, 8: 8})

    table.services.compact(engine=Meanwhile(write))
    assert values(table) == {1: 9, 2: 1, 3: 1, 4: 1, 5: 1, 8: 8}
    table.services.compact()
    assert values(table, "read_optimized") == values(table) == {1: 9, 2: 1, 3: 1, 4: 1, 5: 1, 8: 8}


def test_column_added_while_the_tasks_run_stays(table) -> None:
    def widen() -> None:
        rows = pa.table({"id": [0], "city": ["oslo"], "value": [5], "note": ["new"]})
        table.upsert(rows, options=OFF)

    table.services.compact(engine=Meanwhile(widen))
    assert "note" in HudiTable(table.storage).to_arrow().column_names


def test_partition_replaced_after_the_plan_is_declined(table) -> None:
    table.services.compact(mode="schedule")
    table.overwrite([{"id": 0, "city": "oslo", "value": 50}], dynamic=True, options=OFF)
    (done,) = table.services.compact(mode="execute")
    assert (done.slices, done.declined, done.files_written) == (2, 1, 1)
    assert values(table) == {0: 50, 1: 1, 3: 1, 5: 1}


def test_partition_deleted_while_the_tasks_run_is_left_out(table) -> None:
    (done,) = table.services.compact(engine=Meanwhile(lambda: table.delete(partitions=["oslo"])))
    assert (done.declined, done.files_written) == (1, 1)
    assert values(table) == {1: 1, 3: 1, 5: 1}
    assert garbage(table.storage) == []


def test_group_under_a_pending_plan_is_not_planned_again(table) -> None:
    (first,) = table.services.compact(mode="schedule")
    upsert(table, {0: 3, 8: 8})
    upsert(table, {8: 9})
    (second,) = table.services.compact(mode="schedule")
    assert (first.slices, second.slices) == (2, 1)
    assert table.services.compact(mode="schedule") == ()
    table.services.compact()
    assert values(table, "read_optimized") == values(table) == {0: 3, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1, 8: 9}


def test_second_process_is_told_that_one_is_at_it(table) -> None:
    failures: list[Exception] = []

    def compact_too() -> None:
        try:
            HudiTable(table.storage).services.compact()
        except ConflictError as error:
            failures.append(error)

    def in_thread() -> None:
        thread = threading.Thread(target=compact_too)
        thread.start()
        thread.join()

    table.services.compact(engine=Meanwhile(in_thread))
    assert "is compacting table" in str(failures[0])
    assert actions(table).count("commit") == 1


def test_run_whose_plan_was_taken_away_commits_nothing(table) -> None:
    def take_away() -> None:  # as somebody does who knows of no lock
        for status in table.storage.list(".hoodie/timeline"):
            if ".compaction." in status.name:
                table.storage.delete(status.path)

    with pytest.raises(ConflictError, match="not inflight any more"):
        table.services.compact(engine=Meanwhile(take_away))
    assert values(table) == dict.fromkeys(STORED, 1)


def test_run_that_another_completed_keeps_the_others_files(table) -> None:
    def complete_too() -> None:  # as Apache Hudi may, which does not know of our lock
        (inflight,) = [one for one in table.storage.list(".hoodie/timeline") if one.name.endswith("compaction.inflight")]
        requested = inflight.name.partition(".")[0]
        table.storage.create(f".hoodie/timeline/{requested}_29990101000000000.commit", b"")

    before = [status.path for status in table.storage.list("oslo")]
    with pytest.raises(ConflictError, match="not inflight any more"):
        table.services.compact(engine=Meanwhile(complete_too))
    after = [status.path for status in table.storage.list("oslo")]
    assert len([path for path in after if path not in before]) == 1


def test_file_of_the_plan_that_is_missing_stops_the_run(table) -> None:
    table.services.compact(mode="schedule")
    log = next(status.path for status in table.storage.list("oslo") if ".log." in status.name)
    table.storage.delete(log)
    with pytest.raises(CorruptTableError, match="is missing"):
        table.services.compact(mode="execute")
    assert actions(table)[-1] == "compaction"


def test_pending_compaction_is_rolled_back_on_request(table) -> None:
    (planned,) = table.services.compact(mode="schedule")
    upsert(table, {0: 3})
    (plan,) = table.services.rollback(planned.instant)
    assert plan.instant is not None
    assert plan.instant.action == "compaction"
    assert actions(table) == ["deltacommit"] * 3
    with pytest.raises(UsageError, match="no pending compaction"):
        table.services.compact(planned.instant)
    table.services.compact()
    assert values(table, "read_optimized")[0] == 3


def test_log_compaction_leaves_groups_to_a_compaction_that_apache_hudi_planned_after_it(table) -> None:
    """There a compaction may be planned for a group under log compaction; joined logs would then apply on top of what it makes."""
    upsert(table, {0: 2, 1: 2})
    (joining,) = table.services.log_compact(mode="schedule", options={"hoodie.log.compaction.blocks.threshold": "2"})
    plan = f".hoodie/timeline/{joining.instant}.logcompaction.requested"
    later = str(int(joining.instant) + 1)
    table.storage.create(f".hoodie/timeline/{later}.compaction.requested", table.storage.read(plan))
    upsert(table, {0: 3})
    (joined,) = table.services.log_compact(mode="execute")
    assert (joined.slices, joined.declined) == (2, 2)
    (done,) = table.services.compact(mode="execute")
    assert done.instant == later
    assert values(table) == {0: 3, 1: 2, 2: 1, 3: 1, 4: 1, 5: 1}


def test_pending_log_compaction_is_run_before_a_compaction_of_its_groups(table) -> None:
    upsert(table, {0: 2, 1: 2})
    table.services.log_compact(mode="schedule", options={"hoodie.log.compaction.blocks.threshold": "2"})
    assert table.services.compact(mode="schedule") == ()
    assert [done.action for done in table.services.compact()] == ["logcompaction", "compaction"]
    assert values(table, "read_optimized") == values(table) == {0: 2, 1: 2, 2: 1, 3: 1, 4: 1, 5: 1}


def test_copy_on_write_table_has_nothing_to_compact(tmp_path) -> None:
    table = HudiTable.create(tmp_path / "c", SCHEMA, name="c", keys=["id"])
    with pytest.raises(UsageError, match="copy-on-write"):
        table.services.compact()


def test_wrong_calls_are_refused(table) -> None:
    with pytest.raises(UsageError, match="mode is 'run'"):
        table.services.compact(mode="run")
    with pytest.raises(UsageError, match="gets its own time"):
        table.services.compact("20260101000000000", mode="schedule")


def test_dry_run_writes_nothing(table) -> None:
    before = actions(table)
    (plan,) = table.services.compact(dry_run=True)
    assert (plan.state, plan.slices, plan.instant) == ("planned", 2, None)
    table.services.compact(mode="schedule")
    (pending,) = table.services.compact(mode="execute", dry_run=True)
    assert pending.state == "requested"
    assert actions(table) == [*before, "compaction"]
