"""Writers, services and readers in virtual time, by a seed: the code of transactions as it is, with data files of one byte.

Each write reads and replaces the newest file of some file groups, so that a lost update shows as two writes on top of one file. Storage
calls are interleaved by `pyhudi.testing.lockstep`; each takes some virtual time, may fail, may be done and answer with an error, or end
its process. Clocks of writers differ, and a writer may be held up for longer than its heartbeat or its lock lasts.
"""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pyarrow as pa

from pyhudi.errors import ConflictError, HudiError, LockTimeoutError, StorageError, UnknownOutcomeError
from pyhudi.fsview.file_system_view import FileSystemView
from pyhudi.kernels.base_file.partition_folder import ensure_partition
from pyhudi.kernels.tasks.write_task import TaskResult
from pyhudi.metadata_table.format.metadata_settings import MetadataSettings
from pyhudi.service.rollback import roll_back_failed_writes
from pyhudi.spec.actions.commit import CommitMetadata, Operation, WriteStat
from pyhudi.spec.files.file_names import BaseFileName
from pyhudi.spec.files.marker import MarkerType, marker_path
from pyhudi.spec.table.table_config import TableConfig
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import HeldLock, Storage
from pyhudi.storage.table_properties import load_properties
from pyhudi.table.create_new_table import create_table
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import CHANGING_CALLS, Call, InterceptedStorage
from pyhudi.testing.lockstep import Lockstep
from pyhudi.timeline.load_timeline import load_timeline
from pyhudi.txn.completing_write import CompletingWrite
from pyhudi.txn.concurrency import Concurrency, ConcurrencyMode
from pyhudi.txn.failed_writes_policy import FailedWritesPolicy, FailedWritesSettings
from pyhudi.txn.heartbeat_settings import HeartbeatSettings
from pyhudi.txn.ids import SystemIds
from pyhudi.txn.locked_table import locked_table
from pyhudi.txn.optimistic import begin_optimistic
from pyhudi.txn.transaction import Transaction
from tests.unit.txn.history_checker import faults_of_history

GROUPS = ("g0-0", "g1-0", "g2-0")
SCHEMA = '{"type":"record","name":"r","fields":[{"name":"id","type":"long"}]}'
T = TypeVar("T")
#: A writer counts as dead after two minutes without a heartbeat; none is renewed here, since a write takes a few seconds at most.
SHARED = FailedWritesSettings(FailedWritesPolicy.LAZY, HeartbeatSettings(), before_writes=True, has_concurrent_writers=True)
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_LONGEST_STEP_MS = 40
#: How long a writer is held up that is held up, and how long a lock lasts; a holder does without it a little earlier.
HELD_UP_MS, LEASE_MS, MARGIN_MS = 200_000, 15_000, 3_000


