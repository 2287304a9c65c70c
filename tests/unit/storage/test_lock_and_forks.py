"""The writer lock ends with the write, whatever is forked, spawned or started meanwhile; and a child writes by itself."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pyarrow as pa
import pytest

from pyhudi import HudiTable
from pyhudi.errors import LockTimeoutError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.storage.memory_storage import MemoryStorage

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")

#: Longer than any test, so that a lock that a child keeps is noticed.
CHILD_LIFE_S = 120


@pytest.fixture
def storage(tmp_path) -> LocalStorage:
    return LocalStorage(str(tmp_path))


@contextmanager
def forked(child=lambda: time.sleep(CHILD_LIFE_S)):
    """A forked child that does something; it is killed at the end."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            child()
            code = 0
        finally:
            os._exit(code)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_lock_ends_with_the_write_though_a_forked_child_lives(storage) -> None:
    with storage.lock(1):
        child = forked()
        child.__enter__()
    try:
        with storage.lock(0):
            pass
    finally:
        child.__exit__(None, None, None)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_lock_ends_with_the_write_beside_processes_of_multiprocessing(storage, method) -> None:
    child = multiprocessing.get_context(method).Process(target=time.sleep, args=(CHILD_LIFE_S,))
    with storage.lock(1):
        child.start()
    try:
        with storage.lock(0):
            pass
    finally:
        child.kill()
        child.join()


@pytest.mark.parametrize("close_fds", [True, False])
def test_started_program_does_not_get_the_lock(storage, close_fds) -> None:
    with storage.lock(1):
        program = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({CHILD_LIFE_S})"], close_fds=close_fds)
    try:
        with storage.lock(0):
            pass
    finally:
        program.kill()
        program.wait()


def test_lock_ends_with_a_killed_writer_whose_forked_child_lives_on(storage) -> None:
    """Nobody unlocks then: the child must have closed what it inherited."""
    reader, writer = os.pipe()

    def hold_and_fork() -> None:
        with storage.lock(1):
            child = os.fork()
            if child == 0:
                time.sleep(CHILD_LIFE_S)
                os._exit(0)
            os.write(writer, child.to_bytes(4, "big"))
            time.sleep(CHILD_LIFE_S)

    with forked(hold_and_fork):
        grandchild = int.from_bytes(os.read(reader, 4), "big")
    try:
        with storage.lock(5):
            pass
    finally:
        os.kill(grandchild, signal.SIGKILL)


def test_child_that_leaves_the_block_does_not_end_the_lock_of_its_parent(storage) -> None:
    with storage.lock(1):
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            with pytest.raises(LockTimeoutError), storage.lock(0):
                pass
    if child == 0:
        os._exit(0)


def test_a_write_holds_its_lock_in_the_process_that_took_it_alone(storage) -> None:
    with storage.lock(1) as lock:
        child = os.fork()
        if child == 0:
            os._exit(1 if lock.is_held() else 0)  # an error ends the child with 1, too
        assert os.waitpid(child, 0)[1] == 0
        assert lock.is_held()


def test_child_closes_no_file_that_has_taken_the_descriptor_of_the_lock(storage, tmp_path) -> None:
    """The lock's descriptor is closed in the child at once, and its number used again."""
    (tmp_path / "other").write_bytes(b"text")
    with storage.lock(1):
        child = os.fork()
        descriptors = [os.open(tmp_path / "other", os.O_RDONLY) for _ in range(3)] if child == 0 else []
    if child == 0:
        try:
            os._exit(0 if all(os.read(descriptor, 4) == b"text" for descriptor in descriptors) else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_no_fork_among_threads_that_lock_keeps_a_lock(storage) -> None:
    """Forks come at any moment, also between the opening of a lock file and its lock."""
    end = time.monotonic() + 1.0

    def lock_often(name: str) -> None:
        while time.monotonic() < end:
            with storage.lock(10, name):
                pass

    children = []
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(lock_often, name) for name in ("one", "two")]
        while time.monotonic() < end:
            child = forked()
            child.__enter__()
            children.append(child)
            time.sleep(0.02)
        for future in running:
            future.result()
    try:
        for name in ("one", "two"):
            with storage.lock(0, name):
                pass
    finally:
        for child in children:
            child.__exit__(None, None, None)


def rows(first: int, count: int = 3) -> list[dict[str, int]]:
    return [{"id": number, "v": first} for number in range(first, first + count)]


@pytest.fixture
def table(tmp_path) -> HudiTable:
    schema = pa.schema([("id", pa.int64()), ("v", pa.int64())])
    return HudiTable.create(str(tmp_path / "t"), schema, name="t", keys=["id"])


def test_child_forked_during_a_write_writes_itself(table) -> None:
    """The parent writes on a thread while the main thread forks; parent and children add rows in turn."""
    stop = threading.Event()
    written = []  # type: ignore[var-annotated]

    def write() -> None:
        while not stop.is_set():
            first = len(written) * 3
            table.upsert(rows(first))
            written.append(first)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for number in range(3):
            with forked(lambda number=number: table.upsert(rows(10_000 + number * 3))) as child:
                deadline = time.monotonic() + 60
                while (ended := os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is None:
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
                assert (ended.si_code, ended.si_status) == (os.CLD_EXITED, 0)
    finally:
        stop.set()
        thread.join()
    keys = set(table.to_arrow()["id"].to_pylist())
    assert keys == {*range(len(written) * 3), *range(10_000, 10_009)}


def test_child_writes_a_table_in_memory_whose_lock_a_thread_of_the_parent_holds() -> None:
    storage = MemoryStorage()
    present, end = threading.Event(), threading.Event()

    def hold() -> None:
        with storage.lock(1):
            present.set()
            end.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    present.wait(60)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with storage.lock(1):
                code = 0
        finally:
            os._exit(code)
    end.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
