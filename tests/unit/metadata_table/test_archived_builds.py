"""A metadata table that was built in the middle of a table's life is trusted after the build was archived."""

from __future__ import annotations

import pytest

from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.not_none import not_none
from tests.unit.crash.tables import Driver
from tests.unit.metadata_table.replays import metadata_table

WRITTEN_WITH = {"hoodie.clean.automatic": "false", "hoodie.metadata.compact.max.delta.commits": "2"}
ARCHIVED = {"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}


HISTORY = ".hoodie/metadata/.hoodie/timeline/history"


def archived_table(version: str, builds: int) -> tuple[MemoryStorage, Driver]:
    """A table with commits that its metadata table knows by its build alone, which is archived; and what writes the table."""
    storage, created_with = MemoryStorage(), {"hoodie.write.table.version": version}
    before = Driver(created_with=created_with, written_with=WRITTEN_WITH)
    after = Driver(created_with=created_with, written_with=WRITTEN_WITH, metadata_table=True)
    before.create(storage)
    for number, driver in enumerate([before] * 5 + [after] * 4):
        driver.write(storage, Operation.UPSERT, [{"id": 1, "city": "oslo", "value": number}])
    table = HudiTable(storage)
    table.savepoint(table.history()["requested"][2].as_py())  # archival ends there, before the commits that the build has listed
    archived = table.services.archive(options=ARCHIVED)
    assert len(archived.instants) == 2
    assert len(archived.metadata_instants) == builds
    return storage, after


@pytest.mark.parametrize(("version", "builds"), [("6", 0), ("8", 3), ("9", 3)])
def test_commits_that_an_archived_build_has_listed_are_known(version: str, builds: int) -> None:
    storage, after = archived_table(version, builds)
    built = metadata_table(storage)
    assert built.missing_instants == ()
    after.write(storage, Operation.UPSERT, [{"id": 1, "city": "oslo", "value": 9}])
    assert {one.requested for one in built.timeline.completed()} <= {one.requested for one in metadata_table(storage).timeline.completed()}


def test_a_build_that_took_the_time_of_an_archived_one_is_another_action() -> None:
    """Apache Hudi builds a partition at the first time that is free on the active timeline."""
    storage, _ = archived_table("9", 3)
    folder, first = ".hoodie/metadata/.hoodie/timeline", "0" * 17
    last = metadata_table(storage).timeline.completed()[-1]
    completed = f"{folder}/{first}_{int(not_none(last.completed)) + 1}.deltacommit"
    for path in (f"{folder}/{first}.deltacommit.requested", f"{folder}/{first}.deltacommit.inflight"):
        storage.create(path, b"")
    storage.create(completed, storage.read(f"{folder}/{last.requested}_{last.completed}.deltacommit"))
    HudiTable(storage).services.archive(options={"hoodie.keep.min.commits": "20", "hoodie.keep.max.commits": "30"})
    assert storage.stat(completed) is not None
    assert storage.stat(f"{folder}/{first}.deltacommit.requested") is not None


@pytest.mark.parametrize("damaged", ["manifest_1", "00000000000000000_00000000000000002_0.parquet"])
def test_a_damaged_archive_of_the_metadata_table_costs_no_row_and_goes_with_the_next_write(damaged: str) -> None:
    storage, after = archived_table("9", 3)
    storage.replace(f"{HISTORY}/{damaged}", b"x")
    table, rows = HudiTable(storage), [{"id": 1, "city": "oslo", "value": 8}]
    assert table.to_arrow().to_pylist() == rows
    assert {row["check"] for row in table.inspect.health().to_pylist()} == {"metadata table knows all writes"}
    after.write(storage, Operation.UPSERT, [{"id": 1, "city": "oslo", "value": 9}])
    assert table.inspect.health().num_rows == 0
    assert table.to_arrow()["value"].to_pylist() == [9]
