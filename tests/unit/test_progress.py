"""Bars of what takes long: on a terminal, and nowhere else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.progress import _current, progress_bar, report, without_progress
from tests.terminal import run_on_terminal

SLOW = """
import sys, time
import pyhudi.progress as progress
from pyhudi.engine.local_engine import LocalEngine
progress._DELAY_S = progress._REFRESH_S = 0.02
with progress.progress_bar("compaction"):
    with progress.progress_bar("read"):
        LocalEngine(threads={threads}).run(lambda _: time.sleep(0.3), range(4))
print("result")
"""


def output_and_bars(program: str, **environment: str) -> tuple[str, str]:
    """Run a program whose standard error is a terminal; return its output and what the terminal shows."""
    visible, printed = run_on_terminal(["-c", program], environment, pipe_stdout=True)
    return printed, visible


@pytest.mark.parametrize("threads", [1, 2])
def test_what_takes_long_is_shown_on_a_terminal_with_its_tasks(threads: int) -> None:
    printed, visible = output_and_bars(SLOW.format(threads=threads))
    assert printed == "result\n"
    assert "compaction" in visible
    assert "read" not in visible
    assert "/4" in visible


@pytest.mark.parametrize("environment", [{"PYHUDI_PROGRESS": "0"}, {"TERM": "dumb"}], ids=["off", "dumb terminal"])
def test_nothing_is_shown_where_it_is_not_wanted(environment: dict[str, str]) -> None:
    assert output_and_bars(SLOW.format(threads=1), **environment) == ("result\n", "")


def test_nothing_is_shown_in_a_pipe() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW.format(threads=1)], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("result\n", "")


def test_fast_work_loads_no_rich() -> None:
    program = "import sys; from pyhudi.progress import progress_bar\nwith progress_bar('x'): pass\nprint('rich' in sys.modules)"
    assert output_and_bars(program) == ("False\n", "")


def test_an_error_passes_through_and_ends_the_bar() -> None:
    program = """
import threading
from pyhudi.progress import _current, progress_bar
try:
    with progress_bar("x"):
        1 / 0
except ZeroDivisionError:
    print(threading.active_count(), _current.get())
"""
    assert output_and_bars(program) == ("1 None\n", "")


def test_reports_without_a_bar_go_nowhere() -> None:
    report(1, 2)
    with without_progress(), progress_bar("x"):
        assert _current.get() is False
        assert LocalEngine(2).run(abs, [-1, 2, -3]) == [1, 2, 3]