@dataclass
class World:
    """What all processes share: the storage, the time, and what happened."""

    chance: random.Random
    now_ms: int = 0
    storage: MemoryStorage = field(init=False)
    holder: tuple[int, int] | None = None
    checked: int | None = None
    acknowledged: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    published: list[str] = field(default_factory=list)
    snapshots: list[tuple[str, ...]] = field(default_factory=list)
    handed_out: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make an empty storage whose files have the time of this world."""
        self.storage = MemoryStorage(clock=lambda: (int(_BEGIN.timestamp() * 1000) + self.now_ms) * 1_000_000)


@dataclass(frozen=True)
class SkewedClock:
    """The clock of one machine."""

    world: World
    skew_ms: int

    def now(self) -> datetime:
        """Return the time of the world, with the error of this clock."""
        return _BEGIN + timedelta(milliseconds=self.world.now_ms + self.skew_ms)


@dataclass(frozen=True)
class Troubles:
    """What goes wrong in a schedule: how likely a call fails, and whether writers are held up or have wrong clocks."""

    failing: float = 0.0
    held_up: bool = False
    skew_ms: int = 0


class SimulatedStorage(InterceptedStorage):
    """The storage of one process: calls take time, and may fail before or after they are done. Its lock is a lease."""

    def __init__(self, inner: Storage, world: World, number: int, troubles: Troubles, chance: random.Random) -> None:
        super().__init__(inner)
        self.world, self.number, self._troubles, self._chance = world, number, troubles, chance
        self._held_up_at = chance.randrange(60) if troubles.held_up else -1
        self._calls = 0

    def _pass(self, call: Call, effect: Callable[[], T], torn: Callable[[], object] | None = None) -> T:
        del torn
        completes = call.method == "create" and call.path.startswith(".hoodie/timeline/") and "_" in call.path
        self._pass_time(may_be_held_up=not completes)
        if self.world.checked == self.number:
            self.world.checked = None
        kind = self._chance.random() if self._chance.random() < self._troubles.failing else 1.0
        if kind < 0.5:
            raise StorageError(f"{call} failed on purpose")
        answer = effect()
        if completes:
            self.world.published.append(call.path.rpartition("/")[2])
        if kind < 1.0 and call.method in CHANGING_CALLS:
            raise StorageError(f"{call} was done and failed on purpose")
        return answer

    def _pass_time(self, *, may_be_held_up: bool) -> None:
        """Let time pass.

        No storage can fence the call that completes an action: time in which it is held up after the last check of the lock is not
        simulated.
        """
        self._calls += 1
        may_be_held_up = may_be_held_up and self.world.checked in (None, self.number)
        is_held_up = may_be_held_up and self._held_up_at >= 0 and self._calls >= self._held_up_at
        if is_held_up:
            self._held_up_at = -1
        self.world.now_ms += HELD_UP_MS if is_held_up else self._chance.randrange(_LONGEST_STEP_MS)

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        """Hold a lease on the table; others may take it over when it has expired."""
        del name, provider
        for _ in range(20_000):
            self.stat("lock")
            if self.world.holder is None or self.world.holder[1] < self.world.now_ms:
                break
        else:
            raise LockTimeoutError(f"no lock within {timeout_s} s")
        mine = (self.number * 1_000_000 + self._calls, self.world.now_ms + LEASE_MS)
        self.world.holder = mine
        try:
            yield Lease(self.world, mine)
        except Crashed:  # a dead process releases nothing
            raise
        except BaseException:
            self._release(mine)
            raise
        self._release(mine)

    def _release(self, mine: tuple[int, int]) -> None:
        if self.world.holder == mine:
            self.world.holder = None


@dataclass(frozen=True)
class Lease:
    """A lock that expires."""

    world: World
    mine: tuple[int, int]

    def is_held(self) -> bool:
        """Tell whether it is this holder's still, for long enough to make one more call."""
        self.world.checked = self.mine[0] // 1_000_000
        return self.world.holder == self.mine and self.world.now_ms < self.mine[1] - MARGIN_MS


def writer(world: World, number: int, writes: int, troubles: Troubles, seed: int) -> Callable[[Storage], None]:
    """Return a process that writes so many times, and tries no write again."""

    def run(stepped: Storage) -> None:
        chance = random.Random(f"{seed} {number}")
        storage = SimulatedStorage(stepped, world, number, troubles, chance)
        clock = SkewedClock(world, chance.randint(-troubles.skew_ms, troubles.skew_ms))
        for count in range(writes):
            name = f"{number}-{count}"
            groups = sorted(chance.sample(GROUPS, chance.randint(1, 2)))
            try:
                _write(storage, clock, name, groups)
            except UnknownOutcomeError:
                continue
            except (ConflictError, StorageError) as error:
                world.refused.add(name)
                if not (troubles.failing or troubles.held_up) and not _is_expected(error):
                    world.faults.append(f"{name} was refused for no reason: {error}")
            else:
                world.acknowledged.append(name)

    return run


def _is_expected(error: HudiError) -> bool:
    return "completed first" in str(error)


