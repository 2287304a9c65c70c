"""Writers in lockstep: of several threads one runs at a time, and at each call to the storage a seed decides which one continues.

A schedule is the same each time for the same seed, as far as the writers call the storage from their own thread. Any of them may die at a
call; nothing that it does afterwards reaches the storage. Waiting for a lock gives the others their turn.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from pyhudi.errors import LockTimeoutError, StorageError
from pyhudi.storage.storage_protocol import HeldLock, Storage
from pyhudi.testing.fault_injection import Crashed
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage

if TYPE_CHECKING:
    import random

T = TypeVar("T")
#: A schedule that takes longer hangs.
_LONGEST_S = 120.0
#: How often a writer asks for a lock before it gives up.
_MOST_TRIES = 100_000


class Lockstep:
    """Runs writers over one storage by a seed.

    Example:
        >>> import random
        >>> from pyhudi.storage.memory_storage import MemoryStorage
        >>> storage = MemoryStorage()
        >>> Lockstep(random.Random(1)).run(storage, [lambda writer: writer.create("a", b""), lambda writer: writer.create("b", b"")])
        [None, None]
        >>> [status.path for status in storage.list("")]
        ['a', 'b']
    """

    def __init__(self, chance: random.Random, *, crashes: int = 0, calls: int = 400) -> None:
        """Let `chance` decide who continues, and `crashes` of the writers die, each at one of its first `calls` calls."""
        self._random = chance
        self._crashes, self._calls = crashes, calls
        self._turns: dict[int, threading.Lock] = {}
        self._running: list[int] = []
        self._waiting: dict[int, Callable[[], bool]] = {}

    def run(self, storage: Storage, writers: Sequence[Callable[[Storage], object]]) -> list[BaseException | None]:
        """Run the writers to their ends, each with a storage of its own, and return the error of each, None for success.

        Raises:
            TimeoutError: they wait for each other.
        """
        errors: list[BaseException | None] = [None] * len(writers)
        self._running = list(range(len(writers)))
        self._turns = {number: threading.Lock() for number in self._running}
        for turn in self._turns.values():
            turn.acquire()  # whoever continues a writer releases it
        dying = self._random.sample(self._running, self._crashes)
        dies_at = {number: self._random.randrange(self._calls) for number in dying}

        def work(number: int) -> None:
            self._turns[number].acquire()
            try:
                writers[number](SteppedStorage(storage, self, number, dies_at.get(number)))
            except BaseException as error:  # noqa: BLE001 - what a writer ends with is what the caller looks at
                errors[number] = error
            finally:
                self._running.remove(number)
                if self._running:
                    self._turns[self._choose()].release()

        threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in self._running]
        for thread in threads:
            thread.start()
        self._turns[self._choose()].release()
        for thread in threads:
            thread.join(_LONGEST_S)
            if thread.is_alive():
                raise TimeoutError("writers in lockstep wait for each other")
        return errors

    def pause(self, number: int) -> None:
        """Let the seed decide which writer continues; returns when it is this one's turn again."""
        chosen = self._choose()
        if chosen != number:  # no thread has to wake up
            self._turns[chosen].release()
            self._turns[number].acquire()

    def wait(self, number: int, is_ready: Callable[[], bool]) -> None:
        """Let the others continue until a condition holds, or all of them wait for theirs."""
        self._waiting[number] = is_ready
        try:
            self.pause(number)
        finally:
            del self._waiting[number]

    def _choose(self) -> int:
        ready = [number for number in self._running if number not in self._waiting or self._waiting[number]()]
        return self._random.choice(ready or self._running)


class SteppedStorage(InterceptedStorage):
    """The storage of one writer; calls of helper threads pass without a pause."""

    def __init__(self, inner: Storage, schedule: Lockstep, number: int, dies_at: int | None) -> None:
        super().__init__(inner)
        self._schedule, self._number, self._dies_at = schedule, number, dies_at
        self._thread = threading.get_ident()
        self._count = 0
        self._has_crashed = False

    def wait_until(self, is_ready: Callable[[], bool]) -> None:
        """Let the other writers continue until a condition holds, or all of them wait."""
        self._schedule.wait(self._number, is_ready)

    def _pass(self, call: Call, effect: Callable[[], T], torn: Callable[[], object] | None = None) -> T:
        del call, torn
        self._step()
        return effect()

    def _clean_up(self, path: str) -> None:
        if not self._has_crashed:
            super()._clean_up(path)

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        """Ask for the lock in turn with the others."""
        with contextlib.ExitStack() as present:
            yield self._take(present, timeout_s, name, provider)

    def _take(self, present: contextlib.ExitStack, timeout_s: float, name: str, provider: str) -> HeldLock:
        for _ in range(_MOST_TRIES if timeout_s > 0 else 1):
            self._step()
            with contextlib.suppress(LockTimeoutError):
                return present.enter_context(self.inner.lock(0, name, provider))
        raise LockTimeoutError(f"the {name or 'writer'} lock of table {self.uri} is held by another writer")

    def _step(self) -> None:
        if threading.get_ident() != self._thread:
            if self._has_crashed:  # the thread of its heartbeat outlives it here
                raise StorageError(f"the writer of table {self.uri} is dead")
            return
        if self._has_crashed:
            raise Crashed
        self._schedule.pause(self._number)
        self._count += 1
        if self._dies_at is not None and self._count > self._dies_at:
            self._has_crashed = True
            raise Crashed
