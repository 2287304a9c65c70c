"""A storage that fails in the last step of a commit and then gives no answer: the caller is told that nobody knows."""

from __future__ import annotations

import pytest

from pyhudi.errors import UnknownOutcomeError
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.crash_points import calls_of
from pyhudi.testing.fault_injection import Fault, FaultStorage
from tests.unit.crash.tables import DRIVER, check_at_rest, check_rows, ride, stored_table

WRITE = (Operation.UPSERT, [ride(1, "oslo", 99), ride(7, "bern", 70)])
NEXT = (Operation.UPSERT, [ride(4, "rome", 41)])


def last_step(storage: MemoryStorage) -> int:
    """The number of the call that creates the completed file."""
    calls = calls_of(lambda cut: DRIVER.write(cut, *WRITE), storage.copy)
    return next(number for number, call in enumerate(calls) if call.method == "create" and call.path.endswith(".commit"))


@pytest.mark.parametrize("fault", [Fault.ERROR_BUT_DONE, Fault.ERROR_NOT_DONE])
def test_silent_storage_is_told_and_the_next_write_continues(fault) -> None:
    storage, before = stored_table()
    step, storage = last_step(storage), storage.copy()  # a copy: what the process knows of a table saves calls
    silent = FaultStorage(FaultStorage(storage, step, fault), step + 1, Fault.ERROR_NOT_DONE)
    with pytest.raises(UnknownOutcomeError, match="history"):
        DRIVER.write(silent, *WRITE)
    oracle = before.after(*WRITE) if fault is Fault.ERROR_BUT_DONE else before
    check_rows(storage, oracle, "before the next write")
    DRIVER.write(storage, *NEXT)
    check_rows(storage, oracle.after(*NEXT), "after the next write")
    check_at_rest(storage, "after the next write")


def test_history_tells_what_became_of_the_write() -> None:
    storage, _ = stored_table()
    step, storage = last_step(storage), storage.copy()
    silent = FaultStorage(FaultStorage(storage, step, Fault.ERROR_BUT_DONE), step + 1, Fault.ERROR_NOT_DONE)
    with pytest.raises(UnknownOutcomeError):
        DRIVER.write(silent, *WRITE)
    assert HudiTable(storage).history().column("state").to_pylist() == ["completed"] * 3
