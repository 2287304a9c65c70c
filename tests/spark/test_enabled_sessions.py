"""Threads may enable and disable sessions at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from pyhudi.spark import enabled_sessions
from pyhudi.spark.enabled_sessions import _Enabled


class _Session:
    """As much of a session as is asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sparkContext: Any = SimpleNamespace(_jsc=None)


@pytest.fixture
def _fast_switches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(enabled_sessions, "_identity", lambda session: session.name)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("_fast_switches")
def test_threads_that_enable_and_disable_do_not_disturb_each_other() -> None:
    known, failures = _Enabled(), []

    def work(number: int) -> None:
        try:
            for turn in range(100):
                sessions: list[Any] = [_Session(f"{number}-{turn}-{count}") for count in range(5)]
                for session in sessions:
                    known.add(session)
                    known.mark_requested(session)
                known.is_any_left()
                for session in sessions:
                    known.remove(session)
        except RuntimeError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (list(known.identities), len(known.sessions), len(known.requested)) == ([], 0, 0)


@pytest.mark.usefixtures("_fast_switches")
def test_identities_of_sessions_that_nobody_disables_do_not_pile_up() -> None:
    known = _Enabled()
    for number in range(10_050):
        session: Any = _Session(str(number))
        known.add(session)
    assert len(list(known.identities)) == 10_000
