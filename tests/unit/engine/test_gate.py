"""What the local engine leaves behind when it is interrupted: nothing that still runs."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pyhudi.engine.local import LocalEngine


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

    monkeypatch.setattr(threading.Thread, "start", interrupted_start)
    with pytest.raises(KeyboardInterrupt):
        LocalEngine(threads=2).run(task, [1, 2, 3])
    after_return = list(done)
    time.sleep(0.2)
    assert done == after_return


def test_the_pool_alone_would_leave_a_task_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """The defect that the gate is for, so that the test above is known to notice it."""
    started = threading.Thread.start
    done: list[Any] = []

    def interrupted_start(thread: threading.Thread) -> None:
        started(thread)
        raise KeyboardInterrupt

    pool = ThreadPoolExecutor(2)
    monkeypatch.setattr(threading.Thread, "start", interrupted_start)
    with pytest.raises(KeyboardInterrupt):
        pool.submit(lambda: (time.sleep(0.1), done.append(1)))
    pool.shutdown(wait=True, cancel_futures=True)
    assert done == []
    time.sleep(0.3)
    assert done == [1]
