"""What a small commit asks of the storage: the budget of a ten-row commit that takes 30 ms."""

from __future__ import annotations

from collections import Counter

from pyhudi.spec.commit import Operation
from pyhudi.testing.crash import calls_of
from tests.unit.crash.tables import DRIVER, ride, stored_table

SYNCED = {"create", "replace", "close_output"}


def test_small_upsert_waits_for_the_disk_five_times_and_lists_little() -> None:
    storage, _ = stored_table()
    rows = [ride(number, "oslo", number) for number in range(10)]
    counts = Counter(call.method for call in calls_of(lambda recorded: DRIVER.write(recorded, Operation.UPSERT, rows), storage.copy))
    assert sum(counts[method] for method in SYNCED) <= 5, counts
    assert counts["list"] <= 12, counts
    assert counts.total() <= 36, counts
