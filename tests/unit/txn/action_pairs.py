"""Two actions on one table under a schedule: the second one runs from a call of the first one on, and may itself be suspended at a call.

Of the calls of the first action only those begin a schedule that depend on the second one: two calls commute unless one of them changes
the folder that the other one uses. A schedule before a call that commutes with the whole second action equals the schedule after it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.errors import ConflictError, UnsupportedError, UsageError
from pyhudi.kernels.base_file.read_base import row_count
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import Storage
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.call_log import RecordingStorage
from pyhudi.testing.fault_injection import Crashed, Fault, FaultStorage
from pyhudi.testing.intercepted_storage import CHANGING_CALLS, Call
from pyhudi.testing.invariants import dangling_references, folders_without_metafile, garbage, timeline_faults
from pyhudi.testing.lockstep import Lockstep
from pyhudi.timeline.load_timeline import load_timeline
from tests.unit.processes.history import commits_of, faults_of_states, replay_of
from tests.unit.processes.workload import SCHEMA, Change
from tests.unit.table.tables import after_heartbeats, make_table

OPTIONS = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.metadata.enable": "true",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.clean.commits.retained": "1",
    "hoodie.keep.min.commits": "2",
    "hoodie.keep.max.commits": "3",
}
PREPARED = {
    "0": Change("upsert", ((1, "oslo", 1), (2, "oslo", 1), (3, "rome", 1))),
    "1": Change("overwrite", ((3, "rome", 2), (4, "rome", 2)), "rome"),
    "2": Change("upsert", ((1, "oslo", 3), (5, "bern", 3))),
    "3": Change("upsert", ((3, "rome", 4),)),
    "4": Change("upsert", ((1, "oslo", 5), (5, "bern", 5))),
}
WRITES = {
    "upsert": Change("upsert", ((1, "oslo", 10), (3, "rome", 10))),
    "insert": Change("upsert", ((9, "oslo", 11),)),
    "delete": Change("delete", ((1, "oslo", 0),)),
    "insert_overwrite": Change("overwrite", ((7, "oslo", 12),), "oslo"),
    "delete_partition": Change("drop", (), "rome"),
}
SERVICES: Mapping[str, Callable[[HudiTable], object]] = {
    "compaction": lambda table: table.services.compact(options=OPTIONS | {"hoodie.compact.inline.max.delta.commits": "1"}),
    "clustering": lambda table: table.services.cluster(options=OPTIONS),
    "clean": lambda table: table.services.clean(options=OPTIONS),
    "archive": lambda table: table.services.archive(options=OPTIONS),
    "log compaction": lambda table: table.services.log_compact(options=OPTIONS | {"hoodie.log.compaction.blocks.threshold": "1"}),
    "index build": lambda table: table.services.index("record_index"),
    "savepoint": lambda table: table.services.savepoint(),
    "rollback": lambda table: (table.services.rollback(), table.services.rollback(_completed(table)[-1])),
    "restore": lambda table: table.services.restore(_completed(table)[2]),
    "upgrade": lambda table: table.services.upgrade(9),
    "downgrade": lambda table: table.services.downgrade(8),
}
#: Those that take writes off the timeline, acknowledged ones too.
REVERTING = ("rollback", "restore")
#: A writer that waits for the lock asks for it so often before the other one continues.
_MOST_IN_TURN = 400


@dataclass
class Script:
    """Chooses who continues: the first one for so many calls, the second one for so many, the first one to its end, the second one."""

    first: int
    second: int
    _turns: list[int] = field(default_factory=lambda: [0, 0])
    _in_turn: int = 0
    _last: int = 0

    def choice(self, running: Sequence[int]) -> int:
        """Return the one that continues; one that makes no progress, since it waits for the lock, lets the other one continue."""
        preferred = 0 if self._turns[0] < self.first else 1 if self._turns[1] < self.second else 0
        if self._in_turn > _MOST_IN_TURN:
            preferred, self._in_turn = 1 - self._last, 0
        chosen = preferred if preferred in running else running[0]
        self._in_turn = self._in_turn + 1 if chosen == self._last else 0
        self._turns[chosen] += 1
        self._last = chosen
        return chosen

    def sample(self, running: Sequence[int], count: int) -> list[int]:
        """Return nobody: no process dies."""
        del running
        assert count == 0
        return []


def _completed(table: HudiTable) -> list[str]:
    return [one.requested for one in load_timeline(table.storage, table.config).data_instants()]


def prepared(table_type: str, version: int = 9) -> MemoryStorage:
    """Return a table with something to do for each service, and with what a dead writer left, whose heartbeat is old."""
    storage = MemoryStorage()
    options = {"hoodie.write.table.version": str(version)}
    table = make_table(storage, schema=SCHEMA, partition_by=("city",), table_type=table_type, options=options)
    for name, change in PREPARED.items():
        change.write(table, OPTIONS | {"_write": name})
    calls = RecordingStorage(storage.copy())
    change = Change("upsert", ((2, "oslo", 9),))
    change.write(HudiTable(calls, engine=LocalEngine(threads=1)), OPTIONS)
    dies_at = next(number for number, call in enumerate(calls.calls) if call.path.endswith((".inflight",)))
    with contextlib.suppress(Crashed):
        change.write(HudiTable(FaultStorage(storage, dies_at + 1, Fault.BEFORE), engine=LocalEngine(threads=1)), OPTIONS)
    for path in storage.file_names(".hoodie/.heartbeat"):
        storage.delete(f".hoodie/.heartbeat/{path}")
    return storage


def act(name: str, storage: Storage, outcomes: dict[str, str]) -> None:
    """Carry an action out, and tell what became of a write."""
    table = HudiTable(storage, engine=LocalEngine(threads=1))
    try:
        if name in SERVICES:
            SERVICES[name](table)
        else:
            result = WRITES[name].write(table, OPTIONS | {"_write": name})
            outcomes[name] = "acknowledged" if result.instant else "without effect"
    except ConflictError as error:
        outcomes[name] = f"refused: {error}"
    except (UsageError, UnsupportedError):  # what it was to revert is not the latest any more, the index is there, a build is pending
        if name not in (*REVERTING, "savepoint", "index build", "upgrade", "downgrade"):
            raise


def depending_calls(first: Sequence[Call], second: Sequence[Call]) -> list[int]:
    """Return the numbers of the calls of the first action that do not commute with the whole second one."""
    used = {_folder(call) for call in second}
    changed = {_folder(call) for call in second if call.method in CHANGING_CALLS}
    return [number for number, call in enumerate(first) if _folder(call) in (used if call.method in CHANGING_CALLS else changed)]


def _folder(call: Call) -> str:
    if call.method == "lock":
        return "lock"
    folder = call.path if call.method == "list" else call.path.rpartition("/")[0]
    return ".hoodie/.temp" if folder.startswith(".hoodie/.temp") else folder


def calls_of(name: str, storage: MemoryStorage) -> list[Call]:
    """Return the calls of an action that runs alone."""
    recorded = RecordingStorage(storage.copy())
    act(name, recorded, {})
    return recorded.calls


def faults_of_schedule(start: MemoryStorage, first: str, second: str, script: Script) -> list[str]:
    """Run two actions under a schedule on a copy of a table, and return what is wrong afterwards."""
    storage, outcomes = start.copy(), dict[str, str]()
    names = (first, second) if first != second else (first, f"{first} ")
    actions = [lambda stepped, name=name: act(name.strip(), stepped, outcomes) for name in names]
    errors = Lockstep(script).run(storage, actions)  # type: ignore[arg-type]
    faults = [f"{name}: {error!r}" for name, error in zip(names, errors, strict=True) if error is not None]
    table = after_heartbeats(storage, 3_600)
    if table.config.is_merge_on_read:
        table.services.compact(mode="execute", options=OPTIONS)
    table.services.cluster(mode="execute", options=OPTIONS)
    table.services.clean(options=OPTIONS)
    commits = commits_of(table)
    names_committed = [commit.name for commit in commits]
    for name, outcome in outcomes.items():
        is_reverted = outcome == "acknowledged" and {first, second}.intersection(REVERTING)
        if first != second and (name in names_committed) != (outcome == "acknowledged") and not is_reverted:
            faults.append(f"{name} was {outcome}, and is committed {names_committed.count(name)} times")
    faults += faults_of_states(table, replay_of(commits, PREPARED | WRITES))
    faults += timeline_faults(storage) + garbage(storage) + dangling_references(storage, row_count) + folders_without_metafile(storage)
    faults += [str(row) for row in table.inspect.health().to_pylist()]
    storage.drop()
    return faults
