"""Machines that share a table and the lock of its provider, and no other lock: what the lock files of one exclude is not seen by others."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from pyhudi.engine.local_engine import LocalEngine
from pyhudi.locks.provided_storage import ProvidedStorage
from pyhudi.storage.memory_storage import MemoryStorage
from pyhudi.storage.storage_protocol import HeldLock
from pyhudi.table.hudi_table import HudiTable
from pyhudi.testing.intercepted_storage import Call, InterceptedStorage


class SharedLock:
    """A lock provider of machines that are threads of this process."""

    identity = "shared by the test"

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def lock(self, storage: object, domain: str) -> SharedLock:
        return self

    def acquire(self, timeout_s: float) -> bool:
        return self._lock.acquire(timeout=max(timeout_s, 0.001))

    def is_held(self) -> bool:
        return True

    def release(self) -> None:
        self._lock.release()

    def holder(self) -> str:
        return "Wait."


class Machine(InterceptedStorage):
    """The table as one machine sees it, with lock files of its own. All its threads are suspended from the first
    call on that `stops_at` picks, until `resume` is set.
    """

    def __init__(self, shared: MemoryStorage, stops_at: Callable[[Call], bool] | None = None) -> None:
        super().__init__(shared)
        self._own = MemoryStorage()
        self._stops_at = stops_at
        self.is_suspended, self.resume = threading.Event(), threading.Event()

    def _pass(self, call: Call, effect: Callable[[], Any], torn: Callable[[], object] | None = None) -> Any:
        if self._stops_at is not None and (self.is_suspended.is_set() or self._stops_at(call)):
            self.is_suspended.set()
            assert self.resume.wait(60)
        return effect()

    @contextlib.contextmanager
    def lock(self, timeout_s: float, name: str = "", provider: str = "") -> Iterator[HeldLock]:
        with self._own.lock(timeout_s, name) as lock:
            yield lock


class Suspended:
    """A call on a machine that is suspended in the middle of it; `end` lets it continue, and returns what it returned or raised."""

    def __init__(self, machine: Machine, call: Callable[[], Any]) -> None:
        self._machine, self._call = machine, call
        self._outcome: Any = None
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert machine.is_suspended.wait(60)

    def _run(self) -> None:
        try:
            self._outcome = self._call()
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self._outcome = error
        finally:
            self._machine.is_suspended.set()

    def end(self) -> Any:
        self._machine.resume.set()
        self._thread.join(60)
        return self._outcome


def table_on(machine: Machine, provider: SharedLock) -> HudiTable:
    return HudiTable(ProvidedStorage(machine, provider, 0), engine=LocalEngine(threads=1))
