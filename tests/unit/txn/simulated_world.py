"""The world of a simulation: one storage, virtual time, a lock that expires, and calls that fail, get lost or are held up."""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pyarrow as pa

from pyhudi.errors import LockTimeoutError, StorageError
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import HeldLock, Storage
from pyhudi.table.create_new_table import create_table
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import CHANGING_CALLS, Call, InterceptedStorage
from pyhudi.testing.lockstep import SteppedStorage

T = TypeVar("T")
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_LONGEST_STEP_MS = 40
#: How long a writer is held up that is held up, and how long a lock lasts; a holder does without it a little earlier.
HELD_UP_MS, LEASE_MS, MARGIN_MS = 200_000, 15_000, 3_000
_MOST_TRIES = 1_000


@dataclass
class World:
    """What all processes share: the storage, the time, and what happened."""

    chance: random.Random
    now_ms: int = 0
    storage: MemoryStorage = field(init=False)
    holder: tuple[int, int] | None = None
    checked: int | None = None
    acknowledged: list[str] = field(default_factory=list)
    instants: dict[str, str] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    published: list[str] = field(default_factory=list)
    snapshots: list[tuple[str, ...]] = field(default_factory=list)
    handed_out: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make an empty storage whose files have the time of this world."""
        self.storage = _empty_table().copy(clock=lambda: (int(_BEGIN.timestamp() * 1000) + self.now_ms) * 1_000_000)


@dataclass(frozen=True)
class _First:
    """The clock of the creation of tables."""

    def now(self) -> datetime:
        """Return the time at which each world begins."""
        return _BEGIN


@functools.cache
def _empty_table() -> MemoryStorage:
    """Return the table with which each world begins."""
    storage = MemoryStorage()
    create_table(
        storage,
        pa.schema({"id": pa.int64()}),
        name="simulated",
        keys=["id"],
        partition_by=(),
        order_by=(),
        table_type="COPY_ON_WRITE",
        options={},
        clock=_First(),
    )
    return storage


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
    """What goes wrong in a schedule: how likely a call fails, whether writers are held up or have wrong clocks, which services run."""

    failing: float = 0.0
    held_up: bool = False
    skew_ms: int = 0
    #: Which services run beside the writers.
    services: tuple[str, ...] = ()


class SimulatedStorage(InterceptedStorage):
    """The storage of one process: calls take time, and may fail before or after they are done. Its lock is a lease."""

    def __init__(self, inner: Storage, world: World, number: int, troubles: Troubles, chance: random.Random) -> None:
        super().__init__(inner)
        self._wait_until = inner.wait_until if isinstance(inner, SteppedStorage) else lambda _: None
        self.world, self.number, self._troubles, self._chance = world, number, troubles, chance
        self._held_up_at = chance.randrange(60) if troubles.held_up else -1
        self._calls = 0

    def _pass(self, call: Call, effect: Callable[[], T], torn: Callable[[], object] | None = None) -> T:
        del torn
        folder, _, name = call.path.rpartition("/")
        completes = call.method == "create" and folder == ".hoodie/timeline" and "_" in name
        self._pass_time(may_be_held_up=not completes)
        try:
            return self._take_effect(call, effect, name if completes else None)
        finally:
            if self.world.checked == self.number:  # until then no other process lets the lock expire
                self.world.checked = None

    def _take_effect(self, call: Call, effect: Callable[[], T], completed: str | None) -> T:
        kind = self._chance.random() if self._chance.random() < self._troubles.failing else 1.0
        if kind < 0.5:
            raise StorageError(f"{call} failed on purpose")
        answer = effect()
        if completed is not None:
            self.world.published.append(completed)
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
        for _ in range(_MOST_TRIES):
            self.stat("lock")
            if self._is_free():
                break
            self._wait_until(self._is_free)
            if not self._is_free():  # all wait for a holder that died
                self.world.now_ms += LEASE_MS
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

    def _is_free(self) -> bool:
        return self.world.holder is None or self.world.holder[1] < self.world.now_ms

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
