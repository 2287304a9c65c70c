"""Bars of what takes long: on a terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.progress import _current, progress_bar, report, without_progress

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


def run_on_terminal(program: str, **environment: str) -> tuple[str, str]:
    """Run a program whose standard error is a terminal; return what it printed on standard output and on the terminal."""
    leader, follower = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    variables |= {"TERM": "xterm", "COLUMNS": "80", **environment}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=follower, env=variables, text=True) as process:
        os.close(follower)
        visible = b""
        while True:
            try:
                part = os.read(leader, 65536)
            except OSError:  # the terminal is closed
                break
            if not part:
                break
            visible += part
        printed = process.communicate(timeout=60)[0]
    os.close(leader)
    assert process.returncode == 0
    return printed, visible.decode()


@pytest.mark.parametrize("threads", [1, 2])
def test_what_takes_long_is_shown_on_a_terminal_with_its_tasks(threads: int) -> None:
    printed, visible = run_on_terminal(SLOW.format(threads=threads))
    assert printed == "result\n"
    assert "compaction" in visible
    assert "read" not in visible
    assert "/4" in visible


@pytest.mark.parametrize("environment", [{"PYHUDI_PROGRESS": "0"}, {"TERM": "dumb"}], ids=["off", "dumb terminal"])
def test_nothing_is_shown_where_it_is_not_wanted(environment: dict[str, str]) -> None:
    assert run_on_terminal(SLOW.format(threads=1), **environment) == ("result\n", "")


def test_nothing_is_shown_in_a_pipe() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW.format(threads=1)], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("result\n", "")


def test_fast_work_loads_no_rich() -> None:
    program = "import sys; from pyhudi.progress import progress_bar\nwith progress_bar('x'): pass\nprint('rich' in sys.modules)"
    assert run_on_terminal(program) == ("False\n", "")


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
    assert run_on_terminal(program) == ("1 None\n", "")


def test_reports_without_a_bar_go_nowhere() -> None:
    report(1, 2)
    with without_progress(), progress_bar("x"):
        assert _current.get() is False
        assert LocalEngine(2).run(abs, [-1, 2, -3]) == [1, 2, 3]
