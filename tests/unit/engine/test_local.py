"""The local engine."""

from __future__ import annotations

import pickle
import threading
import time

import pytest

from pyhudi.engine.local_engine import LocalEngine


def test_results_come_in_the_order_of_the_tasks() -> None:
    def slow_first(number: int) -> int:
        time.sleep(0.02 if number == 0 else 0)
        return number * 10

    assert LocalEngine(threads=3).run(slow_first, [0, 1, 2, 3]) == [0, 10, 20, 30]


def test_single_task_runs_on_the_callers_thread() -> None:
    assert LocalEngine(threads=4).run(lambda _: threading.current_thread(), [0]) == [threading.current_thread()]


def test_failure_is_raised_only_when_no_task_is_running_any_more() -> None:
    running = threading.Semaphore(0)
    ended: list[int] = []

    def work(number: int) -> None:
        if number == 0:
            running.acquire()
            raise ValueError("first")
        running.release()
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(ValueError, match="first"):
        LocalEngine(threads=2).run(work, [0, 1])
    assert ended == [1]


def test_tasks_that_have_not_begun_are_dropped_after_a_failure() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        raise ValueError

    with pytest.raises(ValueError):
        LocalEngine(threads=2).run(work, list(range(100)))
    assert len(begun) < 100


def test_engine_pickles() -> None:
    assert pickle.loads(pickle.dumps(LocalEngine(threads=3))) == LocalEngine(threads=3)
