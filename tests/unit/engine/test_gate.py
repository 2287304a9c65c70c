"""What the local engine leaves behind when it is interrupted: nothing that still runs."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from pyhudi import workers
from pyhudi.engine.local_engine import LocalEngine


def test_a_thread_whose_start_was_interrupted_runs_no_task_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Thread.start
    done: list[int] = []

    def interrupted_start(thread: threading.Thread) -> None:
        started(thread)
        if thread.name.startswith("pyhudi"):
            raise KeyboardInterrupt

    def task(number: int) -> int:
        time.sleep(0.05)
        done.append(number)
        return number

    monkeypatch.setattr(workers, "_workers", workers.Workers())  # as in a process that has begun no thread yet
    monkeypatch.setattr(threading.Thread, "start", interrupted_start)
    with pytest.raises(KeyboardInterrupt):
        LocalEngine(threads=2).run(task, [1, 2, 3])
    after_return = list(done)
    time.sleep(0.2)
    assert done == after_return


def test_a_ctrl_c_while_tasks_run_ends_after_those_that_have_begun() -> None:
    begun, done = threading.Semaphore(0), []

    def task(number: int) -> None:
        begun.release()
        time.sleep(0.1)
        done.append(number)

    def interrupt() -> None:
        begun.acquire()
        os.kill(os.getpid(), signal.SIGINT)

    # Libraries that other tests of this process import (polars) put handlers of their own before Python's.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sender = threading.Thread(target=interrupt)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        LocalEngine(threads=2).run(task, list(range(50)))
    after_return = len(done)
    sender.join()
    time.sleep(0.2)
    assert len(done) == after_return < 50


def test_a_task_that_runs_tasks_itself_waits_for_no_free_thread() -> None:
    engine = LocalEngine(threads=8)
    assert engine.run(lambda number: sum(engine.run(abs, range(number))), range(40)) == [sum(range(number)) for number in range(40)]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # that of Python 3.12 about processes with threads
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    LocalEngine(threads=2).run(abs, [1, 2, 3])
    child = os.fork()
    if not child:
        os._exit(0 if LocalEngine(threads=2).run(abs, [-1, 2, -3]) == [1, 2, 3] else 1)
    deadline = time.monotonic() + 20
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the forked process waits for threads that it does not have")
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(ended[1]) == 0
