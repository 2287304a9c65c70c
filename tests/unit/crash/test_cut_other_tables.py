"""Tables of other kinds, cut at every storage call of one write: the same promises hold."""

from __future__ import annotations

import pytest

from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.testing.crash_points import Part, crash_points
from pyhudi.testing.merge_oracle import Oracle
from tests.slow_cases import slow_cases
from tests.unit.crash.tables import STORED, Driver, each_part, ride
from tests.unit.crash.test_cut_writes import Write, check_answer, check_recovery

UPSERT: Write = (Operation.UPSERT, [ride(1, "oslo", 99), ride(7, "rome", 70)])
INSERT: Write = (Operation.INSERT, [ride(8, "rome", 80)])


def cut_everywhere(driver: Driver, write: Write, before: Oracle, after: Oracle, part: Part, following: Write = INSERT) -> None:
    storage = MemoryStorage()
    driver.create(storage)
    driver.write(storage, Operation.INSERT, STORED)
    for run in crash_points(lambda cut: driver.write(cut, *write), storage.copy, part=part):
        check_recovery(run, check_answer(run, before, after), following)


@pytest.fixture
def stored() -> Oracle:
    return Oracle("id", "city").after(Operation.INSERT, STORED)


TABLES = {
    "not partitioned": (Driver(partition_by=()), UPSERT),
    "version 6": (Driver(created_with={"hoodie.write.table.version": "6"}), UPSERT),
    "version 8": (Driver(created_with={"hoodie.write.table.version": "8"}), UPSERT),
    "hive style paths": (Driver(created_with={"hoodie.datasource.write.hive_style_partitioning": "true"}), UPSERT),
    "without keys": (Driver(keys=()), INSERT),
}


#: What they have of their own is cut elsewhere: version 6 has other names of actions, and paths do not matter to a commit.
LONG = {"version 8", "hive style paths"}


@each_part
@pytest.mark.parametrize("name", slow_cases(TABLES, LONG))
def test_write_cut_anywhere_is_whole_or_not_at_all(name, stored, part) -> None:
    driver, write = TABLES[name]
    following: Write = (Operation.INSERT, [ride(9, "rome", 90)])
    cut_everywhere(driver, write, stored, stored.after(*write), part, following)


@each_part
def test_row_that_moves_between_partitions_is_never_lost_or_doubled(stored, part) -> None:
    driver = Driver(written_with={"hoodie.index.type": "GLOBAL_SIMPLE"})
    after_move = stored.after(Operation.DELETE, [ride(1, "oslo", 0)]).after(Operation.INSERT, [ride(1, "rome", 99)])
    cut_everywhere(driver, (Operation.UPSERT, [ride(1, "rome", 99)]), stored, after_move, part)


def test_new_column_appears_with_its_write_or_not_at_all(stored) -> None:
    wide = Oracle("id", "city").after(Operation.INSERT, [{**row, "note": None} for row in STORED])
    write: Write = (Operation.UPSERT, [{**ride(1, "oslo", 99), "note": "late"}])
    storage_rows = (Operation.UPSERT, [{**ride(3, "rome", 33), "note": "next"}])
    narrow_storage = MemoryStorage()
    driver = Driver()
    driver.create(narrow_storage)
    driver.write(narrow_storage, Operation.INSERT, STORED)
    for run in crash_points(lambda cut: driver.write(cut, *write), narrow_storage.copy):
        done = check_answer(run, stored, wide.after(*write))
        check_recovery(run, wide if done is stored else done, storage_rows)  # type: ignore[arg-type]
