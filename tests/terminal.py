"""Programs on a pseudo-terminal: what they print there."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence

#: Variables of the environment of the tests that decide how programs print.
_DECIDING = ("COLUMNS", "LINES", "NO_COLOR")


def run_on_terminal(
    arguments: Sequence[str], environment: Mapping[str, str], *, columns: int = 80, pipe_stdout: bool = False
) -> tuple[str, str]:
    """Run Python with arguments on a terminal; return what it printed on the terminal, and what into the pipe.

    Args:
        arguments: those of Python, such as `["-m", "pyhudi", "ls"]`.
        environment: variables to set.
        columns: the width of the terminal.
        pipe_stdout: connect standard output to a pipe, so that only standard error is the terminal.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in _DECIDING}
    variables |= {"TERM": "xterm-256color", **environment}
    stdout = subprocess.PIPE if pipe_stdout else follower
    with subprocess.Popen(
        [sys.executable, *arguments], stdin=follower, stdout=stdout, stderr=follower, env=variables, text=True
    ) as process:
        os.close(follower)
        visible = _read_all(leader)
        piped = process.communicate(timeout=60)[0] or ""
    os.close(leader)
    assert process.returncode == 0, visible
    return visible, piped


def _read_all(leader: int) -> str:
    """Return what a terminal received until its last program closed it."""
    visible = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the terminal is closed
            break
        if not part:
            break
        visible += part
    return visible.decode()