def _write(storage: Storage, clock: SkewedClock, name: str, groups: Sequence[str]) -> None:
    roll_back = functools.partial(roll_back_failed_writes, settings=SHARED, writes=True)
    with begin_optimistic(
        storage,
        Operation.UPSERT,
        wait_s=60,
        clock=clock,
        ids=SystemIds(),
        roll_back=roll_back,
        metadata_table=MetadataSettings(enabled=False),
        extra_metadata={"_write": name},
        version=9,
        failed_writes=SHARED,
        concurrency=Concurrency(ConcurrencyMode.OPTIMISTIC),
    ) as txn:
        newest = {one.group.file_id: one for one in FileSystemView(storage, txn.table.config, txn.table.timeline).latest_slices("")}
        txn.start(CommitMetadata())
        results = [_write_file(storage, txn, group, None if group not in newest else newest[group].base_instant) for group in groups]
        with txn.completing(CompletingWrite(results)):
            txn.commit(results, schema_json=SCHEMA)


def _write_file(storage: Storage, txn: Transaction, group: str, before: str | None) -> TaskResult:
    path = str(BaseFileName(group, "0-0-0", txn.instant))
    storage.create(marker_path(txn.instant, path, MarkerType.CREATE if before is None else MarkerType.MERGE), b"")
    ensure_partition(storage, "", txn.instant)
    storage.create(path, b"x")
    stat = WriteStat(file_id=group, path=path, prev_commit=before or "null", partition_path="", num_writes=1, file_size_in_bytes=1)
    return TaskResult(replace(stat, total_write_bytes=1), None, path)


def service(world: World, number: int, runs: int, troubles: Troubles, seed: int) -> Callable[[Storage], None]:
    """Return a process that rolls back what dead writers left, as cleans do."""

    def run(stepped: Storage) -> None:
        chance = random.Random(f"{seed} {number}")
        storage = SimulatedStorage(stepped, world, number, replace(troubles, held_up=False), chance)
        for _ in range(runs):
            with contextlib.suppress(HudiError), locked_table(storage, 60, SkewedClock(world, 0), SystemIds()) as table:
                roll_back_failed_writes(table, settings=SHARED)

    return run


def reader(world: World, number: int, reads: int, seed: int) -> Callable[[Storage], None]:
    """Return a process that reads snapshots, and what was completed since the last one."""

    def run(stepped: Storage) -> None:
        storage = SimulatedStorage(stepped, world, number, Troubles(), random.Random(f"{seed} {number}"))
        world.handed_out.append([])
        mine, since = world.handed_out[-1], ""
        config = config_of(world)
        for _ in range(reads):
            done = sorted((one.completed or "", one.requested) for one in load_timeline(storage, config).data_instants())
            world.snapshots.append(tuple(requested for _, requested in done))
            mine += [requested for completed, requested in done if completed > since]
            since = max((completed for completed, _ in done), default="")

    return run


def config_of(world: World) -> TableConfig:
    """Return the properties of the table of a world."""
    return TableConfig(load_properties(world.storage))


def simulate(seed: int, troubles: Troubles, *, writers: int = 3, writes: int = 2, crashes: int = 0) -> list[str]:
    """Run a schedule and return what is wrong with its history."""
    world = World(random.Random(seed))
    create_table(
        world.storage,
        pa.schema({"id": pa.int64()}),
        name="simulated",
        keys=["id"],
        partition_by=(),
        order_by=(),
        table_type="COPY_ON_WRITE",
        options={},
        clock=SkewedClock(world, 0),
    )
    processes = [writer(world, number, writes, troubles, seed) for number in range(writers)]
    processes += [service(world, writers, 2, troubles, seed), reader(world, writers + 1, 8, seed)]
    errors = Lockstep(world.chance, crashes=crashes, calls=150).run(world.storage, processes)
    world.faults += [repr(error) for error in errors if error is not None and not isinstance(error, Crashed)]
    world.now_ms += HELD_UP_MS
    service(world, writers + 2, 1, Troubles(), seed)(world.storage)
    try:
        return world.faults + faults_of_history(world)
    finally:
        world.storage.drop()
