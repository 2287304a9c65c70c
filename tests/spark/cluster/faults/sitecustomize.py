"""Faults of the Python workers of a cluster of processes: the interpreter of an executor loads this before anything else.

A fault is a file `fault.json` in the folder that `PYHUDI_TEST_FAULTS` names: at which point of a task (`marked`: its marker is on storage;
`writing`: its data file is begun; `written`: the file is whole, and nobody was told), what happens (`executor`, `worker`, `driver`: that
process is killed; `lookup`: an executor is killed, and the output of the shuffle is lost that all of them have written, the join of the
index look-up included; `sleep`: the task takes long), and how often.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

FOLDER = os.environ.get("PYHUDI_TEST_FAULTS")
STRAGGLES_S = 30.0


def fault(point: str) -> None:
    """Let happen what the plan says for a point, as often as it says."""
    assert FOLDER is not None
    try:
        plan = json.loads(Path(FOLDER, "fault.json").read_text())
    except FileNotFoundError:
        return
    if plan["point"] != point or not _is_claimed(plan["number"], plan["times"]):
        return
    what = plan["what"]
    if what == "sleep":
        time.sleep(STRAGGLES_S)
    elif what == "worker":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "driver":
        for process in plan["driver"]:
            os.kill(process, signal.SIGKILL)
        time.sleep(STRAGGLES_S)
    else:
        if what == "lookup":
            for output in Path(FOLDER).glob("local/**/shuffle_*"):
                output.unlink(missing_ok=True)
        os.kill(_executor(), signal.SIGKILL)
        time.sleep(STRAGGLES_S)


def _is_claimed(number: int, times: int) -> bool:
    for time_ in range(times):
        with contextlib.suppress(FileExistsError):
            os.close(os.open(Path(FOLDER or "", f"happened-{number}-{time_}"), os.O_CREAT | os.O_EXCL))
            return True
    return False


def _executor() -> int:
    """Return the process of the JVM above this worker and the daemon that forked it."""
    process = os.getppid()
    while b"java" not in Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[0]:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()[1])
    return process


def _install() -> None:
    # Only workers have the variable, and only they load these.
    from pyhudi.markers.marker_route import DirectMarkers  # noqa: PLC0415
    from pyhudi.markers.marker_server import ServerMarkers  # noqa: PLC0415
    from pyhudi.storage.local_storage import LocalStorage  # noqa: PLC0415

    for route in (DirectMarkers, ServerMarkers):
        create = route.create

        def marked(self, *arguments, create=create):
            create(self, *arguments)
            fault("marked")

        route.create = marked  # type: ignore[method-assign]
    open_new = LocalStorage.open_output

    @contextlib.contextmanager
    def open_output(self: LocalStorage, path: str) -> Iterator[BinaryIO]:
        with open_new(self, path) as sink:
            fault("writing")
            yield sink
        fault("written")

    LocalStorage.open_output = open_output  # type: ignore[method-assign]


if FOLDER:
    _install()
