"""Services of a simulation: those that read and write no rows are run as they are, with a table of data files of one byte.

Compaction, log compaction, clustering and index builds read rows: those are in the pairs of actions, which have real data files.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import HudiError
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.instant import Action
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.failed_writes_policy import FailedWritesPolicy, FailedWritesSettings
from pyhudi.txn.heartbeat_settings import HeartbeatSettings
from pyhudi.txn.ids import SystemIds
from pyhudi.txn.locked_table import locked_table
from tests.unit.txn.simulated_world import SimulatedStorage, SkewedClock, Troubles, World

#: A writer counts as dead after two minutes without a heartbeat; none is renewed here, since a write takes a few seconds at most.
SHARED = FailedWritesSettings(FailedWritesPolicy.LAZY, HeartbeatSettings(), before_writes=True, has_concurrent_writers=True)
OPTIONS = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.metadata.enable": "false",
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
}


def _roll_back(table: HudiTable) -> None:
    with locked_table(table.storage, 60, table.clock, SystemIds()) as locked:
        roll_back_failed_writes(locked, settings=SHARED)


def _restore(table: HudiTable) -> None:
    """Go back to the last write but one."""
    done = sorted(load_timeline(table.storage, table.config).data_instants(), key=lambda one: one.completed or "")
    if len(done) > 1:
        table.restore(done[-2].requested)


def _savepoint(table: HudiTable) -> None:
    delete_savepoints(table)
    table.savepoint()


def delete_savepoints(table: HudiTable) -> None:
    """Delete the savepoints of a table, and what one left that was cut off."""
    for instant in load_timeline(table.storage, table.config).instants:
        if instant.action is Action.SAVEPOINT:
            table.services.delete_savepoint(instant.requested)


ACTIONS: Mapping[str, Callable[[HudiTable], object]] = {
    "rollback": _roll_back,
    "clean": lambda table: table.services.clean(options=OPTIONS),
    "archive": lambda table: table.services.archive(options=OPTIONS),
    "savepoint": _savepoint,
    "restore": _restore,
    "downgrade": lambda table: table.services.downgrade(8),
    "upgrade": lambda table: table.services.upgrade(9),
}


def service(world: World, number: int, runs: int, troubles: Troubles, seed: int) -> Callable[[Storage], None]:
    """Return a process that runs services; those of other kinds of schedules roll back what dead writers left, as cleans do."""

    def run(stepped: Storage) -> None:
        chance = random.Random(f"{seed} {number}")
        storage = SimulatedStorage(stepped, world, number, replace(troubles, held_up=False), chance)
        for _ in range(runs):
            with contextlib.suppress(HudiError):
                ACTIONS[chance.choice(troubles.services or ("rollback",))](
                    HudiTable(storage, clock=SkewedClock(world, 0), engine=LocalEngine(threads=1))
                )

    return run
