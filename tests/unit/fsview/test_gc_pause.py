"""Pausing Python's garbage collector: what was found before the first pause is restored after the last."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator

import pytest

from pyhudi.fsview.gc_pause import collector_paused


@pytest.fixture(autouse=True, params=[True, False], ids=["on", "off"])
def is_on(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_pauses_of_two_threads_that_overlap_restore_the_state_before_the_first(is_on: bool) -> None:
    began, may_end, states = threading.Event(), threading.Event(), []

    def pause() -> None:
        with collector_paused():
            began.set()
            may_end.wait(10)
            states.append(gc.isenabled())

    with collector_paused():
        other = threading.Thread(target=pause)
        other.start()
        began.wait(10)
    states.append(gc.isenabled())  # the other thread is still in its pause
    may_end.set()
    other.join()
    assert (states, gc.isenabled()) == ([False, False], is_on)


def test_an_error_ends_a_pause(is_on: bool) -> None:
    with pytest.raises(ValueError, match="x"), collector_paused(), collector_paused():
        raise ValueError("x")
    assert gc.isenabled() == is_on


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_that_is_forked_during_a_pause_of_another_thread_has_the_collector_as_it_was(is_on: bool) -> None:
    began, may_end = threading.Event(), threading.Event()

    def pause() -> None:
        with collector_paused():
            began.set()
            may_end.wait(10)

    other = threading.Thread(target=pause)
    other.start()
    began.wait(10)
    child = os.fork()
    if not child:
        os._exit(0 if gc.isenabled() == is_on else 1)
    _, status = os.waitpid(child, 0)
    may_end.set()
    other.join()
    assert os.waitstatus_to_exitcode(status) == 0
