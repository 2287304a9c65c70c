"""What each process of a soak does until it is killed, and the log of events that it leaves.

A log is appended to by one process at a time, a line for each event, so that it outlives the process. Times are those of the machine's
monotonic clock, which its processes share.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, HudiError, UnknownOutcomeError, UsageError
from pyhudi.storage.local_storage import LocalStorage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.processes.workload import next_change

#: A process that sends no heartbeat for so many milliseconds is dead for the others.
HEARTBEAT_MS, MISSES = 1_000, 2


@dataclass(frozen=True)
class Setting:
    """A table and how its writers share it."""

    table_type: str = "COPY_ON_WRITE"
    version: int = 9
    metadata_table: bool = True
    #: Whether writers clean and archive after their commits, or leave that to the cleaner.
    inline: bool = False
    lock_provider: str = ""
    #: Whether all writers insert and delete in partitions of their own only.
    lasting: bool = False
    heartbeat_ms: int = HEARTBEAT_MS
    #: In place of those below.
    other_options: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, str]:
        """Return the options of each process."""
        provider = {"hoodie.write.lock.provider": self.lock_provider} if self.lock_provider else {}
        return {
            **provider,
            "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
            "hoodie.write.num.retries.on.conflict.failures": "2",
            "hoodie.client.heartbeat.interval_in_ms": str(self.heartbeat_ms),
            "hoodie.client.heartbeat.tolerable.misses": str(MISSES),
            "hoodie.metadata.enable": str(self.metadata_table).lower(),
            "hoodie.clean.automatic": str(self.inline).lower(),
            "hoodie.clean.commits.retained": "4",
            "hoodie.archive.automatic": str(self.inline).lower(),
            "hoodie.keep.min.commits": "8",
            "hoodie.keep.max.commits": "12",
            "hoodie.write.lock.wait_time_ms": "20000",
            **self.other_options,
        }


@dataclass(frozen=True)
class Role:
    """One process: its name, and how often it was started before."""

    name: str
    number: int
    incarnation: int
    setting: Setting
    folder: Path

    def open(self) -> HudiTable:
        """Open the table."""
        return HudiTable(LocalStorage(str(self.folder / "table")), engine=LocalEngine(threads=1))

    def note(self, kind: str, **values: Any) -> None:
        """Add an event to the log of this process."""
        line = json.dumps({"kind": kind, "at": time.monotonic(), "pid": os.getpid(), **values})
        with (self.folder / f"{self.name}.log").open("ab", buffering=0) as log:
            log.write(f"{line}\n".encode())


def write(role: Role) -> None:
    """Write one change after the other, and note of each what became of it."""
    chance = random.Random(f"{role.name} {role.incarnation}")
    table, count = role.open(), 0
    while True:
        count += 1
        name = f"{role.name}-{role.incarnation}-{count}"
        change = next_change(chance, role.number, 1_000_000 * role.number + 10_000 * role.incarnation + count, lasting=role.setting.lasting)
        role.note("begin", name=name, change=change.to_json())
        try:
            result = change.write(table, {**role.setting.options, "_write": name})
        except UnknownOutcomeError as error:
            role.note("unknown", name=name, error=str(error))
        except ConflictError as error:
            role.note("refused", name=name, error=f"{type(error).__name__}: {error}")
        else:
            role.note("done", name=name, instant=result.instant)


def serve(role: Role, services: list[Callable[[HudiTable], object]]) -> None:
    """Run services in turn."""
    table = role.open()
    while True:
        for service in services:
            try:
                service(table)
            except ConflictError as error:
                role.note("refused", name="", error=f"{type(error).__name__}: {error}")
            else:
                role.note("served")
        time.sleep(0.1)


def compact(role: Role) -> None:
    """Compact and cluster."""
    options = role.setting.options
    merging = [lambda table: table.services.compact(options={**options, "hoodie.compact.inline.max.delta.commits": "2"})]
    serve(role, [*(merging if role.setting.table_type == "MERGE_ON_READ" else []), lambda table: table.services.cluster(options=options)])


def clean(role: Role) -> None:
    """Clean, with what dead writers left, and archive."""
    options = {**role.setting.options, "hoodie.archive.automatic": "true"}
    serve(role, [lambda table: table.services.clean(options=options), lambda table: table.services.archive(options=options)])


def read(role: Role) -> None:
    """Read snapshots, and what has changed since the last read."""
    table, since = role.open(), None
    while True:
        begun = time.monotonic()
        rows = table.to_arrow(["id", "city", "value"])
        role.note("snapshot", begun=begun, rows=[list(row.values()) for row in rows.to_pylist()])
        until = max(one.completed or "" for one in load_timeline(table.storage, table.config).data_instants())
        time.sleep(0.1)
        if until == since:
            continue
        try:
            changed = table.changes(since, until).select(["id", "city", "value"])
        except UsageError as error:  # cleaned in the meantime
            role.note("too old", error=str(error))
        else:
            role.note("changes", since=since, until=until, rows=[list(row.values()) for row in changed.to_pylist()])
        since = until


ROLES: dict[str, Callable[[Role], None]] = {"writer": write, "compactor": compact, "cleaner": clean, "reader": read}


def run(role: Role) -> None:
    """Do what the role says, and note an error that ends it."""
    try:
        ROLES[role.name.rstrip("0123456789")](role)
    except HudiError as error:
        role.note("failed", error=f"{type(error).__name__}: {error}")
    except BaseException as error:  # noqa: BLE001 - the parent looks at it
        role.note("failed", error=repr(error), untyped=True)
