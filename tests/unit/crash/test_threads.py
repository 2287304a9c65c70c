"""Threads of one process that write one table at the same time: they take turns, and nothing is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pyhudi.errors import LockTimeoutError
from pyhudi.spec.actions.commit import Operation
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.table.hudi_table import HudiTable
from tests.unit.crash.tables import DRIVER, check_at_rest, ride


@pytest.fixture(params=["memory", "local"])
def storage(request, tmp_path):
    storage = MemoryStorage() if request.param == "memory" else LocalStorage(str(tmp_path / "rides"))
    DRIVER.create(storage)
    return storage


def test_writers_in_threads_take_turns(storage) -> None:
    def write(number: int) -> None:
        DRIVER.write(storage, Operation.UPSERT, [ride(number, "oslo", number), ride(100, "rome", number)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(12)))
    rows = {row["id"]: row["value"] for row in DRIVER.read(storage)}
    assert rows.keys() == {*range(12), 100}
    assert sum(action != "clean" for action in HudiTable(storage).history()["action"].to_pylist()) == 12
    check_at_rest(storage, "all threads")


def test_readers_see_whole_writes_while_others_write(storage) -> None:
    """Both rows of each write carry its number: a reader that finds two numbers has seen half a write."""
    DRIVER.write(storage, Operation.UPSERT, [ride(1, "oslo", 0), ride(2, "rome", 0)])

    def write(number: int) -> None:
        DRIVER.write(storage, Operation.UPSERT, [ride(1, "oslo", number), ride(2, "rome", number)])

    def read(_: int) -> set[int]:
        return {row["value"] for row in DRIVER.read(storage)}

    with ThreadPoolExecutor(2) as pool:
        written = pool.map(write, range(1, 9))
        reads = [read(number) for number in range(30)]
        list(written)
    assert all(len(values) == 1 for values in reads), reads


def test_writer_that_waits_too_long_says_so_and_writes_nothing(storage) -> None:
    table = HudiTable(storage)
    with storage.lock(1), pytest.raises(LockTimeoutError, match="another"):
        table.upsert([ride(1, "oslo", 1)], options={"hoodie.write.lock.wait_time_ms": "20"})
    assert DRIVER.read(storage) == []
    assert table.history().num_rows == 0
