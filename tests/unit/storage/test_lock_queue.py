"""Waiters for a lock are served in the order in which they came, and one that dies, is stopped or gives up delays nobody."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pyhudi.errors import LockTimeoutError, StorageError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.lock_files.lock_queue import LockQueue
from pyhudi.storage.lock_files.lock_record import LOCK_FILE
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage

_WAIT_IN_A_PROCESS = """
import signal, sys
from pyhudi.storage.local_storage import LocalStorage
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what it runs in the background without
with LocalStorage(sys.argv[1]).lock(60):
    print("held", flush=True)
"""


@pytest.fixture(params=["local", "memory"])
def storage(request, tmp_path) -> Storage:
    return LocalStorage(str(tmp_path)) if request.param == "local" else MemoryStorage()


@pytest.fixture
def local(tmp_path) -> LocalStorage:
    return LocalStorage(str(tmp_path))


def tickets(storage: LocalStorage) -> list[str]:
    folder = Path(storage.root, f"{LOCK_FILE}.queue")
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def until(condition) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_waiters_are_served_in_the_order_in_which_they_came(local) -> None:
    served = []

    def wait(number: int) -> None:
        with local.lock(60):
            served.append(number)

    with ThreadPoolExecutor(6) as pool, local.lock(1):
        for number in range(6):
            pool.submit(wait, number)
            until(lambda number=number: len(tickets(local)) == number + 1)
    assert served == list(range(6))
    assert tickets(local) == []


def test_writer_that_takes_the_lock_again_at_once_does_not_starve_others(storage) -> None:
    """A service gets its turn after the write that runs, not when the tight writer happens to be slow."""
    stop, turns = threading.Event(), [0]

    def write_tightly() -> None:
        while not stop.is_set():
            with storage.lock(60):
                turns[0] += 1
                time.sleep(0.01)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write_tightly)
        passed = []
        for _ in range(10):
            time.sleep(0.015)
            before = turns[0]
            with storage.lock(60):
                passed.append(turns[0] - before)
        stop.set()
    assert max(passed) <= 3


def test_longest_wait_of_four_equal_writers_is_at_most_twice_their_mean(storage) -> None:
    """Counted in turns of others, because the time of a turn is the machine's."""
    turns, waits = [0], []

    def write() -> None:
        for _ in range(25):
            before = turns[0]
            with storage.lock(60):
                waits.append(turns[0] - before)
                turns[0] += 1
                time.sleep(0.005)

    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(write)
    assert len(waits) == 100
    assert max(waits) <= 2 * sum(waits) / len(waits)


def test_dead_waiters_delay_nobody_and_leave_nothing(local) -> None:
    with local.lock(1):
        deleted = [subprocess.Popen([sys.executable, "-c", _WAIT_IN_A_PROCESS, local.root]) for _ in range(2)]
        until(lambda: len(tickets(local)) == 2)
        for process in deleted:
            process.kill()
            process.wait()
        assert tickets(local)
    with ThreadPoolExecutor(1) as pool:
        with local.lock(1):
            served = pool.submit(_time_to_lock, local)
            until(lambda: len(tickets(local)) == 1)  # those of the dead are deleted while they are met
        assert served.result(timeout=30)
    assert tickets(local) == []


def _time_to_lock(storage: Storage) -> float:
    with storage.lock(60):
        return time.monotonic()


def test_stopped_waiter_is_passed_over_and_gets_its_turn_later(local) -> None:
    with local.lock(1):
        stopped = subprocess.Popen([sys.executable, "-c", _WAIT_IN_A_PROCESS, local.root], stdout=subprocess.PIPE)
        until(lambda: len(tickets(local)) == 1)
        stopped.send_signal(signal.SIGSTOP)
    with local.lock(30):
        pass
    stopped.send_signal(signal.SIGCONT)
    assert stopped.communicate(timeout=30)[0] == b"held\n"


def test_waiter_that_gives_up_leaves_the_queue(local) -> None:
    with (
        local.lock(1),
        pytest.raises(LockTimeoutError, match=r"another writer .* for 0\.05 s"),
        local.lock(0.05),
    ):
        pass
    assert tickets(local) == []


def test_interrupted_waiter_leaves_the_queue(local) -> None:
    with local.lock(1):
        waiter = subprocess.Popen([sys.executable, "-c", _WAIT_IN_A_PROCESS, local.root], stderr=subprocess.PIPE)
        until(lambda: len(tickets(local)) == 1)
        waiter.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in waiter.communicate(timeout=30)[1]
        assert tickets(local) == []


def test_who_does_not_wait_does_not_queue(local) -> None:
    """A service that runs alone asks once."""
    with local.lock(1), pytest.raises(LockTimeoutError), local.lock(0):
        pass
    assert not Path(local.root, f"{LOCK_FILE}.queue").exists()


def test_foreign_files_in_the_queue_are_left_alone(local) -> None:
    folder = Path(local.root, f"{LOCK_FILE}.queue")
    folder.mkdir(parents=True)
    (folder / "note.txt").write_text("mine")
    with local.lock(1), pytest.raises(LockTimeoutError), local.lock(0.01):
        pass
    assert tickets(local) == ["note.txt"]


def test_where_no_ticket_can_be_made_one_waits_without_order(local) -> None:
    Path(local.root, LOCK_FILE).parent.mkdir(parents=True)
    Path(local.root, f"{LOCK_FILE}.queue").write_text("no folder")
    with ThreadPoolExecutor(1) as pool:
        with local.lock(1):
            served = pool.submit(_time_to_lock, local)
            time.sleep(0.02)
        assert served.result(timeout=30)


def test_lock_of_a_table_that_was_removed_meanwhile_is_refused(local) -> None:
    """The file has another lock than the one that the next table at this place will have."""
    with ThreadPoolExecutor(1) as pool:
        with local.lock(1):
            served = pool.submit(_time_to_lock, local)
            until(lambda: len(tickets(local)) == 1)
            local.delete_tree(".hoodie")
        with pytest.raises(StorageError, match="was deleted meanwhile"):
            served.result(timeout=30)


def test_one_that_does_not_wait_passes_those_who_do_as_little(local) -> None:
    """Between two turns the lock is free until the next waiter looks."""
    with local.lock(1):
        pass
    folder = os.open(local.root, os.O_RDONLY)
    try:
        with LockQueue(folder, LOCK_FILE).ticket(), pytest.raises(LockTimeoutError), local.lock(0):
            pass
        Path(local.root, f"{LOCK_FILE}.queue", f"{1:020d}-1-1").touch()  # of a process that died
        with local.lock(0):
            pass
    finally:
        os.close(folder)
    assert tickets(local) == []
