"""A process that dies by SIGKILL at one phase of an action, on a real disk.

python -m tests.unit.crash.killed_action TABLE ACTION PHASE
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyhudi.errors
from pyhudi import HudiTable
from pyhudi.storage.local_storage import LocalStorage

_REPOSITORY: Final = Path(__file__).parents[3]
_SOURCES: Final = Path(pyhudi.errors.__file__).parents[1]
_DATA: Final = r"(?!\.hoodie)([^/]+/)*\.?[^/]+\.(parquet|log\.\d+_[\d-]+)"
_DONE: Final = r"\.hoodie/(timeline/)?\d+(_\d+)?\.(commit|deltacommit|replacecommit|clean)"
#: When a process dies: before or after it has done what to which file.
PHASES: Final = {
    "before requested": ("before", "create", r"\.hoodie/(timeline/)?\d+\.\w+\.requested"),
    "requested": ("after", "create", r"\.hoodie/(timeline/)?\d+\.\w+\.requested"),
    "inflight": ("after", "create", r"\.hoodie/(timeline/)?\d+\.(\w+\.)?inflight"),
    "files": ("after", "open_output", _DATA),
    "deleted": ("after", "delete", _DATA),
    "before completed in metadata": ("before", "create", r"\.hoodie/metadata/\.hoodie/(timeline/)?\d+(_\d+)?\.deltacommit"),
    "before completed": ("before", "create", _DONE),
    "completed": ("after", "create", _DONE),
}
_OF_WRITES: Final = tuple(phase for phase in PHASES if phase != "deleted")
_OF_CLEANS: Final = tuple(phase for phase in PHASES if phase != "files")
#: The phases of each action.
PHASES_OF: Final = {"upsert": _OF_WRITES, "clean": _OF_CLEANS, "compact": _OF_WRITES, "cluster": _OF_WRITES}
NO_SERVICES: Final = {"hoodie.clean.automatic": "false", "hoodie.archive.automatic": "false", "hoodie.compact.inline": "false"}
CLEAN: Final = {"hoodie.clean.commits.retained": "1"}


def kill_in(path: Path, action: str, phase: str, rows: list[dict[str, Any]]) -> None:
    """Run an action on a table in a process that dies in a phase; `rows` are those of an upsert."""
    command = [sys.executable, "-m", "tests.unit.crash.killed_action", str(path), action, phase]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_SOURCES), str(_REPOSITORY)])}
    ended = subprocess.run(
        command, env=environment, cwd=_REPOSITORY, input=json.dumps(rows), capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == -signal.SIGKILL, (ended.returncode, ended.stdout, ended.stderr)


def run_action(table: HudiTable, action: str, rows: list[dict[str, Any]]) -> None:
    """Run an action to its end."""
    if action == "upsert":
        table.upsert(rows, options=NO_SERVICES)
    elif action == "clean":
        table.services.clean(options=CLEAN)
    elif action == "compact":
        table.services.compact()
    else:
        table.services.cluster()


def _die_in(phase: str) -> None:
    when, name, pattern = PHASES[phase]
    call = getattr(LocalStorage, name)

    def die(point: str, path: str) -> None:
        if point == when and re.fullmatch(pattern, path):
            os.kill(os.getpid(), signal.SIGKILL)

    def dying(storage: LocalStorage, path: str, *arguments: Any, **named: Any) -> Any:
        die("before", path)
        answer = call(storage, path, *arguments, **named)
        die("after", path)
        return answer

    @contextlib.contextmanager
    def dying_output(storage: LocalStorage, path: str) -> Iterator[BinaryIO]:
        with call(storage, path) as sink:
            yield sink
        die("after", path)

    replacement: Callable[..., Any] = dying_output if name == "open_output" else dying
    setattr(LocalStorage, name, replacement)


def main() -> None:
    """Die, or say by status 0 that the phase was never reached."""
    path, action, phase = sys.argv[1:]
    rows = json.load(sys.stdin)
    table = HudiTable.open(path)
    _die_in(phase)
    run_action(table, action, rows)


if __name__ == "__main__":
    main()
