"""What a small commit asks of the storage: the budget of a ten-row commit that takes 30 ms."""

from __future__ import annotations

from collections import Counter

from pyhudi.spec.commit import Operation
from pyhudi.testing.crash import calls_of
from tests.unit.crash.tables import DRIVER, Driver, ride, stored_table

SYNCED = {"create", "replace", "close_output"}


def test_small_upsert_waits_for_the_disk_five_times_and_lists_little() -> None:
    storage, _ = stored_table()
    rows = [ride(number, "oslo", number) for number in range(10)]
    counts = Counter(call.method for call in calls_of(lambda recorded: DRIVER.write(recorded, Operation.UPSERT, rows), storage.copy))
    assert sum(counts[method] for method in SYNCED) <= 5, counts
    assert counts["list"] <= 12, counts
    assert counts.total() <= 36, counts


def calls_of_commit_number(number: int) -> Counter[str]:
    """Calls of one upsert into one file group, after so many of them; the metadata table is compacted every ten."""
    storage, _ = stored_table()
    driver, rows = Driver(metadata_table=True), [ride(number, "oslo", number) for number in range(10)]
    for _ in range(number):
        driver.write(storage, Operation.UPSERT, rows)
    return Counter(call.method for call in calls_of(lambda recorded: driver.write(recorded, Operation.UPSERT, rows), storage.copy))


def test_commit_with_a_metadata_table_touches_the_storage_a_constant_number_of_times() -> None:
    counts = calls_of_commit_number(4)
    assert sum(counts[method] for method in SYNCED) <= 13, counts
    assert counts["list"] <= 22, counts
    later = calls_of_commit_number(14)
    # Each log file since the compaction is opened once.
    assert later - counts <= Counter(open_input=3), later - counts
