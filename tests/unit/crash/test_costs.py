"""What a small commit asks of the storage: the budget of a ten-row commit that takes 30 ms."""

from __future__ import annotations

from collections import Counter

import pytest

from pyhudi.spec.actions.commit import Operation
from pyhudi.testing.call_log import RecordingStorage
from tests.unit.crash.tables import DRIVER, Driver, ride, stored_table

SYNCED = {"create", "replace", "close_output"}


def test_small_upsert_waits_for_the_disk_five_times_and_lists_little() -> None:
    storage, _ = stored_table()
    rows = [ride(number, "oslo", number) for number in range(10)]
    DRIVER.write(storage, Operation.UPSERT, rows)
    recorded = RecordingStorage(storage)
    DRIVER.write(recorded, Operation.UPSERT, rows)
    counts = Counter(call.method for call in recorded.calls)
    assert sum(counts[method] for method in SYNCED) <= 5, counts
    assert counts["list"] <= 8, counts
    assert counts.total() <= 27, counts  # one reads what the last commit wrote


def calls_of_commit_number(number: int, table_type: str) -> Counter[str]:
    """Calls of one upsert into one file group, after so many of them; the metadata table is compacted every ten."""
    driver = Driver(metadata_table=True, table_type=table_type, written_with={"hoodie.clean.automatic": "false"})
    rows = [ride(number, "oslo", number) for number in range(10)]
    storage, _ = stored_table(Driver(table_type=table_type))
    for _ in range(number):
        driver.write(storage, Operation.UPSERT, rows)
    recorded = RecordingStorage(storage)  # not a copy: what earlier commits wrote is known to a process that goes on
    driver.write(recorded, Operation.UPSERT, rows)
    return Counter(call.method for call in recorded.calls)


@pytest.mark.parametrize(("table_type", "later"), [("COPY_ON_WRITE", 14), ("MERGE_ON_READ", 13)])
def test_commit_with_a_metadata_table_touches_the_storage_a_constant_number_of_times(table_type, later) -> None:
    """Neither of the two commits compacts."""
    counts = calls_of_commit_number(4, table_type)
    assert sum(counts[method] for method in SYNCED) <= 12, counts
    assert counts["list"] <= 13, counts
    assert counts["read"] <= 8, counts  # one of them tells which files the last delta commit of the metadata table wrote
    assert counts.total() <= 54, counts
    more = calls_of_commit_number(later, table_type) - counts
    # Each log file since the compaction is opened once.
    assert more <= Counter(open_input=3), more


@pytest.mark.parametrize(("metadata_table", "most"), [(False, 8), (True, 22)])
def test_a_clean_after_a_commit_continues_from_what_the_commit_knows(metadata_table, most) -> None:
    """The commit whose clean has something to delete, against one that cleans nothing: no second lock, no timeline read again."""
    counts = []
    for options in ({"hoodie.clean.automatic": "false"}, {"hoodie.clean.commits.retained": "3"}):
        written_with = {**options, "hoodie.metadata.compact.max.delta.commits": "100"}
        driver, storage = Driver(written_with=written_with, metadata_table=metadata_table), stored_table(Driver())[0]
        for number in range(8):
            driver.write(storage, Operation.UPSERT, [ride(1, "oslo", number)])
        recorded = RecordingStorage(storage)
        driver.write(recorded, Operation.UPSERT, [ride(1, "oslo", 9)])
        counts.append(Counter(call.method for call in recorded.calls))
    more = counts[1] - counts[0]
    assert more["delete"] == 1
    assert more["create"] == (6 if metadata_table else 3)
    assert more["lock"] == 1, "that of cleans; the table's is held already"
    assert more["list"] <= (3 if metadata_table else 1), more
    del more["open_input"]  # earlier cleans have left a log file each in the metadata table, which the commit reads
    assert more.total() <= most, more


def test_a_clean_that_has_nothing_to_do_costs_nothing() -> None:
    """A table that only grows: between the cleans that record that, no call is made for cleaning."""
    counts = []
    for options in ({"hoodie.clean.automatic": "false"}, {"hoodie.clean.commits.retained": "3"}):
        driver, storage = Driver(written_with=options), stored_table(Driver())[0]
        for number in range(15):
            driver.write(storage, Operation.BULK_INSERT, [ride(100 + number, "oslo", number)])
        recorded = RecordingStorage(storage)
        driver.write(recorded, Operation.BULK_INSERT, [ride(1000, "oslo", 9)])
        counts.append(Counter(call.method for call in recorded.calls))
    assert counts[1] - counts[0] == Counter()
