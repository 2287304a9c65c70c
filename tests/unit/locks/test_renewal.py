"""A renewal goes on after whatever one attempt raises, and ends when what it renews is lost."""

from __future__ import annotations

import logging
import threading

import pytest

from pyhudi.locks.renewal import Renewal

_WAIT_S = 30.0


@pytest.mark.parametrize("failure", [OSError("no answer"), ValueError("a client library of another author")])
def test_an_attempt_that_fails_is_followed_by_the_next(failure: Exception, caplog: pytest.LogCaptureFixture) -> None:
    attempts, renewed = iter([failure]), threading.Event()

    def renew() -> bool:
        for error in attempts:
            raise error
        renewed.set()
        return True

    renewal = Renewal(0.001, renew, "the lock could not be renewed")
    with caplog.at_level(logging.WARNING, "pyhudi"):
        renewal.start()
        assert renewed.wait(_WAIT_S)
        assert renewal.stop(_WAIT_S)
    assert f"the lock could not be renewed: {failure}" in caplog.text


def test_nothing_is_renewed_once_it_is_lost() -> None:
    calls: list[int] = []

    def renew() -> bool:
        calls.append(1)
        return False

    renewal = Renewal(0.001, renew, "the lock could not be renewed")
    renewal.start()
    assert renewal._stopped.wait(_WAIT_S)
    assert calls == [1]
    assert renewal.stop()
