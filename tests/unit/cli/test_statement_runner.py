"""Ctrl-C while `pyhudi sql` runs a statement: its jobs are cancelled from another thread, and the shell goes on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from pyhudi.cli.sessions import statement_runner
from pyhudi.cli.sessions.statement_runner import StatementRunner


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Put the handler of Ctrl-C back."""
    previous = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, previous)


class Job:
    """A statement that ends when its jobs were cancelled a number of times."""

    def __init__(self, cancels: int) -> None:
        self.cancels, self.ended, self.threads, self.notes = cancels, threading.Event(), list[str](), list[str]()
        self.runner = StatementRunner(self.run, self.cancel, self.notes.append)

    def run(self, statement: str) -> bool:
        self.threads.append(threading.current_thread().name)
        if statement == "quick":
            return True
        time.sleep(0.05)  # until the main thread waits for the answer
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        self.ended.wait(10)
        return False

    def cancel(self) -> None:
        self.threads.append(threading.current_thread().name)
        self.cancels -= 1
        if self.cancels <= 0:
            self.ended.set()


@pytest.mark.parametrize("cancels", [1, 3])
def test_an_interrupted_statement_is_cancelled_and_the_next_one_runs(cancels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement_runner, "_SECONDS_TO_NEXT", 0.01)
    job = Job(cancels)
    with pytest.raises(KeyboardInterrupt):
        job.runner.run("slow")
    assert job.ended.is_set()
    assert "press Ctrl-C again" in job.notes[0]
    assert job.runner.run("quick")
    assert job.threads[0] == job.threads[-1] != threading.main_thread().name
    assert set(job.threads[1:-1]) == {threading.main_thread().name}


def test_a_second_interrupt_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    job = Job(1)
    monkeypatch.setattr(job, "cancel", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    job.runner._cancel = job.cancel
    with pytest.raises(KeyboardInterrupt):
        job.runner.run("slow")
    job.ended.set()
    assert codes == [130]
