"""A clean that another writer may be running is left to it; one that nobody runs any more is taken up."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from pyhudi import HudiTable
from pyhudi.storage.memory_storage import MemoryStorage
from tests.unit.crash.tables import CountedIds, StoppedClock
from tests.unit.service.cleaning.test_clean import TIMELINE, clean, cleans, new_table, upsert

SEVERAL = "OPTIMISTIC_CONCURRENCY_CONTROL"


class LaterClock:
    """A clock that is some seconds ahead of that of the test's tables."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def now(self) -> datetime:
        return StoppedClock().now() + timedelta(seconds=self._seconds)


def table_with_pending_clean() -> HudiTable:
    """A table whose clean has deleted its files, and is not completed yet."""
    table = new_table(MemoryStorage())
    for value in range(5):
        upsert(table, value)
    clean(table, commits__retained="1")
    completed = next(one.path for one in table.storage.list(TIMELINE) if one.name.endswith(".clean"))
    table.storage.delete(completed)
    return table


@pytest.mark.parametrize(
    ("mode", "seconds", "state"), [(SEVERAL, 60, "inflight"), (SEVERAL, 180, "completed"), ("SINGLE_WRITER", 60, "completed")]
)
def test_young_pending_clean_is_left_to_the_other_writers(mode: str, seconds: int, state: str) -> None:
    table = HudiTable(table_with_pending_clean().storage, clock=LaterClock(seconds), ids=CountedIds())
    upsert(table, 5, hoodie__clean__automatic="true", hoodie__write__concurrency__mode=mode)
    assert [one["state"] for one in cleans(table)] == [state]


def test_a_clean_on_request_takes_it_up() -> None:
    table = HudiTable(table_with_pending_clean().storage, clock=LaterClock(60), ids=CountedIds())
    table.services.clean(options={"hoodie.write.concurrency.mode": SEVERAL})
    assert [one["state"] for one in cleans(table)] == ["completed"]
