"""Writers, services and readers of one table as processes of their own, of which some are killed or stopped every now and then.

By hand: `python -m tests.unit.processes.soak --seconds 600 --kind MERGE_ON_READ /tmp/soak`. The process that starts the others has no
threads, and opens the table only after the others have ended.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, HudiError
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.locks.service_lease import ALIVE_S
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.invariants import dangling_references, folders_without_metafile, garbage, timeline_faults
from tests.unit.processes.history import faults_of_history, read_events
from tests.unit.processes.roles import MISSES, Role, Setting, run
from tests.unit.processes.workload import SCHEMA, first_change

#: How much longer than their time leases may be in the way of the services that finish.
_MARGIN_S = 30.0
NAMES = ("writer1", "writer2", "writer3", "writer4", "compactor1", "cleaner1", "reader1", "reader2")


@dataclass
class Crew:
    """The processes that run, by name."""

    folder: Path
    setting: Setting
    names: Sequence[str] = NAMES
    pids: dict[str, int] = field(default_factory=dict)
    incarnations: Counter[str] = field(default_factory=Counter)

    def start(self, name: str) -> None:
        """Fork a process that does what its name says."""
        number, incarnation = int(name[-1]), self.incarnations[name]
        self.incarnations[name] += 1
        role = Role(name, number, incarnation, self.setting, self.folder)
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                run(role)
            finally:
                os._exit(0)
        self.pids[name] = pid

    def signal(self, name: str, number: int) -> None:
        """Send a signal to a process and those that it has started."""
        with contextlib.suppress(ProcessLookupError):  # it has not come to its own session yet, or has ended
            os.killpg(self.pids[name], number)
            return
        os.kill(self.pids[name], number)

    def kill(self, name: str) -> None:
        """Kill a process, and wait for its end."""
        self.signal(name, signal.SIGKILL)
        os.waitpid(self.pids.pop(name), 0)

    def restart_ended(self) -> None:
        """Start again whoever has ended with an error; the log says which."""
        for name, pid in list(self.pids.items()):
            if os.waitpid(pid, os.WNOHANG) != (0, 0):
                del self.pids[name]
                self.start(name)


@dataclass(frozen=True)
class Disturbance:
    """How often, in seconds on average, a process is killed or stopped, and for how long at most it is stopped.

    One of `slow` names, which takes long to start, is spared four times out of five.
    """

    every_s: float = 2.0
    longest_stop_s: float = 4.0
    slow: frozenset[str] = frozenset()


def create(folder: Path, setting: Setting) -> None:
    """Create the table, in a process of its own: its threads are none of the parent's."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            options = {"hoodie.write.table.version": str(setting.version)}
            table = HudiTable.create(
                folder / "table", SCHEMA, name="soak", keys=["id"], partition_by=["city"], table_type=setting.table_type, options=options
            )
            rows = pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in first_change().rows], SCHEMA)
            table.upsert(rows, options={**setting.options, "_write": "first"})
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(pid, 0)[1]:
        raise AssertionError("the table was not created; its error is above")


def disturb(crew: Crew, seconds: float, disturbance: Disturbance, chance: random.Random) -> Counter[str]:
    """Kill and stop processes at random for so long; returns how often."""
    counts: Counter[str] = Counter()
    stopped: dict[str, float] = {}
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        time.sleep(chance.uniform(0, 2 * disturbance.every_s))
        for name in [name for name, until in stopped.items() if until < time.monotonic()]:
            _resume(crew, name, stopped)
        crew.restart_ended()
        name = chance.choice(sorted(crew.pids.keys() - stopped))
        if name in disturbance.slow and chance.random() < 0.8:
            continue
        if chance.random() < 0.5:
            crew.kill(name)
            crew.start(name)
            counts["kills"] += 1
        elif len(stopped) < 2:
            crew.signal(name, signal.SIGSTOP)
            stopped[name] = time.monotonic() + chance.uniform(0.1, disturbance.longest_stop_s)
            counts["stops"] += 1
    for name in list(stopped):
        _resume(crew, name, stopped)
    return counts


def _resume(crew: Crew, name: str, stopped: dict[str, float]) -> None:
    del stopped[name]
    crew.signal(name, signal.SIGCONT)


@contextlib.contextmanager
def crew_at_work(crew: Crew) -> Iterator[Crew]:
    """Start all processes, and kill them at the end."""
    try:
        for name in crew.names:
            crew.start(name)
        yield crew
    finally:
        for name in list(crew.pids):
            crew.kill(name)


def soak(crew: Crew, seconds: float, seed: int, disturbance: Disturbance) -> tuple[list[str], dict[str, int]]:
    """Let the processes work for so long, and return what is wrong with the table and with what they saw, and what happened how often."""
    folder, setting = crew.folder, crew.setting
    folder.mkdir(parents=True)
    create(folder, setting)
    with crew_at_work(crew):
        counts = disturb(crew, seconds, disturbance, random.Random(seed))
    time.sleep(setting.heartbeat_ms * (MISSES + 1) / 1000)
    table = HudiTable(LocalStorage(str(folder / "table")), engine=LocalEngine(threads=1))
    events = read_events(folder)
    faults = [*_finish(table, setting), *faults_of_history(table, events), *_faults_at_rest(table)]
    done = Counter(f"{event['kind']}" for event in events)
    return faults, {**counts, **done, "commits": len(table.history())}


def _finish(table: HudiTable, setting: Setting) -> Iterator[str]:
    """Run what the killed services have left; nothing may stay in the way of it once their leases have ended."""
    services, end = table.services, time.monotonic() + ALIVE_S + _MARGIN_S
    while True:
        try:
            if setting.table_type == "MERGE_ON_READ":
                services.compact(mode="execute", options=setting.options)
            services.cluster(mode="execute", options=setting.options)
            services.clean(options=setting.options)
        except ConflictError as error:
            if time.monotonic() < end:
                time.sleep(1)
                continue
            yield f"the services cannot finish: {type(error).__name__}: {error}"
        except HudiError as error:
            yield f"the services cannot finish: {type(error).__name__}: {error}"
        return


def _faults_at_rest(table: HudiTable) -> list[str]:
    storage = table.storage
    faults = timeline_faults(storage) + garbage(storage) + dangling_references(storage, row_count) + folders_without_metafile(storage)
    return faults + [str(row) for row in table.inspect.health().to_pylist()] + [str(row) for row in table.inspect.verify().to_pylist()]


def main() -> None:
    """Run one soak and print its faults as JSON; leave the folder when there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="COPY_ON_WRITE")
    parser.add_argument("--version", type=int, default=9)
    parser.add_argument("--no-metadata-table", action="store_true")
    parser.add_argument("--inline", action="store_true")
    parser.add_argument("--lock-provider", default="")
    parser.add_argument("--every", type=float, default=2.0)
    given = parser.parse_args()
    setting = Setting(given.kind, given.version, not given.no_metadata_table, given.inline, given.lock_provider)
    faults, counts = soak(Crew(given.folder, setting), given.seconds, given.seed, Disturbance(given.every))
    sys.stdout.write(json.dumps({"faults": faults, "counts": counts}) + "\n")


if __name__ == "__main__":
    main()
